# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Helm release, from the record Helm keeps."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.helm import helm_membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.helm_releases import MOST_BYTES, decode
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker
from ansible_collections.sunset.kube.tests.unit.fakes import Told, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, SECRETS, InMemoryCluster

SOURCE = "Helm release shop/web"
MANIFEST = """
---
# Source: web/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: other}
---
---
apiVersion: v1
kind: RoleList
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: reader}
"""


def content(**more: Any) -> dict[str, Any]:
    return {
        "name": "web",
        "namespace": "shop",
        "version": 1,
        "info": {"status": "deployed"},
        "manifest": MANIFEST,
        **more,
    }


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def zipped(release: Any) -> str:
    """As a ConfigMap holds it: base64 of gzip of JSON."""
    return b64(gzip.compress(json.dumps(release).encode()))


def in_secret(release: Any) -> str:
    """As a Secret's `data` holds it: the same, in base64 once more."""
    return b64(zipped(release).encode())


ENCODINGS: dict[str, str] = {
    "Secret": in_secret(content()),
    "ConfigMap": zipped(content()),
    "very old Secret, not zipped": b64(b64(json.dumps(content()).encode()).encode()),
    "very old ConfigMap, not zipped": b64(json.dumps(content()).encode()),
    "not zipped, with blanks before": b64(b"\n " + json.dumps(content()).encode()),
}


@pytest.mark.parametrize("text", named(ENCODINGS))
def test_a_record_is_read_however_it_is_wrapped(text: str) -> None:
    release = decode({"data": {"release": text}}, SOURCE)
    assert (release.revision, release.status, release.manifest) == (1, "deployed", MANIFEST)


def store(
    cluster: InMemoryCluster,
    text: str,
    revision: int = 1,
    resource: Resource = SECRETS,
    release: str = "web",
    **labels: str,
) -> None:
    cluster.add(
        resource,
        f"sh.helm.release.v1.{release}.v{revision}",
        labels={"owner": "helm", "name": release, **labels},
        data={"release": text},
    )


def membership(*contents: dict[str, Any], driver: str = "auto") -> Membership:
    cluster = InMemoryCluster()
    for place, release in enumerate(contents, 1):
        store(cluster, in_secret(release), release.get("version") or place)
    return helm_membership("web", "shop", driver, cluster)


def claims(found: Membership) -> list[str]:
    return [f"{claim.group or 'core'} {claim.kind} {claim.namespace}/{claim.name}" for claim in found.claims]


def test_the_manifest_names_the_members_and_lists_are_opened() -> None:
    found = membership(content())
    assert claims(found) == [
        "core ConfigMap /settings",
        "apps Deployment other/web",
        "rbac.authorization.k8s.io Role /reader",
    ]
    assert (found.default_namespace, found.source, {claim.marked for claim in found.claims}) == ("shop", SOURCE, {True})


def hook(name: str) -> dict[str, str]:
    return {"name": name, "manifest": f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\n"}


def crd_file(name: str, text: str) -> dict[str, str]:
    return {"name": name, "data": b64(text.encode())}


CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n"


def test_hooks_and_the_charts_definitions_belong_to_it_but_carry_no_mark() -> None:
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: admin}\n"
    files = [
        crd_file("crds/role.yaml", role),
        crd_file("crds/a.yaml", CRD),
        crd_file("crds/deep/b.yml", CRD.replace("name: a", "name: b")),
        crd_file("crds/README.md", "not: yaml: at all"),
        crd_file("files/crds/c.yaml", CRD),
    ]
    found = membership(content(manifest="", hooks=[hook("migrate")], chart={"files": files}))
    assert claims(found) == [
        "batch Job /migrate",
        "apiextensions.k8s.io CustomResourceDefinition /a.example.com",
        "apiextensions.k8s.io CustomResourceDefinition /b.example.com",
    ]
    assert {claim.marked for claim in found.claims} == {False}
    # What a hook made says so itself; Helm puts nothing on definitions.
    assert [claim.evidence for claim in found.claims] == ["helm.sh/hook", "", ""]


EMPTY: dict[str, dict[str, Any]] = {
    "null hooks": {"hooks": None},
    "null chart": {"chart": None},
    "null files": {"chart": {"files": None}},
    "null manifest of a hook": {"hooks": [{"name": "x", "manifest": None}]},
    "null data of a file": {"chart": {"files": [{"name": "crds/a.yaml", "data": None}]}},
    "null info": {"info": None},
    "null version": {"version": None},
    "nothing but comments": {"manifest": "# Source: a\n---\n# Source: b\n"},
    "no manifest": {"manifest": None},
}


@pytest.mark.parametrize("more", named(EMPTY))
def test_what_is_null_in_a_record_is_nothing(more: dict[str, Any]) -> None:
    assert len(membership({**content(manifest=""), **more}).claims) == 0


def labelled(text: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {text}}}\n"


def revision(number: int, status: str) -> dict[str, Any]:
    return content(version=number, info={"status": status}, manifest=labelled(f"v{number}"))


REVISIONS: dict[str, tuple[list[tuple[int, str]], list[str]]] = {
    "the newest counts": ([(1, "superseded"), (2, "deployed")], ["v2"]),
    "ten is newer than nine": ([(10, "deployed"), (9, "superseded")], ["v10"]),
    "a failed upgrade left objects of both": ([(1, "deployed"), (2, "failed")], ["v2", "v1"]),
    "a pending upgrade left objects of both": ([(1, "deployed"), (2, "pending-upgrade")], ["v2", "v1"]),
    "several tries left objects of all": (
        [(1, "superseded"), (2, "deployed"), (3, "failed"), (4, "pending-rollback")],
        ["v4", "v3", "v2"],
    ),
    "an installation that was cut off": ([(1, "uninstalled"), (2, "pending-install")], ["v2", "v1"]),
    "the only one": ([(1, "pending-install")], ["v1"]),
    "being uninstalled": ([(1, "superseded"), (2, "uninstalling")], ["v2"]),
}


@pytest.mark.parametrize(("revisions", "names"), named(REVISIONS))
def test_the_newest_revision_says_what_belongs_to_the_release_and_what_it_did_not_replace(
    revisions: list[tuple[int, str]], names: list[str]
) -> None:
    found = membership(*(revision(number, status) for number, status in revisions))
    assert [claim.name for claim in found.claims] == names
    assert [claim.past for claim in found.claims] == [False] + [True] * (len(names) - 1)
    assert len(found.records) == len(revisions)  # all of them go


def test_what_two_revisions_name_is_one_member_wherever_they_say_that_it_is() -> None:
    manifests = [labelled("same"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same, namespace: shop}\n"]
    releases = [
        content(version=number, info={"status": status}, manifest=manifest)
        for number, status, manifest in zip((1, 2), ("deployed", "failed"), manifests, strict=True)
    ]
    assert [(claim.name, claim.past) for claim in membership(*releases).claims] == [("same", False)]


def test_hooks_count_only_of_the_newest_and_of_one_that_was_completed() -> None:
    releases = [
        content(version=number, info={"status": status}, manifest="", hooks=[{"manifest": labelled(f"hook{number}")}])
        for number, status in ((1, "deployed"), (2, "failed"), (3, "failed"))
    ]
    assert [claim.name for claim in membership(*releases).claims] == ["hook3", "hook1"]


def test_what_an_older_revision_named_and_is_gone_is_not_missed() -> None:
    cluster = InMemoryCluster()
    for number, status in ((1, "deployed"), (2, "failed")):
        data = {"release": in_secret(revision(number, status))}
        labels = {"owner": "helm", "name": "web"}
        cluster.add(SECRETS, f"sh.helm.release.v1.web.v{number}", labels=labels, data=data)
    found = Looker(cluster, Told()).find(helm_membership("web", "shop", "auto", cluster))
    assert [claim.name for claim in found.absent] == ["v2"]


def test_records_are_claimed_with_their_namespace_and_go_last() -> None:
    [claim] = membership(content()).records
    assert (claim.kind, claim.namespace, claim.name, claim.source) == (
        "Secret",
        "shop",
        "sh.helm.release.v1.web.v1",
        f"record of {SOURCE}",
    )


DRIVERS: dict[str, tuple[str, list[Resource], str]] = {
    "auto finds Secrets": ("auto", [SECRETS], "Secret"),
    "auto finds ConfigMaps": ("auto", [CONFIG_MAPS], "ConfigMap"),
    "auto takes Secrets first": ("auto", [CONFIG_MAPS, SECRETS], "Secret"),
    "secret": ("secret", [SECRETS], "Secret"),
    "configmap": ("configmap", [CONFIG_MAPS, SECRETS], "ConfigMap"),
    "secret finds no ConfigMap": ("secret", [CONFIG_MAPS], ""),
}


@pytest.mark.parametrize(("driver", "stores", "kind"), named(DRIVERS))
def test_the_driver_says_where_to_look(driver: str, stores: list[Resource], kind: str) -> None:
    cluster = InMemoryCluster()
    for resource in stores:
        store(cluster, in_secret(content()), resource=resource)
    found = helm_membership("web", "shop", driver, cluster)
    assert ("".join(claim.kind for claim in found.records), bool(found.missing)) == (kind, not kind)


def test_a_release_without_a_record_is_missing_and_says_where_was_looked() -> None:
    cluster = InMemoryCluster()
    store(cluster, in_secret(content()), release="other")
    assert helm_membership("web", "shop", "auto", cluster).missing == (
        "there is no record of Helm release shop/web (secret or configmap)"
    )


# -- ownership ---------------------------------------------------------------------------------------------------------

NAME, PLACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
OWNED: dict[str, tuple[dict[str, str], bool, str]] = {
    "its own": ({NAME: "web", PLACE: "shop"}, True, ""),
    "another release's": ({NAME: "bank", PLACE: "shop"}, True, "it belongs to Helm release shop/bank"),
    "the same name elsewhere": ({NAME: "web", PLACE: "bank"}, True, "it belongs to Helm release bank/web"),
    "its own by the annotations, another tool's by the label": (
        {NAME: "web", PLACE: "shop", "label": "bank-operator"},
        True,
        "it is managed by bank-operator by now (label app.kubernetes.io/managed-by)",
    ),
    "nobody's": ({}, True, f"it carries no mark of a Helm release (annotation {NAME})"),
    "a hook's object, which carries none": ({}, False, ""),
    "a hook's object that became another's": (
        {NAME: "bank", PLACE: "shop"},
        False,
        "it belongs to Helm release shop/bank",
    ),
}


@pytest.mark.parametrize(("annotations", "marked", "why"), named(OWNED))
def test_a_live_object_must_still_carry_helms_mark(annotations: dict[str, str], marked: bool, why: str) -> None:
    not_ours = membership(content()).not_ours
    assert not_ours is not None
    labels = {"app.kubernetes.io/managed-by": annotations.get("label", "Helm")}
    assert not_ours(record(annotations=annotations, labels=labels), marked) == why


@pytest.mark.parametrize(
    "mark",
    [
        {"labels": {"kustomize.toolkit.fluxcd.io/name": "platform"}},
        {"annotations": {"argocd.argoproj.io/tracking-id": "platform:x/y:z/a"}},
        {"labels": {"olm.managed": "true"}},
    ],
)
def test_a_definition_that_another_tool_manages_is_that_tools(mark: dict[str, Any]) -> None:
    not_ours = membership(content()).not_ours
    assert not_ours is not None
    assert not_ours(record("a.example.com", ""), False) == ""
    assert not_ours(record("a.example.com", "", **mark), False).startswith("it is managed by ")


def test_metadata_in_one_namespace_does_not_speak_for_a_release_in_another() -> None:
    """The objects of that one carry the right marks."""
    with pytest.raises(CannotLook, match="says that the release is in namespace bank"):
        membership(content(namespace="bank"))


# -- other releases ----------------------------------------------------------------------------------------------------


def another(cluster: InMemoryCluster, revision: int = 1, status: str = "deployed", **more: Any) -> None:
    release = content(name="twin", namespace="bank", manifest="", version=revision, **more)
    labels = {"owner": "helm", "name": "twin", "status": status}
    name = f"sh.helm.release.v1.twin.v{revision}"
    cluster.add(SECRETS, name, "bank", labels=labels, data={"release": in_secret(release)})


def with_definition(cluster: InMemoryCluster, *hooks: str) -> Membership:
    text = in_secret(content(manifest="", hooks=[{"manifest": one} for one in hooks], chart={"files": FILES}))
    store(cluster, text)
    return helm_membership("web", "shop", "auto", cluster)


FILES = [crd_file("crds/a.yaml", CRD)]
WIDE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: job}\n"
FAR = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: job, namespace: bank}\n"
NEAR = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: job}\n"
TAKEN = "Helm release bank/twin has it, too"
RIVALS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "none has it": ({"chart": {"files": []}}, ["", "", "", ""]),
    "in crds/": ({"chart": {"files": FILES}}, ["", "", "", TAKEN]),
    "its history was kept": ({"chart": {"files": FILES}, "status": "uninstalled"}, ["", "", "", ""]),
    "hooks of its own": ({"hooks": [{"manifest": one} for one in (WIDE, FAR, NEAR)]}, [TAKEN, TAKEN, "", ""]),
}


@pytest.mark.parametrize(("rival", "disputed"), named(RIVALS))
def test_what_carries_no_name_of_a_release_is_compared_with_other_releases(
    rival: dict[str, Any], disputed: list[str]
) -> None:
    cluster = InMemoryCluster()
    another(cluster, **rival)
    found = with_definition(cluster, WIDE, FAR, NEAR)
    assert [claim.disputed for claim in found.claims] == disputed


def test_only_the_newest_revision_of_another_release_is_read() -> None:
    cluster = InMemoryCluster()
    another(cluster, chart={"files": FILES})
    another(cluster, 2, chart={"files": []})
    assert {claim.disputed for claim in with_definition(cluster).claims} == {""}


def test_a_chart_without_definitions_looks_at_no_other_release() -> None:
    cluster = InMemoryCluster()
    store(cluster, in_secret(content()))
    helm_membership("web", "shop", "auto", cluster)
    assert cluster.lists == ["secrets in namespace shop owner=helm,name=web"]


def test_who_cannot_see_other_releases_is_told_and_keeps_the_definition() -> None:
    cluster = InMemoryCluster()
    cluster.not_cluster_wide.add("secrets")
    [claim] = with_definition(cluster).claims
    assert claim.disputed.startswith("whether another Helm release has it, too, cannot be seen (")


def test_metadata_of_another_release_that_cannot_be_read_is_told() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "x", "bank", labels={"owner": "helm", "name": "twin"}, data={"release": "%%%"})
    found = with_definition(cluster)
    assert "the release metadata of Helm release bank/twin cannot be read" in found.warnings[0]


# -- size --------------------------------------------------------------------------------------------------------------


def test_a_record_that_grows_without_end_is_refused_unread() -> None:
    packed = gzip.compress(b" " * (MOST_BYTES + 1))
    assert len(packed) < 100_000
    with pytest.raises(CannotLook, match="larger than 32 MiB when decompressed"):
        decode({"data": {"release": b64(packed)}}, SOURCE)


def test_older_revisions_are_not_even_read() -> None:
    cluster = InMemoryCluster()
    store(cluster, "%%%", 1)
    store(cluster, in_secret(content(version=2)), 2)
    assert len(helm_membership("web", "shop", "auto", cluster).claims) == 3


# -- records nobody can read -------------------------------------------------------------------------------------------

UNREADABLE: dict[str, Any] = {
    "nothing": None,
    "not base64": "%%%",
    "not text": 5,
    "not gzip and not JSON": b64(b"hello"),
    "half a gzip": b64(gzip.compress(b"{}" * 100)[:20]),
    "JSON, but a list": zipped([]),
    "JSON, but a text": zipped("x"),
    "JSON, but null": zipped(None),
    "a version that is no number": zipped(content(version="one")),
    "a version without end": b64(b'{"version": Infinity}'),
    "hooks that are none": zipped(content(hooks="x")),
    "a hook that is none": zipped(content(hooks=["x"])),
    "a chart that is none": zipped(content(chart="x")),
    "files that are none": zipped(content(chart={"files": ["x"]})),
    "a definition that is not base64": zipped(content(chart={"files": [{"name": "crds/a.yaml", "data": "a"}]})),
    "info that is none": zipped(content(info="x")),
}


@pytest.mark.parametrize("text", named(UNREADABLE))
def test_a_record_nobody_can_read_is_a_failure_with_a_way_out(text: Any) -> None:
    item = {"metadata": {"name": "sh.helm.release.v1.web.v1"}, "data": {"release": text}}
    with pytest.raises(CannotLook, match=r"^cannot read the record of Helm release shop/web") as refused:
        decode(item, SOURCE)
    assert refused.value.next_step == "give the members as manifests or objects instead"


def only_cannot_look(data: Any) -> None:
    try:
        decode({"data": data}, SOURCE)
    except CannotLook:
        return


def gzipped(raw: bytes) -> bytes:
    return gzip.compress(raw, mtime=0)  # the time of packing would make it another example on every run


@given(st.binary(max_size=40), st.sampled_from([bytes, gzipped, base64.b64encode]))
def test_arbitrary_bytes_in_a_record_are_never_a_traceback(raw: bytes, wrap: Any) -> None:
    only_cannot_look({"release": b64(wrap(raw))})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["version", "info", "status", "manifest", "hooks", "chart", "files", "name", "data"]), inner
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_arbitrary_json_in_a_record_is_never_a_traceback(release: Any) -> None:
    only_cannot_look({"release": zipped(release)})
