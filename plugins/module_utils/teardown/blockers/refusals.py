# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server says when it refuses a change, and whose word it is: a policy, a webhook, the schema.

Room: teardown (pure). The message is read from its beginning only: what a webhook or a schema says of its own accord
comes later in it, and may imitate anybody. No command is made of it unless the live policy and binding were seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...commands import command, kubectl
from ...objects import ObjectRef, Resource
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ..obstacles.obstacle import WEBHOOK
from .cause import POLICY, REFUSED, RIGHTS, SCHEMA, USAGE, Cause

if TYPE_CHECKING:
    from ...kube.answers import ApiError

_WORDS = {"patch": "every change of it", "delete": "its deletion"}
_POLICY = re.compile(r"ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request: (.*)", re.DOTALL)
_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request:? ?(.*)', re.DOTALL)
_SILENT = re.compile(r'(?:Internal error occurred: )?failed calling webhook "([^"]+)": (.*)', re.DOTALL)
_NO_DRY_RUN = re.compile(r'admission webhook "([^"]+)" does not support dry run')
_NO_USAGES = "nousages."  # Crossplane's webhook
_CONFIGURATIONS = "validatingwebhookconfigurations,mutatingwebhookconfigurations"
_BINDING = "validatingadmissionpolicybinding"
_UNQUOTED = re.compile(r'[^"\\]+')  # names that the API server quotes as they are
IsBound = Callable[[str, str], bool]
_MOST_CAUSES = 3


def cause_of_refusal(
    problem: ApiError, verb: str, ref: ObjectRef, kind: Resource, is_bound: IsBound
) -> tuple[Cause | None, str]:
    """Why it is refused, or why that cannot be told. `is_bound`: whether a live binding ties to this policy."""
    unsaid = _NO_DRY_RUN.match(problem.message)
    if unsaid:
        return None, f"webhook {unsaid[1]} cannot be asked without consequences"
    policy = _POLICY.match(_without_the_name(problem.message, ref, kind))
    if policy:
        return _by_policy(policy, _WORDS[verb], is_bound), ""
    for pattern, read in _READERS:
        match = pattern.match(problem.message)
        if match:
            return read(match, _WORDS[verb]), ""
    if problem.status == 422 and problem.causes:
        return _schema(problem, _WORDS[verb], ref, kind), ""
    if problem.is_forbidden:
        return Cause(RIGHTS, f"the API server refuses {_WORDS[verb]}: {problem.message}", "ask for the right"), ""
    if problem.status in (404, 409, 429) or problem.status >= 500:
        return None, problem.why
    text = f"the API server refuses {_WORDS[verb]}: {problem.why}"
    return Cause(REFUSED, text, f"mend what the API server says of {ref}, and ask again"), ""


def _without_the_name(message: str, ref: ObjectRef, kind: Resource) -> str:
    """The API server names the object first, and then says who refuses."""
    if not _UNQUOTED.fullmatch(ref.name):
        return message
    for named in (kind.qualified, kind.plural):
        message = message.removeprefix(f'{named} "{ref.name}" is forbidden: ')
    return message


def _by_policy(match: re.Match[str], what: str, is_bound: IsBound) -> Cause:
    policy, binding, words = match[1], match[2], match[3].strip()
    if not is_bound(policy, binding):
        return Cause(
            REFUSED,
            f"the API server refuses {what}, in the name of ValidatingAdmissionPolicy {policy}: {words}",
            f"find out who says so: no binding {binding} of a policy {policy} was seen",
        )
    file = f"{binding}.yaml"
    keep = f"kubectl get {_BINDING} {{binding}} -o yaml > {{file}}"
    lift = command(f"{keep} && kubectl delete {_BINDING} {{binding}}", binding=binding, file=file)
    return Cause(
        POLICY,
        f"ValidatingAdmissionPolicy {policy} refuses {what}: {words}",
        f"do as policy {policy} says, or lift it for a while"
        f" ({kubectl('apply -f {file}', file=file)} brings it back): {lift}",
    )


def _by_webhook(match: re.Match[str], what: str) -> Cause:
    hook, words = match[1], match[2].strip() or "it does not say why"
    kind = USAGE if hook.startswith(_NO_USAGES) else WEBHOOK
    return Cause(
        kind, f"webhook {hook} refuses {what}: {words}", f"do as webhook {hook} says: it is its application's word"
    )


def _by_silence(match: re.Match[str], what: str) -> Cause:
    reason = match[2].strip().partition(": context deadline")[0]
    find = command(f"kubectl get {_CONFIGURATIONS} -o yaml | grep -n {{hook}}", hook=match[1])
    return Cause(
        WEBHOOK,
        f"webhook {match[1]} does not answer, so the API server refuses {what}: {reason}",
        f"bring what serves it back, or find it and remove it: {find}",
        hooks=frozenset({match[1]}),
    )


def _schema(problem: ApiError, what: str, ref: ObjectRef, kind: Resource) -> Cause:
    shown = "; ".join(problem.causes[:_MOST_CAUSES])
    more = f" and {len(problem.causes) - _MOST_CAUSES} more" if problem.causes[_MOST_CAUSES:] else ""
    edit = kubectl("edit {kind} {name}", namespace=ref.namespace, kind=kind.qualified, name=ref.name)
    crd = kubectl("edit crd {name}", name=kind.qualified)
    loosen = "" if kind.group in BUILT_IN_GROUPS else f", or loosen the schema: {crd}"
    return Cause(
        SCHEMA,
        f"the API server refuses {what}, because it breaks its own schema: {shown}{more}",
        f"mend these fields and take the finalizer off in one go: {edit}{loosen}",
    )


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Cause]], ...] = (
    (_WEBHOOK, _by_webhook),
    (_SILENT, _by_silence),
)
