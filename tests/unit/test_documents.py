# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML text to documents."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.documents import documents
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, MissingPackage


def test_every_document_of_a_text_is_read() -> None:
    assert list(documents("a: 1\n---\n- 2\n---\n", "file x")) == [{"a": 1}, [2], None]


def test_a_broken_document_is_an_error_that_says_where() -> None:
    with pytest.raises(BadOption) as refused:
        list(documents("a: 1\n---\n{", "file x"))
    assert str(refused.value).startswith("cannot read file x: it is not valid YAML: ")


def test_a_text_that_would_build_python_objects_is_refused() -> None:
    with pytest.raises(BadOption):
        list(documents("!!python/object/apply:os.getcwd []", "file x"))


def nested(levels: int) -> str:
    """Ten times as many values with each level."""
    lines = ["l0: &l0 [" + ", ".join("x" * 10) + "]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


EXPANDING = {"in steps": nested(9), "for ever": "a: &a [*a]", "by their keys": f"{nested(3)}\nb: {{c: *l2, d: *l2}}"}


@pytest.mark.parametrize("text", EXPANDING.values(), ids=list(EXPANDING))
def test_a_text_whose_aliases_stand_for_too_much_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{documents.__module__}._MANY", 2000)
    with pytest.raises(BadOption, match="cannot read file x: its aliases stand for more than 2000 values"):
        list(documents(text, "file x"))


def test_a_text_with_some_aliases_and_one_with_many_values_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert next(documents("a: &a [1, 2]\nb: *a", "file x")) == {"a": [1, 2], "b": [1, 2]}
    monkeypatch.setattr(f"{documents.__module__}._MANY", 10)
    assert next(documents("'*': [" + "a, " * 100 + "]", "file x")) == {"*": ["a"] * 100}


def test_without_the_package_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingPackage, match="Next: install it where this task runs: python3 -m pip install PyYAML"):
        list(documents("a: 1", "file x"))


def test_text_of_a_kind_of_its_own_is_text() -> None:
    class Tagged(str):
        """As Ansible makes them of every text in a playbook."""

    assert list(documents(Tagged("name: grüße"), "manifests")) == [{"name": "grüße"}]
