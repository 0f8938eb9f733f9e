# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Landscaper DeployItem, and whether its Target is the cluster that we talk to."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import functools
import json
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.landscaper import (
    LABELS,
    landscaper_membership,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.sources import read_members
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, Told, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    SERVED,
    InMemoryCluster,
    api_error,
)

GROUP = "landscaper.gardener.cloud"
DEPLOY_ITEMS = Resource(GROUP, "v1alpha1", "DeployItem", "deployitems", True, verbs=VERBS)
TARGETS = Resource(GROUP, "v1alpha1", "Target", "targets", True, verbs=VERBS)
MANIFEST, HELM = f"{GROUP}/kubernetes-manifest", f"{GROUP}/helm"
SERVER = "https://api.example.com:6443"
SELF = {"selfConfig": {"serviceAccount": {"name": "deployer"}}}


@functools.cache
def authority(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = datetime.datetime(2026, 1, 1)  # noqa: DTZ001 - the library wants it without a zone
    built = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    built = built.serial_number(x509.random_serial_number()).not_valid_before(start)
    built = built.not_valid_after(start + datetime.timedelta(days=36500))
    built = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def b64(text: bytes | str) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def ours(trusted: bytes | None = None, **more: Any) -> Endpoint:
    """Our own connection; without an authority it does not verify the server."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if trusted:
        tls.load_verify_locations(cadata=trusted.decode())
    else:
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return Endpoint("api.example.com", 6443, tls=tls, **more)


def kubeconfig(server: str = SERVER, ca: bytes | None = b"", **cluster: Any) -> dict[str, Any]:
    """With a login plugin: nothing in a Target may be run. Without an authority that of the connection is taken."""
    trusted = {} if ca is None else {"certificate-authority-data": b64(ca or authority("ours"))}
    plugin = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/false"}}
    return {
        "current-context": "it",
        "contexts": [
            {"name": "another", "context": {"cluster": "another", "user": "it"}},
            {"name": "it", "context": {"cluster": "it", "user": "it"}},
        ],
        "clusters": [
            {"name": "another", "cluster": {"server": "https://another.example.com"}},
            {"name": "it", "cluster": {"server": server, **trusted, **cluster}},
        ],
        "users": [{"name": "it", "user": plugin}],
    }


def cluster_with(
    *managed: Any,
    spec: dict[str, Any] | None = None,
    target: dict[str, Any] | None = None,
    endpoint: Endpoint | None = None,
    status: Any = None,
    **more: Any,
) -> InMemoryCluster:
    """DeployItem shop/item with Target shop/there, which is this cluster unless `target` says otherwise."""
    cluster = InMemoryCluster(*SERVED, DEPLOY_ITEMS, TARGETS, endpoint=endpoint or ours(authority("ours")))
    given = {"type": MANIFEST, "target": {"name": "there", "namespace": "shop"}, **(spec or {})}
    found = {"providerStatus": {"managedResources": list(managed)}} if status is None else status
    cluster.add(DEPLOY_ITEMS, "item", spec=given, status=found, **more)
    cluster.add(TARGETS, "there", spec={"type": f"{GROUP}/kubernetes-cluster", **(target or {"config": SELF})})
    return cluster


def membership(*managed: Any, **more: Any) -> Membership:
    return landscaper_membership("item", "shop", cluster_with(*managed, **more))


def entry(name: str, uid: str = "", **more: Any) -> dict[str, Any]:
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "namespace": "shop"}
    return {"resource": {**resource, **({"uid": uid} if uid else {})}, **more}


# -- which cluster -----------------------------------------------------------------------------------------------------

TEXT = json.dumps  # JSON is YAML
HERE: dict[str, Callable[[], dict[str, Any]]] = {
    "a kubeconfig as text": lambda: {"config": {"kubeconfig": TEXT(kubeconfig())}},
    "a kubeconfig as content": lambda: {"config": {"kubeconfig": kubeconfig()}},
    "a kubeconfig and nothing else": lambda: {"config": kubeconfig()},
    "a kubeconfig as text and nothing else": lambda: {"config": TEXT(kubeconfig())},
    "a kubeconfig wins over the others": lambda: {
        "config": {"kubeconfig": kubeconfig(), "oidcConfig": {"server": "https://x"}, **SELF}
    },
    "OIDC": lambda: {"config": {"oidcConfig": {"server": SERVER, "caData": b64(authority("ours"))}}},
    "OIDC, without a scheme": lambda: {
        "config": {"oidcConfig": {"server": "api.example.com:6443", "caData": b64(authority("ours"))}}
    },
    "OIDC wins over self": lambda: {
        "config": {"oidcConfig": {"server": SERVER, "caData": b64(authority("ours"))}, **SELF}
    },
    "self": lambda: {"config": SELF},
    "a Secret": lambda: {"secretRef": {"name": "kubeconfig"}},
    "a Secret with self": lambda: {"secretRef": {"name": "self"}},
    "a Secret's key with a kubeconfig": lambda: {"secretRef": {"name": "kubeconfig", "key": "kubeconfig"}},
    "a Secret's key with a configuration": lambda: {"secretRef": {"name": "kubeconfig", "key": "whole"}},
    "one authority of two": lambda: {
        "config": {"kubeconfig": kubeconfig(ca=authority("theirs") + authority("ours"))},
    },
    "upper case": lambda: {"config": {"kubeconfig": kubeconfig("https://API.example.com:6443/")}},
}


def add_secrets(cluster: InMemoryCluster) -> InMemoryCluster:
    content = {"kubeconfig": TEXT(kubeconfig()), "whole": TEXT({"kubeconfig": TEXT(kubeconfig())})}
    cluster.add(SECRETS, "kubeconfig", data={key: b64(value) for key, value in content.items()})
    cluster.add(SECRETS, "self", data={"selfConfig": b64(TEXT(SELF["selfConfig"]))})
    cluster.add(SECRETS, "broken", data={"kubeconfig": b64("token: [hush"), "whole": b64(b"\xff")})
    return cluster


@pytest.mark.parametrize("target", named(HERE))
def test_a_target_that_is_this_cluster_is_taken(target: Callable[[], dict[str, Any]]) -> None:
    found = landscaper_membership("item", "shop", add_secrets(cluster_with(entry("a"), target=target())))
    assert [claim.name for claim in found.claims] == ["a"]
    assert found.source == "managed resources of Landscaper DeployItem shop/item (Target shop/there)"


def elsewhere(**target: Any) -> Callable[[], dict[str, Any]]:
    return lambda: target


ELSEWHERE: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "another server": (
        lambda: {"config": {"kubeconfig": kubeconfig("https://me:secret@other.example.com")}},
        "is another cluster (https://other.example.com:443)",
    ),
    "another port": (lambda: {"config": {"kubeconfig": kubeconfig("https://api.example.com")}}, "is another cluster"),
    "another path": (lambda: {"config": {"kubeconfig": kubeconfig(f"{SERVER}/k8s/b")}}, "is another cluster"),
    "the deployer's own cluster": (
        lambda: {"config": {"kubeconfig": kubeconfig("https://kubernetes.default.svc")}},
        "is another cluster (https://kubernetes.default.svc:443)",
    ),
    "another authority": (
        lambda: {"config": {"kubeconfig": kubeconfig(ca=authority("theirs"))}},
        "is another cluster (at the same address, but with another certificate authority)",
    ),
    "another server name": (
        lambda: {"config": {"kubeconfig": kubeconfig(**{"tls-server-name": "b.example.com"})}},
        "is another cluster (at the same address, but with the server name b.example.com)",
    ),
    "no URL": (lambda: {"config": {"kubeconfig": kubeconfig("https://[x:y")}}, "at an address that is no URL"),
    "behind a proxy": (
        lambda: {"config": {"kubeconfig": kubeconfig(**{"proxy-url": "http://proxy.example.com"})}},
        "cannot be told to be this cluster: its server is behind a proxy",
    ),
    "no authority": (lambda: {"config": {"kubeconfig": kubeconfig(ca=None)}}, "no certificate authority to compare"),
    "an authority in a file": (
        lambda: {"config": {"kubeconfig": kubeconfig(ca=None, **{"certificate-authority": "/etc/ca.crt"})}},
        "no certificate authority to compare",
    ),
    "an authority that is none": (
        lambda: {"config": {"kubeconfig": kubeconfig(ca=b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----")}},
        "no certificate authority to compare",
    ),
    "not verified": (
        lambda: {"config": {"kubeconfig": kubeconfig(**{"insecure-skip-tls-verify": True})}},
        "no certificate authority to compare",
    ),
    "no current context": (
        lambda: {"config": {"kubeconfig": {**kubeconfig(), "current-context": ""}}},
        "does not say which cluster it means",
    ),
    "a reference of old": (
        elsewhere(config={"kubeconfig": {"secretRef": {"name": "a"}}}),
        "does not say which cluster it means",
    ),
    "no YAML": (elsewhere(config={"kubeconfig": "token: [hush"}), "it has no kubeconfig"),
    "a text": (elsewhere(config={"kubeconfig": "hush"}), "it has no kubeconfig"),
    "aliases of aliases": (
        elsewhere(config={"kubeconfig": "a: &a [*a]\ncurrent-context: *a"}),
        "it has no kubeconfig",
    ),
    "a list": (elsewhere(config={"kubeconfig": ["hush"]}), "it has no kubeconfig"),
    "clusters that are a text": (
        elsewhere(config={"kubeconfig": {"current-context": "a", "contexts": "hush"}}),
        "does not say which cluster it means",
    ),
    "nothing": (elsewhere(config={}), "does not say which cluster it means"),
    "no configuration": (elsewhere(config=None), "it has no kubeconfig"),
    "OIDC without a server": (elsewhere(config={"oidcConfig": {}}), "its oidcConfig names no server"),
    "OIDC that is a text": (elsewhere(config={"oidcConfig": "hush"}), "its oidcConfig names no server"),
    "OIDC without an authority": (
        elsewhere(config={"oidcConfig": {"server": SERVER}}),
        "no certificate authority to compare",
    ),
    "no Secret": (elsewhere(secretRef={"name": "none"}), "does not say which cluster it means"),
    "no such key": (elsewhere(secretRef={"name": "kubeconfig", "key": "none"}), "it has no kubeconfig"),
    "a Secret without YAML": (elsewhere(secretRef={"name": "broken"}), "its Secret holds no YAML"),
    "a Secret without text": (elsewhere(secretRef={"name": "broken", "key": "whole"}), "its Secret holds no YAML"),
    "no type": (elsewhere(type=None, config=SELF), "its type is not said"),
    "another type": (elsewhere(type=f"{GROUP}/aws", config=SELF), f"its type is {GROUP}/aws"),
}


@pytest.mark.parametrize(("target", "told"), named(ELSEWHERE))
def test_a_target_that_is_not_surely_this_cluster_is_refused(target: Callable[[], dict[str, Any]], told: str) -> None:
    cluster = add_secrets(cluster_with(entry("a"), target=target()))
    with pytest.raises(Refused) as refused:
        landscaper_membership("item", "shop", cluster)
    assert told in refused.value.why
    assert "its Target shop/there" in refused.value.why
    assert "members.landscaper.target: there" in refused.value.next_step
    assert "hush" not in str(refused.value)
    assert "secret@" not in str(refused.value)
    assert [claim.name for claim in landscaper_membership("item", "shop", cluster, target="there").claims] == ["a"]


def test_a_connection_that_verifies_nothing_proves_nothing() -> None:
    with pytest.raises(Refused, match="this connection does not verify the server's certificate"):
        membership(entry("a"), target={"config": {"kubeconfig": kubeconfig()}}, endpoint=ours())


def test_a_server_name_and_a_proxy_may_be_our_own() -> None:
    address = {"tls-server-name": "b.example.com", "proxy-url": "http://proxy.example.com"}
    endpoint = ours(authority("ours"), server_name="b.example.com", proxy="http://proxy.example.com")
    target = {"config": {"kubeconfig": kubeconfig(**address)}}
    assert membership(entry("a"), target=target, endpoint=endpoint).claims
    with pytest.raises(Refused, match="with the server name of that address"):
        membership(entry("a"), target={"config": {"kubeconfig": kubeconfig()}}, endpoint=endpoint)


NO_TARGET: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "none": ({"target": None}, {}, "it names no Target"),
    "none, as its Execution says": (
        {"target": None},
        {f"{GROUP}/deployer-target-name": ".noTargetName"},
        "it names no Target",
    ),
    "a reference without a name": ({"target": {}}, {}, "it names no Target"),
    "another one by annotation": (
        {},
        {f"{GROUP}/deployer-target-name": "other"},
        f"its spec.target is there, and its annotation {GROUP}/deployer-target-name is other",
    ),
    "one by annotation only": (
        {"target": None},
        {f"{GROUP}/deployer-target-name": "there"},
        "its spec.target is empty, and its annotation",
    ),
    "of another namespace": (
        {"target": {"name": "there", "namespace": "bank"}},
        {},
        "its Target is in namespace bank, and Landscaper takes one of its own namespace",
    ),
}


@pytest.mark.parametrize(("spec", "annotations", "told"), named(NO_TARGET))
def test_without_one_certain_target_not_even_the_task_can_say_which_cluster_it_is(
    spec: dict[str, Any], annotations: dict[str, str], told: str
) -> None:
    cluster = cluster_with(entry("a"), spec=spec, annotations=annotations)
    for target in ("", "there"):
        with pytest.raises(Refused) as refused:
            landscaper_membership("item", "shop", cluster, target=target)
        assert told in refused.value.why


def test_the_annotation_of_its_execution_may_say_the_same() -> None:
    assert membership(entry("a"), annotations={f"{GROUP}/deployer-target-name": "there"}).claims


def test_another_target_than_the_task_says_is_refused() -> None:
    with pytest.raises(Refused, match=r"another Target than members.landscaper.target says \(here\)"):
        landscaper_membership("item", "shop", cluster_with(entry("a")), target="here")


def test_a_kubeconfig_in_the_deploy_item_itself_was_used_by_older_deployers() -> None:
    with pytest.raises(Refused, match="the DeployItem has a kubeconfig of its own"):
        membership(entry("a"), spec={"config": {"kubeconfig": b64(TEXT(kubeconfig()))}})


def test_a_target_that_is_not_there_is_no_cluster() -> None:
    cluster = cluster_with(entry("a"))
    cluster.remove(TARGETS, "there")
    with pytest.raises(Refused, match="there is no such Target"):
        landscaper_membership("item", "shop", cluster)


def test_a_secret_that_may_not_be_read_is_said_and_other_troubles_are_failures() -> None:
    cluster = cluster_with(entry("a"), target={"secretRef": {"name": "a"}})
    cluster.unseen["secrets"] = api_error(403, "Forbidden", "you may not")
    with pytest.raises(Refused, match="the Secret a may not be read"):
        landscaper_membership("item", "shop", cluster)
    cluster.unseen["secrets"] = api_error(500, "InternalError", "etcd is away")
    with pytest.raises(Problem) as failed:
        landscaper_membership("item", "shop", cluster)
    assert not isinstance(failed.value, Refused)


def test_the_deploy_item_may_be_stored_in_another_cluster() -> None:
    """Everything about it is read there, and its Target is compared with the connection."""
    there = dataclasses.replace(ours(authority("theirs")), host="landscaper.example.com", context="garden")
    stored = cluster_with(entry("a"), target={"config": {"kubeconfig": kubeconfig()}}, endpoint=there)
    here = InMemoryCluster(endpoint=ours(authority("ours")))
    option = {"landscaper": {"deploy_item": "item", "namespace": "shop", "context": "garden", "target": None}}
    found = read_members(option, here, {"garden": stored}.__getitem__)
    assert [claim.name for claim in found.claims] == ["a"]
    assert found.source == (
        "managed resources of Landscaper DeployItem shop/item "
        "(Target shop/there, in context garden (https://landscaper.example.com:6443))"
    )
    with pytest.raises(Refused, match="is another cluster"):
        landscaper_membership("item", "shop", stored)


@pytest.mark.parametrize(("uid", "taken"), [("7c1f", True), ("1", False)])
def test_a_target_of_its_own_cluster_is_ours_only_if_that_cluster_is(uid: str, taken: bool) -> None:
    stored, here = cluster_with(entry("a"), target={"config": SELF}), InMemoryCluster()
    stored.server.system_uid = uid
    if taken:
        assert landscaper_membership("item", "shop", here, stored_in=stored).claims
        return
    with pytest.raises(Refused, match=r"is another cluster \(the one in which it lies, "):
        landscaper_membership("item", "shop", here, stored_in=stored)


# -- its objects -------------------------------------------------------------------------------------------------------


def test_a_deploy_items_managed_resources_are_its_members() -> None:
    found = membership(entry("a", "u-1"), entry("b"))
    assert [(claim.kind, claim.namespace, claim.name, claim.uid) for claim in found.claims] == [
        ("ConfigMap", "shop", "a", "u-1"),
        ("ConfigMap", "shop", "b", ""),
    ]


def test_what_a_deploy_item_wants_done_before_a_delete_is_kept() -> None:
    recorded = {"annotateBeforeDelete": {"a": "b"}, "patchBeforeDelete": {"spec": {"x": 1}}}
    wishes = [claim.before_delete for claim in membership(entry("a", **recorded), entry("b")).claims]
    assert wishes == [{"annotate": {"a": "b"}, "patch": {"spec": {"x": 1}}}, {}]


POLICIES = {
    "manage": "",
    "fallback": "",
    "immutable": "",
    "keep": "Landscaper policy keep",
    "ignore": "Landscaper policy ignore",
    "none": "",
}


@pytest.mark.parametrize(("policy", "keep"), [(*each,) for each in POLICIES.items()], ids=list(POLICIES))
def test_a_policy_decides_over_an_object(policy: str, keep: str) -> None:
    [claim] = membership(entry("a", **({} if policy == "none" else {"policy": policy}))).claims
    assert claim.keep == keep


LABELLED: dict[str, tuple[dict[str, str], bool, str]] = {
    "by the manifest deployer": ({LABELS[0]: "item"}, True, ""),
    "by the Helm deployer": ({LABELS[1]: "item"}, True, ""),
    "not at all": ({}, True, f"it carries no label of a Landscaper DeployItem ({LABELS[0]})"),
    "not at all, and owned by another member": ({}, False, ""),
    "as another item's": ({LABELS[0]: "other"}, True, "it belongs to Landscaper DeployItem other"),
    "as another item's, and owned by a member": (
        {LABELS[0]: "other"},
        False,
        "it belongs to Landscaper DeployItem other",
    ),
}


@pytest.mark.parametrize(("labels", "marked", "told"), named(LABELLED))
def test_an_object_is_the_items_own_only_while_its_label_says_so(
    labels: dict[str, str], marked: bool, told: str
) -> None:
    found = membership(entry("a"))
    assert found.claims[0].marked
    assert found.not_ours is not None
    assert found.not_ours(record(labels=labels), marked) == told


def test_an_object_with_another_uid_than_the_recorded_one_is_another_object() -> None:
    cluster = cluster_with(entry("a", "u-1"), entry("b", "u-2"), entry("c"))
    for name in ("a", "b", "c"):
        cluster.add(CONFIG_MAPS, name, uid="u-1" if name == "a" else f"u-{name}", labels={LABELS[0]: "item"})
    found = Looker(cluster, Told()).find(landscaper_membership("item", "shop", cluster))
    assert {member.record.name: member.disputed for member in found.members} == {
        "a": "",
        "b": "it is another object of that name: Landscaper DeployItem shop/item recorded uid u-2, its own is u-b",
        "c": "",
    }


@pytest.mark.parametrize("status", [{}, {"providerStatus": None}, {"providerStatus": {"managedResources": None}}])
def test_a_deploy_item_without_managed_resources_has_no_members_and_says_so(status: Any) -> None:
    found = membership(status=status)
    assert (found.claims, found.missing) == ([], "")
    assert found.warnings == ["the status of Landscaper DeployItem shop/item lists no objects"]


@pytest.mark.parametrize("wrong", ["a", {}, {"resource": "a"}, {"resource": {"kind": "Pod"}}])
def test_an_entry_without_a_name_is_a_failure_and_not_a_shorter_list(wrong: Any) -> None:
    with pytest.raises(CannotLook, match="without a name"):
        membership(entry("a"), wrong)


@pytest.mark.parametrize(
    "cluster", [InMemoryCluster(), InMemoryCluster(*SERVED, DEPLOY_ITEMS)], ids=["no kind", "no item"]
)
def test_a_deploy_item_that_is_not_there_is_missing(cluster: InMemoryCluster) -> None:
    assert landscaper_membership("item", "shop", cluster).missing == "there is no Landscaper DeployItem shop/item"


EVERY_HOUR = {"continuousReconcile": {"every": "1h"}}
RECONCILED: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "by hand": ({}, {}, False),
    "on a schedule": (EVERY_HOUR, {}, True),
    "on a schedule that is switched off": (
        EVERY_HOUR,
        {"annotations": {f"continuousreconcile.extensions.{GROUP}/active": "false"}},
        False,
    ),
    "on a schedule, and being deleted": (EVERY_HOUR, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, False),
}


@pytest.mark.parametrize(("config", "metadata", "told"), named(RECONCILED))
def test_a_deployer_that_puts_back_what_is_deleted_is_told_about(
    config: dict[str, Any], metadata: dict[str, Any], told: bool
) -> None:
    warnings = membership(entry("a"), spec={"config": config}, **metadata).warnings
    assert bool(warnings) is told
    if told:
        assert "kubectl -n shop annotate deployitem item continuousreconcile.extensions" in warnings[0]


# -- Helm --------------------------------------------------------------------------------------------------------------


def release(**config: Any) -> dict[str, Any]:
    return {"type": HELM, "config": {"name": "web", "namespace": "shop", **config}}


WAYS: dict[str, tuple[dict[str, Any], bool]] = {
    "the Helm deployer": (release(), True),
    "the Helm deployer, said": (release(helmDeployment=True), True),
    "the Helm deployer, said by nothing": (release(helmDeployment=None), True),
    "the Helm deployer without a release": (release(helmDeployment=False), False),
    "the manifest deployer": ({"type": MANIFEST}, False),
    "another deployer": ({"type": "example.com/other", "config": {"name": "web", "namespace": "shop"}}, False),
}


@pytest.mark.parametrize(("spec", "by_release"), named(WAYS))
def test_a_release_is_the_source_where_one_was_installed(spec: dict[str, Any], by_release: bool) -> None:
    content = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    metadata = {"name": "web", "version": 1, "namespace": "shop", "info": {"status": "deployed"}}
    cluster = cluster_with(entry("a"), spec=spec)
    cluster.add(
        SECRETS,
        "sh.helm.release.v1.web.v1",
        labels={"owner": "helm", "name": "web", "version": "1", "status": "deployed"},
        data={"release": b64(b64(json.dumps({**metadata, "manifest": json.dumps(content)})))},
    )
    found = landscaper_membership("item", "shop", cluster)
    start = "Helm release shop/web of" if by_release else "managed resources of"
    assert found.source == f"{start} Landscaper DeployItem shop/item (Target shop/there)"
    assert [claim.kind for claim in found.claims] == ["Service" if by_release else "ConfigMap"]
    assert [claim.kind for claim in found.records] == (["Secret"] if by_release else [])


@pytest.mark.parametrize(("managed", "told"), [((), ""), ((entry("a"),), "; the status lists 1 of its objects")])
def test_without_its_release_the_list_is_not_taken_for_the_whole(managed: tuple[Any, ...], told: str) -> None:
    found = membership(*managed, spec=release())
    start = "there is no record of Helm release shop/web (secret or configmap), which Landscaper DeployItem shop/item"
    assert found.missing.startswith(f"{start} installed{told}")
    assert found.claims == []


@pytest.mark.parametrize(
    "config", [{"name": ""}, {"namespace": None}, {"name": "a,owner!=helm"}, {"namespace": "../x"}]
)
def test_a_release_without_a_proper_name_is_a_failure(config: dict[str, Any]) -> None:
    with pytest.raises(CannotLook, match="cannot tell which Helm release"):
        membership(entry("a"), spec=release(**config))
