# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a network policy says cannot be changed once it has opted in to be taken back: the use case of `nncp_guard`.

Room: network, cluster. A changed policy would hide what the old one did to the nodes. Metadata, the opt-in included,
stays free, and so does what `nncp_revert` does to keep a policy off its nodes and to put it back: to the very selector
that it had, which an annotation records and which stays as it is meanwhile. The rule as a file is
operator/config/policies/nncp-immutable.yaml; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...admission import (
    LOOK_AGAIN,
    Ours,
    is_probe,
    policy_kinds,
    probe_rule,
    require_policies,
    try_probe,
    wait_until_lifted,
)
from ...clock import Clock, Deadline
from ...events import Tell
from ...problems import Refused
from .kinds import NEUTRAL, OPT_IN, ORIGINAL_SELECTOR

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

NAME = "nncp-immutable.sunset.dev"
LABEL = "sunset.dev/nncp-guard"
_GUARD = Ours(LABEL, "guard")
_MARK = f"ValidatingAdmissionPolicy '{NAME}'"
_EFFECTIVE_WITHIN = 15.0
_PLACE = "default"  # where it is tried; this namespace is always there
_PARTS = ("desiredState", "capture", "maxUnavailable")


@dataclass(frozen=True)
class NncpGuardOptions:
    state: str = "present"
    timeout: float = 600.0
    check_mode: bool = False


def set_nncp_guard(options: NncpGuardOptions, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    """Whether anything had to be changed."""
    cluster.limit_to(Deadline(clock, options.timeout))
    return (
        _put_up(options, cluster, clock, tell) if options.state == "present" else _down(options, cluster, clock, tell)
    )


def immutability() -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and its binding."""
    return (
        {
            "metadata": _metadata(),
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [_changes_of_policies(), probe_rule(NAME)]},
                "matchConditions": [{"name": "opted-in", "expression": f"({is_probe(NAME)}) || ({_OPTED_IN})"}],
                "variables": [
                    {"name": "probe", "expression": is_probe(NAME)},
                    {"name": "is", "expression": "has(object.spec) ? object.spec : dyn({})"},
                    {"name": "was", "expression": "has(oldObject.spec) ? oldObject.spec : dyn({})"},
                    {"name": "same", "expression": " && ".join(map(_unchanged, _PARTS))},
                    {"name": "aside", "expression": f"{_neutral('was')} && {_carries('oldObject')}"},
                    {
                        "name": "neutralised",
                        "expression": f"!({_neutral('was')}) && {_neutral('is')} && {_carries('object')} && "
                        f"({_records('object', 'was')})",
                    },
                    {"name": "putBack", "expression": f"variables.aside && ({_records('oldObject', 'is')})"},
                    {
                        "name": "kept",
                        "expression": f"!variables.aside || ({_carries('object')} && "
                        f"{_recorded('object')} == {_recorded('oldObject')})",
                    },
                ],
                "validations": [
                    {
                        "expression": "!variables.probe && ((variables.is == variables.was && variables.kept) || "
                        "(variables.same && (variables.neutralised || variables.putBack)))",
                        "message": f"this policy can be taken back, so its spec cannot be changed: delete it with "
                        f"sunset.kube.nncp_revert and create another one, or drop the annotation {OPT_IN} first",
                        "reason": "Forbidden",
                    }
                ],
            },
        },
        {"metadata": _metadata(), "spec": {"policyName": NAME, "validationActions": ["Deny"]}},
    )


_OPTED_IN = (
    f"has(oldObject.metadata.annotations) && '{OPT_IN}' in oldObject.metadata.annotations && "
    f"oldObject.metadata.annotations['{OPT_IN}'] == 'true'"
)


def _metadata() -> dict[str, Any]:
    return {"name": NAME, "labels": {LABEL: "true"}}


def _changes_of_policies() -> dict[str, Any]:
    plural = "nodenetworkconfigurationpolicies"
    return {"apiGroups": ["nmstate.io"], "apiVersions": ["*"], "resources": [plural], "operations": ["UPDATE"]}


def _unchanged(part: str) -> str:
    now, then = f"variables.is.{part}", f"variables.was.{part}"
    return f"has({now}) == has({then}) && (!has({now}) || {now} == {then})"


def _neutral(side: str) -> str:
    return f"has(variables.{side}.nodeSelector) && variables.{side}.nodeSelector == {NEUTRAL}"


def _carries(which: str) -> str:
    return f"has({which}.metadata.annotations) && '{ORIGINAL_SELECTOR}' in {which}.metadata.annotations"


def _recorded(which: str) -> str:
    return f"{which}.metadata.annotations['{ORIGINAL_SELECTOR}']"


def _records(which: str, side: str) -> str:
    """Whether the annotation holds this selector as marks.py writes it, JSON with sorted keys: CEL reads no JSON.

    It has every pair of the selector in quotes, and is as long as all of them are: so it has no others.
    """
    text, selector = _recorded(which), f"variables.{side}.nodeSelector"
    plain = r"'^[ !#-\\[\\]-~]*$'"  # nothing that JSON would escape
    pair = f"'\"' + k + '\": \"' + {selector}[k] + '\"'"
    every = f"{selector}.all(k, k.matches({plain}) && {selector}[k].matches({plain}) && {text}.contains({pair}))"
    length = f"8 * {selector}.size() + {selector}.map(k, k.size() + {selector}[k].size()).sum()"
    whole = f"{selector}.size() == 0 ? {text} == '{{}}' : {every} && {text}.size() == {length}"
    return f"has({selector}) ? ({whole}) : {text} == 'null'"


def _put_up(options: NncpGuardOptions, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    pairs = list(zip(policy_kinds(cluster), immutability(), strict=True))
    missing = [_GUARD.try_out(resource, item, cluster) for resource, item in pairs]
    if options.check_mode or not any(missing):
        return any(missing)
    require_policies(cluster)
    for resource, item in pairs:
        _GUARD.put(resource, item, cluster, tell)
    _wait_until_it_works(cluster, clock)
    return True


def _wait_until_it_works(cluster: Cluster, clock: Clock) -> None:
    deadline = Deadline(clock, _EFFECTIVE_WITHIN)
    while True:
        problem = try_probe(NAME, _PLACE, cluster)
        if problem is not None and _MARK in problem.why:
            return
        if problem is not None:
            raise problem  # no right to try it, or somebody else's refusal: not knowing is no yes
        if deadline.passed():
            raise Refused(
                "the guard does not work",
                which=NAME,
                why=f"the API server still allows what it forbids, {_EFFECTIVE_WITHIN:.0f} s later",
                next_step="look at the ValidatingAdmissionPolicy with kubectl describe",
            )
        clock.sleep(LOOK_AGAIN)


def _down(options: NncpGuardOptions, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    policies, bindings = policy_kinds(cluster)
    there = [resource for resource in (bindings, policies) if _GUARD.is_there(resource, NAME, cluster)]
    if options.check_mode or not there:
        return bool(there)
    require_policies(cluster)
    for resource in there:
        _GUARD.take_away(resource, NAME, cluster, tell)
    wait_until_lifted(NAME, _MARK, [_PLACE], cluster, clock)
    return True
