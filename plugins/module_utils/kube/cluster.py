# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`Cluster`: the API server as the other rooms use it. One for each task.

Room: kube. The domain rooms take it as an argument and need nothing else of this room.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ..clock import Clock, Deadline, StopSign
from ..objects import Record, Resource
from ..problems import CannotLook, Refused
from . import access, discovery, lists, naming, watches, writes
from .answers import ApiError
from .endpoint import Endpoint
from .lists import Listing, Scope
from .transport import Transport
from .workers import Workers

Item = TypeVar("Item")
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
VERBS = ("list", "watch", "get", "delete", "patch", "post", "put")
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", False, verbs=frozenset({"list", "watch", "get", "delete"}))
SYSTEM_NAMESPACE = "kube-system"


class Cluster:
    def __init__(self, load: Callable[[], Endpoint], clock: Clock, stop: StopSign, parallel: int = 48) -> None:
        self._transport = Transport(load, clock, stop, parallel)
        self._workers = Workers(parallel)
        self._catalogue: discovery.Catalogue | None = None
        self._identity = ""

    # -- what is served ------------------------------------------------------------------------------------------------

    @property
    def catalogue(self) -> discovery.Catalogue:
        if self._catalogue is None:
            self._catalogue = discovery.discover(self._transport)
        return self._catalogue

    def forget_catalogue(self) -> None:
        """Kinds come and go with their definitions; ask again after one went."""
        self._catalogue = None

    def resolve(
        self, name: str, api_version: str | None = None, *, by_hand: bool = True
    ) -> tuple[Resource | None, str]:
        """The kind somebody means, and a warning. None: not installed. See `naming.must_resolve`."""
        return naming.must_resolve(self.catalogue, name, api_version, by_hand=by_hand)

    def find_kind(self, group: str, kind: str) -> discovery.Finding:
        """Where a kind of this group is served, in whatever version; or why not."""
        return self.catalogue.find(group, lambda resource: resource.kind == kind)

    def is_installed(self, resource: Resource) -> bool:
        """Whether a kind is there at this moment. Raises when that cannot be seen."""
        self.forget_catalogue()
        return naming.is_installed(self.catalogue, resource)

    def deletable_kinds(self) -> builtins.list[Resource]:
        """Every kind that can be listed and deleted. A group that cannot be seen is an error: it may hold some."""
        blind = self.catalogue.blind_spots()
        if blind:
            raise CannotLook(
                "cannot see every kind",
                why="; ".join(f"{version.name}: {version.blind}" for version in blind),
                next_step="bring these APIs back (kubectl get apiservices), or name the kinds to look for",
            )
        return [resource for resource in self.catalogue.resources() if {"list", "delete"} <= resource.verbs]

    # -- reads ---------------------------------------------------------------------------------------------------------

    def list(self, resource: Resource, namespace: str | None = None, label_selector: str | None = None) -> Listing:
        """All objects of a kind, as metadata, cluster-wide or in one namespace. Complete, or an error."""
        return lists.list_metadata(self._transport, Scope(resource, namespace, label_selector))

    def list_everywhere(self, resource: Resource, label_selector: str | None = None) -> builtins.list[Listing]:
        """Cluster-wide, or namespace by namespace where only that is allowed. Never a part without saying so."""
        try:
            return [self.list(resource, None, label_selector)]
        except ApiError as refusal:
            if refusal.status != 403 or not resource.namespaced:
                raise
            try:
                namespaces = [record.name for record in self.list(NAMESPACES).records]
            except ApiError:
                raise refusal from None
        return [self.list(resource, namespace, label_selector) for namespace in namespaces]

    def list_whole(
        self, resource: Resource, namespace: str | None = None, label_selector: str | None = None
    ) -> builtins.list[dict[str, Any]]:
        """Whole objects, for the few questions that metadata cannot answer."""
        return lists.list_objects(self._transport, Scope(resource, namespace, label_selector))

    def read(self, resource: Resource, namespace: str, name: str) -> Record | None:
        return writes.read(self._transport, resource, namespace, name)

    def identity(self) -> str:
        """Which cluster this is, the same for every address and context that leads to it. Asked once.

        Where the Namespace kube-system may not be read, or there is none, the server's address has to do.
        """
        if not self._identity:
            try:
                found = self.read(NAMESPACES, "", SYSTEM_NAMESPACE)
            except ApiError as refusal:
                if not refusal.is_forbidden:
                    raise
                found = None
            self._identity = f"{SYSTEM_NAMESPACE} {found.uid}" if found else self.endpoint.url
        return self._identity

    def definitions(self) -> builtins.list[dict[str, Any]]:
        """Every CustomResourceDefinition, whole."""
        return self.list_whole(DEFINITIONS)

    def read_whole(self, resource: Resource, namespace: str, name: str) -> dict[str, Any] | None:
        """One whole object, or None where there is none of that name."""
        return lists.read_object(self._transport, resource, namespace, name)

    @contextlib.contextmanager
    def following(self, listings: Iterable[Listing], listener: watches.Listener) -> Iterator[None]:
        """Follow these kinds and namespaces from their lists on, as long as the block runs.

        Selectors are dropped: with one, an object whose labels change looks exactly like a deleted one.
        """
        starts: dict[Scope, Listing] = {}
        for listing in listings:
            whole = Scope(listing.scope.resource, listing.scope.namespace)
            starts.setdefault(whole, Listing(whole, resource_version=listing.resource_version))
        followers = [watches.Following(self._transport, start, listener) for start in starts.values()]
        for follower in followers:
            follower.start()
        try:
            yield
        finally:
            for follower in followers:
                follower.stop()
            patience = Deadline(self._transport.clock, 5.0)  # for all of them: they end together
            for follower in followers:
                follower.join(patience.left())

    # -- writes --------------------------------------------------------------------------------------------------------

    def delete(self, resource: Resource, record: Record, **how: Any) -> writes.Written:
        return writes.delete(self._transport, resource, record, **how)

    def remove_finalizers(
        self, resource: Resource, record: Record, names: Sequence[str], *, dry_run: bool = False
    ) -> writes.Written:
        return writes.remove_finalizers(self._transport, resource, record, names, dry_run=dry_run)

    def remove_owner_references(
        self, resource: Resource, record: Record, uids: Collection[str], *, dry_run: bool = False
    ) -> writes.Written:
        return writes.remove_owner_references(self._transport, resource, record, uids, dry_run=dry_run)

    def json_patch(
        self, resource: Resource, record: Record, operations: Sequence[dict[str, Any]], *, dry_run: bool = False
    ) -> writes.Written:
        return writes.json_patch(self._transport, resource, record, operations, dry_run=dry_run)

    def merge_patch(
        self,
        resource: Resource,
        record: Record,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> writes.Written:
        return writes.merge_patch(self._transport, resource, record, patch, subresource=subresource, dry_run=dry_run)

    def create(
        self, resource: Resource, namespace: str, item: Mapping[str, Any], *, dry_run: bool = False
    ) -> writes.Written:
        return writes.create(self._transport, resource, namespace, item, dry_run=dry_run)

    def finalize_namespace(self, record: Record) -> writes.Written:
        return writes.finalize_namespace(self._transport, NAMESPACES, record)

    def require(self, verb: str, resource: Resource, namespaces: Iterable[str] = (), *, subresource: str = "") -> None:
        """Refuse now, before the first write, if this is not allowed everywhere, or in each of these namespaces."""
        everywhere = access.Right(verb, resource, subresource=subresource)
        if access.is_allowed(self._transport, everywhere):
            return
        rights = [dataclasses.replace(everywhere, namespace=namespace) for namespace in namespaces if namespace]
        missing = [right for right in rights if not access.is_allowed(self._transport, right)]
        if missing or not rights:
            named = ", ".join(map(str, missing[:5] or [everywhere]))
            raise Refused(
                "not allowed",
                which=f"to {named}" + (f" and {len(missing) - 5} more" if len(missing) > 5 else ""),
                why=f"the API server says no to this user at {self._transport.endpoint}",
                next_step="ask for these rights, or run as a user who has them; nothing was changed",
            )

    def may(self, verb: str, resource: Resource, namespace: str = "") -> bool:
        """Whether we are allowed to, in this namespace or (empty) everywhere."""
        return access.is_allowed(self._transport, access.Right(verb, resource, namespace))

    def who_am_i(self) -> str:
        """The user the API server takes us for; empty where it does not say."""
        return access.who_am_i(self._transport)

    # -- all the rest --------------------------------------------------------------------------------------------------

    def for_each(self, items: Iterable[Item], work: Callable[[Item], None]) -> None:
        """Do this for every item, `parallel` at a time."""
        self._workers.for_each(items, work)

    @contextlib.contextmanager
    def cleaning_up(self) -> Iterator[None]:
        """For what must not be left behind: these writes are sent although somebody wishes to stop."""
        self._transport.begin_cleaning_up()
        try:
            yield
        finally:
            self._transport.end_cleaning_up()

    def limit_to(self, deadline: Deadline) -> None:
        """Do not try again beyond this point in time, and do not wait for answers much longer."""
        self._transport.deadline = deadline

    def outlive_the_run(self, seconds: float) -> None:
        """For what reports on a run: after a stop it still writes, for so long."""
        self._transport.begin_cleaning_up()
        self._transport.stopping_seconds = seconds

    def unanswered(self) -> builtins.list[str]:
        """What was sent and never answered, as sentences: the result must not be silent about it."""
        return [*self._transport.unanswered]

    def server_time(self) -> float:
        return self._transport.server_time()

    @property
    def endpoint(self) -> Endpoint:
        return self._transport.endpoint

    def requests(self) -> dict[str, Any]:
        """What was sent, by verb; part of every result."""
        counted = {verb: self._transport.requests[verb] for verb in VERBS}
        return {**counted, "throttled_seconds": round(self._transport.brake.throttled_seconds, 3)}

    def close(self) -> None:
        self._workers.close()
        self._transport.close()
