# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Examples of the steady profile do not depend on the process that draws them."""

from __future__ import annotations

import os
import subprocess
import sys

# Also prints whether Hypothesis would have found other words and numbers, without which this would prove nothing.
DRAW = """
import hashlib, importlib, sys
importlib.import_module(PACKAGE + ".tests.unit.conftest")
from hypothesis import given, settings, strategies as st
steady = importlib.import_module(PACKAGE + ".tests.unit.steady")
grammar = importlib.import_module(PACKAGE + ".tests.unit.network.grammar")
for module in sys.argv[1:]:
    importlib.import_module(PACKAGE + module)
drawn = []

@given(grammar.networks(), grammar.policies())
def draw_networks(network, policy):
    drawn.append(repr((network, policy)))

@settings(max_examples=200)
@given(st.text(), st.integers(), st.binary(), st.lists(st.integers(0, 9999)))
def draw_values(text, number, raw, numbers):
    drawn.append(repr((text, number, raw, numbers)))

draw_networks()
draw_values()
print(len(drawn), hashlib.sha256("".join(drawn).encode()).hexdigest(), len(steady.found_in_modules()))
"""
PACKAGE = "ansible_collections.sunset.kube"
OUR_MODULES = (".plugins.module_utils.network.three_way", ".plugins.module_utils.teardown.guards")


def drawn(*modules: str, hashes: str) -> list[str]:
    command = [sys.executable, "-c", f"PACKAGE = {PACKAGE!r}\n{DRAW}", *modules]
    surroundings = {**os.environ, "PYTHONHASHSEED": hashes}
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True).stdout.split()


def test_the_same_examples_are_drawn_whatever_is_imported() -> None:
    few, many = drawn(hashes="1"), drawn(*OUR_MODULES, hashes="2")
    assert few[:2] == many[:2]
    assert few[0] == "240"
    assert int(few[2]) < int(many[2])
