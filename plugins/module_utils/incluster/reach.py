# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a custom resource reaches: whoever may create one acts with the operator's rights, not with his own.

Room: incluster (pure). What takes things out of the whole cluster is heard only in the operator's own namespace, where
only its administrators write. A Maintenance is heard everywhere, for the routes of its own namespace. Nobody reads the
files of the operator's pod: its token is among them.

It is decided twice: for the spec, before anything is done, and for the options that a module is given in the end.
Between the two are templates, and what they make of a text depends on the version of Ansible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..commands import kubectl
from ..documents import holds_documents
from ..problems import BadOption
from .kinds import GATES, Work, arguments_of, work_of

Refusal = tuple[str, str]  # why, and what to do instead


def why_out_of_reach(item: Mapping[str, Any], work: Work, home: str) -> Refusal | None:
    """Why it is not done, and what to do instead; None where it is within reach."""
    if not work.own:
        return None
    if not home:
        return (
            "the operator does not know its own namespace, so it cannot tell its administrators from others",
            "set the variable POD_NAMESPACE of its container, as operator/config/manager/deployment.yaml does",
        )
    asked = _asked(item, work)
    refusal = _no_plain_value(item.get("spec") or {}, asked) or _reads_a_file(asked)
    if refusal:
        return refusal
    namespace = (item.get("metadata") or {}).get("namespace") or ""
    if namespace == home:
        return None
    if work.approval:
        return (
            f"a {item.get('kind')} acts on the whole cluster, and is heard only in the namespace {home}",
            f"create it there: {kubectl('apply -f ...', namespace=home)}",
        )
    return _beyond_its_namespace(asked, namespace, home)


def refuse_beyond_reach(params: Mapping[str, Any], asked_by: Mapping[str, str]) -> None:
    """The second line: the same rules for the options of the module that works for this resource."""
    work = work_of(asked_by["api_version"], asked_by["kind"])
    home, namespace = asked_by.get("home") or "", asked_by.get("namespace") or ""
    refusal = _reads_a_file(params)
    if refusal is None and work is not None and work.role == "maintenance" and namespace != home:
        refusal = _beyond_its_namespace(params, namespace, home) or _names_no_namespace(params, namespace)
    if refusal:
        raise BadOption("not done", why=refusal[0], next_step=refusal[1])


def _asked(item: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """What the role is going to be told, whatever the spelling in the spec."""
    prefix = f"{work.role}_"
    return {name.removeprefix(prefix): value for name, value in arguments_of(item.get("spec") or {}, work.role).items()}


_PAGE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def _no_plain_value(spec: Mapping[str, Any], asked: Mapping[str, Any]) -> Refusal | None:
    """Ansible before 2.19 makes a list or a dictionary of a text that looks like one: such a text is refused."""
    for name, value in spec.items():
        if name not in GATES and isinstance(value, str) and _looks_like_data(value):
            return f"spec.{name} is a text that looks like a list or an object", "write it as one, or as plain words"
    if isinstance(spec.get("page"), str) and not _PAGE_NAME.fullmatch(spec["page"]):
        return (
            f"spec.page is {spec['page']!r}: that is no name of a page, and a file is not read",
            "name the part after maintenance-page- of a ConfigMap: small letters, digits and dashes",
        )
    if "page" in asked and not isinstance(asked["page"], Mapping):
        return "spec.page is neither a name nor an object", "see kubectl explain maintenance.spec.page"
    return None


def _looks_like_data(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") or text.strip() in ("True", "False")


def _reads_a_file(asked: Mapping[str, Any]) -> Refusal | None:
    for place in _files_named(asked):
        return (
            f"{place} names a file, and there are no files of yours where the operator runs",
            "put what is in it into the resource or, for a page, into a ConfigMap",
        )
    return None


def _files_named(asked: Mapping[str, Any]) -> Iterator[str]:
    page = asked.get("page")
    if isinstance(page, Mapping) and page.get("html_file") is not None:
        yield "spec.page.htmlFile"
    if asked.get("evidence_dir"):
        yield "spec.evidenceDir"
    manifests = asked.get("manifests")
    sources = manifests.get("sources") if isinstance(manifests, Mapping) else manifests
    for source in sources if isinstance(sources, list) else [sources]:
        if isinstance(source, str) and not holds_documents(source):
            yield "spec.manifests"


# What a Maintenance may not ask for where others than the operator's administrators write. option → (value, why)
_AT_HOME_ONLY: dict[str, tuple[Any, str]] = {
    "route_kinds": (..., "routeKinds lets the operator write to kinds that are no routes"),
    "verify": (..., "verify sends the operator to an address"),
    "gitops": ("pause", "gitops: pause stops all that belongs to an Application, wherever that is"),
}


def _beyond_its_namespace(asked: Mapping[str, Any], namespace: str, home: str) -> Refusal | None:
    strangers = sorted(_namespaces_named(asked) - {namespace})
    if strangers:
        return (
            f"it is in the namespace {namespace}, and names {', '.join(strangers)}",
            f"name routes and pages of {namespace} only, or create it in the namespace {home}",
        )
    for name, (value, why) in _AT_HOME_ONLY.items():
        if asked.get(name) and value in (..., asked[name]):
            return why, f"leave it out, or create it in the namespace {home}"
    return None


def _names_no_namespace(params: Mapping[str, Any], namespace: str) -> Refusal | None:
    targets = params.get("targets") or [{}]
    if all(isinstance(target, Mapping) and target.get("namespace") for target in targets):
        return None
    return "it would act on routes of every namespace", f"name the namespace {namespace}"


def _namespaces_named(asked: Mapping[str, Any]) -> set[str]:
    """Where none is named, its own is meant."""
    page = asked.get("page")
    places = [asked, *(asked.get("targets") or ()), page.get("config_map") if isinstance(page, Mapping) else None]
    return {str(place["namespace"]) for place in places if isinstance(place, Mapping) and place.get("namespace")}
