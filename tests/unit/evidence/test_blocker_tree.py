# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The head of the tree, and for which cluster its commands are."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_tree import Where, tree_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import Blocked, Explanation
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.cause import GITOPS, POD, Cause
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.holders import Holder
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.next_steps import NextStep
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, named, record

STAGE = "https://stage:6443 (context stage of config)"
NOTHING = "x: nothing hangs, and nothing is in the way (1 object looked at)"
IN_THE_WAY = "x: nothing is being deleted now; this would be in the way"
BLIND = "x: nothing was seen that hangs, but not everything could be looked at (1 object looked at)"


def told(**more: Any) -> Explanation:
    return Explanation("x", looked_at=1, **more)


def web(alive: str = "", *causes: Cause) -> Blocked:
    holders = [Holder("f/x", "", alive, "because", "", "unknown", False)] if alive else []
    return Blocked(DOMAINS, record(), holders, list(causes))


HEADS: dict[str, tuple[Explanation, str]] = {
    "nothing": (told(), NOTHING),
    "nothing that could be seen": (told(unreadable=["domains: HTTP 403"]), BLIND),
    "nothing holds what was asked for": (told(blocked=[web()]), NOTHING),
    "its owner is alive": (told(blocked=[web("alive")]), NOTHING),
    "its owner is alive, and more could not be seen": (told(blocked=[web("alive")], unreadable=["a: b"]), BLIND),
    "its owner is gone": (told(blocked=[web("gone")], unreadable=["a: b"]), IN_THE_WAY),
    "nobody knows its owner": (told(blocked=[web("unknown")]), IN_THE_WAY),
    "somebody uses it": (told(blocked=[web("alive", Cause(POD, "used"))]), IN_THE_WAY),
    "somebody owns it and leaves it alone": (told(blocked=[web("", Cause(GITOPS, "paused", certain=False))]), NOTHING),
}


@pytest.mark.parametrize(("given", "head"), named(HEADS))
def test_the_head_says_what_is_known_and_no_more(given: Explanation, head: str) -> None:
    assert tree_of(given)[0] == head


def test_the_tree_names_the_cluster_and_commands_name_it_where_kubectl_may_speak_to_another() -> None:
    given = told(blocked=[web("gone")], next_steps=[NextStep("kubectl delete it")])
    chosen = tree_of(given, Where(STAGE, chosen=True))
    assert chosen[0] == f"cluster {STAGE}"
    assert chosen[-3:] == ["next:", f"  (for {STAGE}: point kubectl and ansible there first)", "  1. kubectl delete it"]
    as_kubectl_does = tree_of(given, Where(STAGE, chosen=False))
    assert (as_kubectl_does[0], as_kubectl_does[-2:]) == (f"cluster {STAGE}", ["next:", "  1. kubectl delete it"])


def test_what_is_not_there_is_not_there_in_this_cluster() -> None:
    assert tree_of(told(missing="there is no x"), Where(STAGE, chosen=True)) == [f"cluster {STAGE}", "there is no x"]
