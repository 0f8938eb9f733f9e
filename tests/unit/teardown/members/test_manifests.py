# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members that manifests name: files, directories, globs and inline documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.manifests import manifest_membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.sources import manifest_sources
from ansible_collections.sunset.kube.tests.unit.fakes import named

INLINE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inline"}}


def text(*names: str) -> str:
    return "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n" for name in names)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    for name in ("b.yaml", "a.yml", "deep/c.yaml"):
        (tmp_path / name).write_text(text(name.rpartition("/")[2][0]))
    (tmp_path / "deep" / "d.json").write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}}')
    (tmp_path / "notes.txt").write_text("no: manifest")
    return tmp_path


def names(sources: list[Any]) -> list[str]:
    return [claim.name for claim in manifest_membership(sources, "shop").claims]


PATHS: dict[str, tuple[str, list[str]]] = {
    "a file": ("b.yaml", ["b"]),
    "a file with another ending, when it is named": ("notes.txt", []),
    "a directory, with all below it": (".", ["a", "b", "c", "d"]),
    "a glob": ("*.y*ml", ["a", "b"]),
    "a deep glob": ("**/*.yaml", ["b", "c"]),
}


@pytest.mark.parametrize(("path", "expected"), named(PATHS))
def test_paths_are_files_directories_or_globs(folder: Path, path: str, expected: list[str]) -> None:
    assert names([str(folder / path)]) == expected


def test_inline_documents_are_mappings_or_text_and_all_sources_add_up(folder: Path) -> None:
    assert names([INLINE, text("x", "y"), str(folder / "b.yaml")]) == ["inline", "x", "y", "b"]


def test_claims_say_where_they_were_read(folder: Path) -> None:
    file = str(folder / "b.yaml")
    found = manifest_membership([INLINE, file], "shop")
    assert [claim.source for claim in found.claims] == ["members.manifests[0]", file]
    assert found.default_namespace == "shop"


def test_an_object_without_a_name_is_a_warning() -> None:
    found = manifest_membership([{"kind": "Job", "metadata": {"generateName": "x-"}}, "---\n---\n"], "shop")
    assert found.warnings == ["members.manifests[0] holds an object without a name; it cannot be found again"]


@pytest.mark.parametrize("path", ["missing.yaml", "*.none", "empty"])
def test_a_path_without_manifests_is_an_error_and_not_nothing(folder: Path, path: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(BadOption, match=r"members\.manifests\[0\]: no manifest at"):
        names([str(folder / path)])


def test_broken_yaml_is_an_error_that_names_the_file(folder: Path) -> None:
    (folder / "b.yaml").write_text("a: [")
    with pytest.raises(BadOption, match=r"cannot read .*b\.yaml"):
        names([str(folder)])


def test_a_file_that_is_no_text_is_an_error_that_names_the_file(folder: Path) -> None:
    (folder / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadOption, match=r"b\.yaml"):
        names([str(folder / "b.yaml")])


def test_a_file_that_may_not_be_read_is_an_error_that_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_args: Any, **_more: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", closed)
    with pytest.raises(BadOption, match=r"b\.yaml"):
        names([str(folder / "b.yaml")])


@pytest.mark.parametrize("source", [5, None, True, ["a"]], ids=str)
def test_a_source_that_is_none_of_these_is_an_error(source: Any) -> None:
    with pytest.raises(BadOption, match=r"members\.manifests\[1\]: must be a path, text or a mapping"):
        names([INLINE, source])


SOURCES: dict[str, tuple[Any, tuple[list[Any], str]]] = {
    "a list": (["a", "b"], (["a", "b"], "default")),
    "one path": ("a", (["a"], "default")),
    "one document": (INLINE, ([INLINE], "default")),
    "with a namespace": ({"sources": ["a"], "namespace": "shop"}, (["a"], "shop")),
    "with a null namespace": ({"sources": "a", "namespace": None}, (["a"], "default")),
    "a document that has sources": ({"kind": "X", "sources": []}, ([{"kind": "X", "sources": []}], "default")),
}


@pytest.mark.parametrize(("value", "expected"), named(SOURCES))
def test_the_option_is_a_list_one_source_or_both_with_a_namespace(value: Any, expected: Any) -> None:
    assert manifest_sources(value) == expected
