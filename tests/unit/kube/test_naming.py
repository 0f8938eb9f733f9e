# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From what people write to the kind they mean."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube.discovery import Availability, Catalogue, GroupVersion
from ansible_collections.sunset.kube.plugins.module_utils.kube.naming import must_resolve, resolve, split_api_version
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, CannotLook, Problem
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, PODS, named


def kind(group: str, version: str, name: str, plural: str, *short: str) -> Resource:
    return Resource(group, version, name, plural, True, name.lower(), short)


SERVICES = kind("", "v1", "Service", "services", "svc")
KNATIVE = kind("serving.knative.dev", "v1", "Service", "services", "kservice", "ksvc")
EVENTS = kind("", "v1", "Event", "events", "ev")
NEW_EVENTS = kind("events.k8s.io", "v1", "Event", "events", "ev")
INGRESSES = kind("networking.k8s.io", "v1", "Ingress", "ingresses", "ing")
OTHER_DOMAINS = kind("dns.other.io", "v1", "Domain", "domains")
DOMAINS_V1BETA1 = kind("ingress.example.com", "v1beta1", "Domain", "domains", "dom")
BACKUPS = kind("velero.io", "v1", "Backup", "backups")
# Its short name is another kind's full name.
POSTGRES = kind("db.example.com", "v1", "Postgres", "postgreses", "backup")


def catalogue(*resources: Resource, blind: tuple[GroupVersion, ...] = ()) -> Catalogue:
    groups: dict[tuple[str, str], list[Resource]] = {}
    for resource in resources:
        groups.setdefault((resource.group, resource.version), []).append(resource)
    versions = [GroupVersion(group, version, tuple(found)) for (group, version), found in groups.items()]
    return Catalogue([*versions, *blind])


SERVED = catalogue(
    PODS, SERVICES, EVENTS, DEPLOYMENTS, NEW_EVENTS, INGRESSES, KNATIVE, DOMAINS, DOMAINS_V1BETA1, BACKUPS, POSTGRES
)

SPELLINGS: dict[str, tuple[str, str | None, Resource]] = {
    "Kind": ("Domain", None, DOMAINS),
    "plural": ("domains", None, DOMAINS),
    "singular": ("domain", None, DOMAINS),
    "short name": ("dom", None, DOMAINS),
    "any case": ("DoMaInS", None, DOMAINS),
    "short name in capitals": ("DEPLOY", None, DEPLOYMENTS),
    "plural and group": ("domains.ingress.example.com", None, DOMAINS),
    "Kind and group": ("Domain.ingress.example.com", None, DOMAINS),
    "plural, version and group": ("domains.v1beta1.ingress.example.com", None, DOMAINS_V1BETA1),
    "plural and a group without dots": ("deployments.apps", None, DEPLOYMENTS),
    "plural, version and a group without dots": ("deployments.v1.apps", None, DEPLOYMENTS),
    "plural, version and the core group": ("pods.v1.", None, PODS),
    "plural and version alone mean the core group": ("pods.v1", None, PODS),
    "with an api_version": ("Domain", "ingress.example.com/v1beta1", DOMAINS_V1BETA1),
    "with the core api_version": ("Event", "v1", EVENTS),
    "with a group and no version": ("Event", "events.k8s.io", NEW_EVENTS),
    "with a group and a slash": ("Event", "events.k8s.io/", NEW_EVENTS),
    "spaces around an api_version": ("Event", " events.k8s.io/v1 ", NEW_EVENTS),
    "with a group in capitals": ("Deployment", "Apps/v1", DEPLOYMENTS),
    "plural and a group in capitals": ("Deployments.Apps", None, DEPLOYMENTS),
    "plural, group and the same api_version": ("domains.ingress.example.com", "ingress.example.com/v1", DOMAINS),
    "the core group wins": ("Service", None, SERVICES),
    "the core group wins for short names": ("ev", None, EVENTS),
    "a short name that only one has": ("ksvc", None, KNATIVE),
    "a full name wins over a short name": ("backup", None, BACKUPS),
}


@pytest.mark.parametrize(("name", "api_version", "resource"), named(SPELLINGS))
def test_every_spelling_leads_to_its_kind(name: str, api_version: str | None, resource: Resource) -> None:
    finding = resolve(SERVED, name, api_version)
    assert (finding.availability, finding.resource) == (Availability.SERVED, resource)


def test_a_name_that_several_groups_have_is_ambiguous() -> None:
    with pytest.raises(BadOption) as refused:
        resolve(catalogue(PODS, DOMAINS, OTHER_DOMAINS), "domain")
    assert str(refused.value) == (
        "the kind domain is ambiguous: it is served as Domain in dns.other.io/v1, Domain in ingress.example.com/v1. "
        "Next: set api_version to one of these."
    )


NEAR_MISSES: dict[str, tuple[str, str | None, str]] = {
    "a letter too few": ("Domai", None, "unknown kind Domai: … did you mean Domain (ingress.example.com/v1)"),
    "a letter too many": (
        "domainss",
        "ingress.example.com/v1",
        "unknown kind domainss in group ingress.example.com: … did you mean Domain (ingress.example.com/v1)",
    ),
    "two letters swapped": (
        "Deploymetn",
        "apps/v1",
        "unknown kind Deploymetn in group apps: … did you mean Deployment (apps/v1)",
    ),
    "a core api_version by habit": (
        "Deployment",
        "v1",
        "unknown kind Deployment in group core: … did you mean Deployment (apps/v1)",
    ),
    "a group with a letter missing": (
        "Deployment",
        "app/v1",
        "unknown kind Deployment in group app: … did you mean Deployment (apps/v1)",
    ),
    "a qualified name with a mistake": (
        "domans.ingress.example.com",
        None,
        "unknown kind domans in group ingress.example.com: … did you mean Domain (ingress.example.com/v1)",
    ),
    "a qualified name with a mistake in the group": (
        "domains.ingres.example.com",
        None,
        "unknown kind domains in group ingres.example.com: … did you mean Domain (ingress.example.com/v1)",
    ),
}


@pytest.mark.parametrize(("name", "api_version", "sentence"), named(NEAR_MISSES))
def test_a_near_miss_is_an_error_with_the_suggestion_and_never_nothing_there(
    name: str, api_version: str | None, sentence: str
) -> None:
    with pytest.raises(BadOption) as refused:
        resolve(SERVED, name, api_version)
    head, tail = sentence.split(" … ")
    assert str(refused.value) == f"{head} the server does not have it. Next: {tail}? Correct kind or api_version."


NOT_INSTALLED: dict[str, tuple[str, str | None, str]] = {
    "unknown": ("Spaceship", None, "any group"),
    "unknown in a group": ("Spaceship", "apps/v1", "group apps"),
    "a namesake of another product": ("Service", "traefik.io/v1", "group traefik.io"),
    "a namesake of another product, qualified": ("backups.longhorn.io", None, "group longhorn.io"),
    "too short to guess": ("svx", None, "any group"),
}


@pytest.mark.parametrize(("name", "api_version", "where"), named(NOT_INSTALLED))
def test_what_is_not_installed_is_no_error_and_no_guess(name: str, api_version: str | None, where: str) -> None:
    finding = resolve(SERVED, name, api_version)
    assert (finding.availability, finding.resource, finding.why) == (
        Availability.NOT_INSTALLED,
        None,
        f"the server has no such kind in {where}",
    )


STALE = GroupVersion("metrics.k8s.io", "v1", blind="stale")
CLOSED = GroupVersion("secret.io", "v1", blind="HTTP 403", forbidden=True)
BLIND: dict[str, tuple[tuple[GroupVersion, ...], str, str | None, Availability, str]] = {
    "a group that is down": (
        (STALE,),
        "PodMetrics",
        "metrics.k8s.io/v1",
        Availability.UNAVAILABLE,
        "metrics.k8s.io/v1: stale",
    ),
    "a group that is closed": ((CLOSED,), "Thing", "secret.io/v1", Availability.FORBIDDEN, "secret.io/v1: HTTP 403"),
    "anywhere, with a group down": ((STALE,), "PodMetrics", None, Availability.UNAVAILABLE, "metrics.k8s.io/v1: stale"),
    "anywhere, with a group closed": (
        (STALE, CLOSED),
        "Thing",
        None,
        Availability.FORBIDDEN,
        "metrics.k8s.io/v1: stale; secret.io/v1: HTTP 403",
    ),
}


@pytest.mark.parametrize(("blind", "name", "api_version", "availability", "why"), named(BLIND))
def test_what_may_hide_in_a_blind_spot_is_not_called_missing(
    blind: tuple[GroupVersion, ...], name: str, api_version: str | None, availability: Availability, why: str
) -> None:
    finding = resolve(catalogue(PODS, blind=blind), name, api_version)
    assert (finding.availability, finding.resource, finding.why) == (availability, None, why)


# -- must_resolve ------------------------------------------------------------------------------------------------------


def test_a_served_kind_is_resolved_without_a_warning() -> None:
    assert must_resolve(SERVED, "dom") == (DOMAINS, "")


def test_a_version_that_is_not_served_is_replaced_with_a_warning() -> None:
    assert must_resolve(SERVED, "Domain", "ingress.example.com/v7") == (
        DOMAINS,
        "Domain (ingress.example.com/v7) is not served in this version; ingress.example.com/v1 is used instead",
    )


def test_a_kind_that_is_not_installed_is_none_with_a_warning() -> None:
    assert must_resolve(SERVED, "Spaceship") == (
        None,
        "Spaceship is not installed: the server has no such kind in any group",
    )


@pytest.mark.parametrize("blind", [STALE, CLOSED], ids=["down", "closed"])
def test_a_kind_that_cannot_be_looked_for_is_an_error(blind: GroupVersion) -> None:
    with pytest.raises(CannotLook) as refused:
        must_resolve(catalogue(PODS, blind=(blind,)), "Thing")
    assert str(refused.value) == (
        f"cannot look for Thing: {blind.name}: {blind.blind}. "
        "Next: bring that API back (kubectl get apiservices), or ask for the right to see it."
    )


API_VERSIONS: dict[str, tuple[str | None, tuple[str | None, str | None]]] = {
    "nothing": (None, (None, None)),
    "empty": ("", (None, None)),
    "core": ("v1", ("", "v1")),
    "core, beta": ("v2beta1", ("", "v2beta1")),
    "core, with a slash": ("/v1", ("", "v1")),
    "group and version": ("apps/v1", ("apps", "v1")),
    "group and slash": ("apps/", ("apps", None)),
    "group alone": ("apps", ("apps", None)),
    "group that begins like a version": ("v1.example.com", ("v1.example.com", None)),
    "group that begins with v": ("velero.io", ("velero.io", None)),
}


@pytest.mark.parametrize(("text", "parts"), named(API_VERSIONS))
def test_an_api_version_is_split_into_group_and_version(text: str | None, parts: tuple[str | None, str | None]) -> None:
    assert split_api_version(text) == parts


written = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(["pods", "Domain", "v1", "v1beta1", ".", "/", "ingress", "example.com", "apps", " ", ""]),
        max_size=6,
    ).map("".join),
)


@given(written, st.one_of(st.none(), written))
def test_whatever_people_write_is_a_finding_or_a_problem(name: str, api_version: str | None) -> None:
    with contextlib.suppress(Problem):
        assert isinstance(resolve(SERVED, name, api_version).availability, Availability)
