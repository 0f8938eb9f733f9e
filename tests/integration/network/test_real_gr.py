# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our copy of `nmstatectl gr` beside the real one: on every vector, and on networks and policies nobody thought of.

The vectors are true for nmstatectl 2.2.41 and later; before that `gr` lost the settings of what a policy removes.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.sunset.kube.plugins.module_utils.network.upstream import upstream_revert
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.network.grammar import networks, policies
from ansible_collections.sunset.kube.tests.unit.network.vector_tables import Vector, every_vector, pruned
from ansible_collections.sunset.kube.tests.unit.steady import STEADY, draw_the_same_everywhere
from lab import tools

State = dict[str, Any]
REFUSED = "refused"
pytestmark = pytest.mark.net  # it is the network's nmstatectl

draw_the_same_everywhere()
EXAMPLES = settings(**STEADY, max_examples=80)


def real_answer(policy: State, pre: State, directory: Path) -> Any:
    program = tools.ensure(["nmstatectl"])["nmstatectl"]
    (directory / "pre.json").write_text(json.dumps(pre))
    command = [program, "gr", "--json", "--current", directory / "pre.json", "-"]
    done = subprocess.run(command, input=json.dumps(policy), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        assert "InvalidArgument" in done.stderr, done.stderr
        return REFUSED
    return pruned(json.loads(done.stdout))


def our_answer(policy: State, pre: State) -> Any:
    try:
        return pruned(upstream_revert(policy, pre))
    except BadOption:
        return REFUSED


@pytest.mark.parametrize("vector", named(every_vector()))
def test_the_real_gr_gives_the_answers_of_the_tables(vector: Vector, tmp_path: Path) -> None:
    expected = REFUSED if vector.gr is None else pruned(vector.gr)
    assert real_answer(vector.policy, vector.pre, tmp_path) == expected
    assert our_answer(vector.policy, vector.pre) == expected


def test_on_random_networks_and_policies_ours_is_the_real_answer(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("gr")
    seen: list[bool] = []

    @EXAMPLES
    @given(networks(), policies())
    def compare(pre: State, policy: State) -> None:
        real = real_answer(policy, pre, directory)
        assert our_answer(policy, pre) == real
        seen.append(real == REFUSED)

    compare()
    assert set(seen) == {True, False}  # both kinds were among them
