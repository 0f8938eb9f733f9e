# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody has seen under a hash, from the folders that earlier runs left behind: if they are ours, and true."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.bundle import read_bundle
from ansible_collections.sunset.kube.plugins.module_utils.evidence.earlier_plans import plan_under
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms
from ansible_collections.sunset.kube.tests.unit.fakes import named

TERMS = Terms({"": "kube-system 7c1f"}, {"force": True})


def left(directory: Path, run: str, plan: Any) -> Path:
    (directory / run).mkdir(mode=0o700)
    file = directory / run / "plan.json"
    file.write_text(plan if isinstance(plan, str) else json.dumps(plan))
    file.chmod(0o600)
    return file


def step(name: str, *uids: str, released: str = "") -> list[Any]:
    waves = [[["v1", "ConfigMap", "shop", f"n-{uid}", uid]] for uid in uids]
    return [name, False, {}, waves, [["v1", "Domain", "shop", "web", released, "f/x"]] if released else []]


def plan(*uids: str, released: str = "", detached: str = "", terms: Terms = TERMS) -> dict[str, Any]:
    """As an uninstall with a drain leaves it."""
    without_owner = [[[detached, "owner"]]] if detached else []
    drain, deletion = [step("drain", released=released)], [[*step("namespaced", *uids), *without_owner]]
    hashed = [["ngrok", "Retain", terms.hash_of(drain)], terms.hash_of(deletion)]
    parts = [{"terms": terms.as_dict(), "hashed": part} for part in (drain, deletion)]
    return {"plan_hash": terms.hash_of(hashed), "terms": terms.as_dict(), "hashed": hashed, "parts": parts}


def test_what_the_plan_with_this_hash_says_and_no_other(tmp_path: Path) -> None:
    first, second = plan("u1", "u2", released="u3", detached="u4"), plan("u9", terms=Terms())
    left(tmp_path, "1-uninstall", first)
    left(tmp_path, "2-uninstall", second)
    (tmp_path / "latest").symlink_to("2-uninstall")
    seen, why = plan_under(first["plan_hash"], str(tmp_path))
    assert (seen.deleted, seen.released, seen.detached) == ({"u1", "u2"}, {"u3"}, {"u4"})
    assert (seen.terms, seen.policies, why) == (TERMS.digest, {"ngrok": "Retain"}, "")
    assert plan_under(second["plan_hash"], str(tmp_path))[0].terms == Terms().digest


def forged(plan: dict[str, Any], place: list[Any], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(plan)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


FORGED: dict[str, tuple[list[Any], Any]] = {
    "another object": (["parts", 1, "hashed", 0, 3, 0, 0, 4], "u9"),
    "other objects": (["parts", 1, "hashed", 0, 3, 0], [["v1", "Node", "", "x", "u9"]]),
    "a release": (["parts", 0, "hashed", 0, 4, 0, 5], "other/finalizer"),
    "another cluster": (["terms", "clusters", ""], "kube-system 99"),
    "an option of a part": (["parts", 1, "terms", "options", "force"], False),
    "another policy": (["hashed", 0, 1], "Delete"),
    "another hash": (["hashed", 1], "a" * 16),
    "no parts": (["parts"], []),
    "no content": (["hashed"], None),
}


@pytest.mark.parametrize(("place", "value"), named(FORGED))
def test_a_plan_whose_content_does_not_give_its_hash_is_no_consent(
    tmp_path: Path, place: list[Any], value: Any
) -> None:
    true = plan("u1", "u2", released="u3")
    file = left(tmp_path, "1-uninstall", forged(true, place, value))
    seen, why = plan_under(true["plan_hash"], str(tmp_path))
    assert not seen
    assert why == f"{file} is no consent to plan {true['plan_hash']}: its content does not give this hash"


def _of_another_user(file: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(file.parent, 4712, -1)


def _through_a_link(file: Path) -> None:
    elsewhere = file.rename(file.parent.parent / "elsewhere.json")
    file.symlink_to(elsewhere)


NOT_OURS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a folder that others may write to": (
        lambda file: file.parent.chmod(0o777),
        "other users may write to it (mode 0777)",
    ),
    "a file that the group may write to": (
        lambda file: file.chmod(0o660),
        "other users may write to it (mode 0660)",
    ),
    "another user's folder": (_of_another_user, "it belongs to another user (uid 4712)"),
    "a link": (_through_a_link, "it is a symbolic link"),
}


@pytest.mark.parametrize(("spoil", "said"), named(NOT_OURS))
def test_what_others_may_have_written_is_neither_consent_nor_a_bundle(
    tmp_path: Path,
    spoil: Callable[[Path], Any],
    said: str,
) -> None:
    true = plan("u1")
    file = left(tmp_path, "1-uninstall", true)
    (file.parent / "undo").mkdir()
    assert plan_under(true["plan_hash"], str(tmp_path))[0]
    assert read_bundle(str(file.parent), None).is_empty
    spoil(file)
    seen, why = plan_under(true["plan_hash"], str(tmp_path))
    assert not seen
    assert said in why
    with pytest.raises(Refused, match="make it yours alone") as refused:
        read_bundle(str(file.parent), None)
    assert refused.value.why == said


def test_what_is_no_plan_is_passed_over(tmp_path: Path) -> None:
    for place, text in enumerate(("{", "[]", '{"plan_hash": "aaa"}', "null", '"aaa"')):
        left(tmp_path, f"{place}-broken", text)
    assert not plan_under("aaa", str(tmp_path))[0]


def test_without_directory_or_hash_nothing_was_seen(tmp_path: Path) -> None:
    true = plan("u1")
    left(tmp_path, "1-uninstall", true)
    for given in ((true["plan_hash"], None), (None, str(tmp_path)), (true["plan_hash"], str(tmp_path / "nowhere"))):
        assert plan_under(*given)[0].size == 0
