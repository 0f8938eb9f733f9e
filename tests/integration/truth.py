# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the products of our profiles are in truth: one pinned release of each, read from its own files.

Definitions, manifests and Go source come from the Go module proxy, and nothing of them is kept here. A new release is a
new version and checksum below; whatever it has that a profile does not know makes a test fail.

Not as the product has it: conversion webhooks of definitions are left out, because no server answers them, and lines of
chart templates in Longhorn's definitions. Descriptions of fields are left out, too: the API server works on them long.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from integration.stage import Body
from lab import modules, tools

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
KUBERNETES = f"{tools.KUBERNETES_MAJOR}.{tools.KUBERNETES_MINOR}.{tools.KUBERNETES_PATCH}"

# A constant or variable for a finalizer, its value in one text or behind another constant.
_CONSTANT = re.compile(r'\b\w*[Ff]inalizer\w*\s*(?:string\s*)?=\s*(?:([\w.]+)\s*\+\s*)?"([^"\s]+)"')
# Places that set finalizers.
_WRITE = re.compile(
    r"\bAddFinalizer\w*\(|\bNewAPIFinalizer\(|\bWithFinalizers\(|FinalizerPatchOpIfNeeded\("
    r"|\bSetFinalizers\((?!nil)|\bFinalizers:\s+\[\]string\{\w|\.Finalizers = append\("
)
_NOT_THE_PRODUCT = re.compile(
    r"(^|/)(tests?|e2e|fake|mocks?|applyconfigurations?|hack)/|zz_generated|\.pb\.go$|_test\.go$"
)


@dataclass(frozen=True)
class Module:
    """A Go module, pinned."""

    path: str
    version: str
    checksum: str

    @property
    def directory(self) -> Path:
        return modules.directory(self.path, self.version, self.checksum)

    def documents(self, pattern: str) -> Iterator[Body]:
        """YAML of the files that fit, without what only a chart would fill in."""
        for file in modules.files(self.directory, pattern):
            yield from modules.parsed(re.sub(r"(?m)^.*{{.*}}.*\n", "", file.read_text(encoding="utf-8")))

    def sources(self) -> Iterator[tuple[str, str]]:
        """Path and text of the Go files of the product itself."""
        for file in sorted(self.directory.rglob("*.go")):
            path = file.relative_to(self.directory).as_posix()
            if not _NOT_THE_PRODUCT.search(path):
                yield path, file.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Truth:
    """A product at one release: where its files say what, and what they cannot say."""

    profile: str
    release: str
    modules: tuple[Module, ...]  # the first one is the product's own; manifests and charts are in it
    definitions: str  # files of any of its modules
    # Files that set finalizers, and on which kinds; a group in the pattern is the kind in small letters.
    writers: Mapping[str, tuple[str, ...]]
    controllers: tuple[str, ...]  # workloads that remove the finalizers
    manifests: str = ""  # files with the workloads
    chart: str = ""  # or a chart
    labels: str = ""  # transformers of kustomize, each of which labels the workload of that component
    cleaners: Mapping[str, str] = field(default_factory=dict)  # kind → the one controller that takes finalizers off it
    leases: Mapping[str, str] = field(default_factory=dict)  # name of a controller's Lease → where its source says so
    constants: str = ""  # how finalizers are spelled that no constant names: a pattern with one group
    values: Mapping[str, str] = field(default_factory=dict)  # constants that are in none of these modules
    by_kind: str = ""  # the finalizer of each kind, made from its name in small letters
    elsewhere: frozenset[str] = frozenset()  # finalizers of the profile that these files do not spell out
    bare: frozenset[str] = frozenset()  # groups of its definitions that are not in the profile
    unheld: frozenset[str] = frozenset()  # kinds of the profile that this release puts no finalizer on

    def __str__(self) -> str:
        return self.profile

    @functools.cached_property
    def crds(self) -> list[Body]:
        """Its definitions. Objects stay as they were written: no server converts them."""
        found = {}
        for module in self.modules:
            if list(module.directory.glob(self.definitions)):
                for one in module.documents(self.definitions):
                    if one["kind"] == "CustomResourceDefinition":
                        one["spec"].pop("conversion", None)
                        found[one["metadata"]["name"]] = _undescribed(one)
        return list(found.values())

    @functools.cached_property
    def kinds(self) -> dict[tuple[str, str], Body]:
        """(group, kind) → definition."""
        return {(one["spec"]["group"], one["spec"]["names"]["kind"]): one for one in self.crds}

    @functools.cached_property
    def sources(self) -> dict[str, str]:
        return {f"{module.path}/{path}": text for module in self.modules for path, text in module.sources()}

    def finalizers(self) -> set[str]:
        """Names that its source declares."""
        found = set()
        for text in self.sources.values():
            for constant, value in _CONSTANT.findall(text):
                found.add(self._value(constant) + value)
            if self.constants:
                found.update(re.findall(self.constants, text))
        named = {name for name in found if "." in name and not name.startswith(("/", "."))}
        own = {kind for _group, kind in self.kinds} & self.held() if self.by_kind else set()
        return named | {self.by_kind.format(kind.lower()) for kind in own}

    def _value(self, constant: str) -> str:
        name = constant.rpartition(".")[2]
        if not name or name in self.values:
            return self.values.get(name, "")
        pattern = re.compile(rf'\b{name}\s*(?:string\s*)?=\s*"([^"]+)"')
        found = {value for text in self.sources.values() for value in pattern.findall(text)}
        assert len(found) == 1, f"{constant} of {self.profile} is one of {sorted(found)}"
        return found.pop()

    @functools.cached_property
    def writes(self) -> dict[str, tuple[str, ...] | None]:
        """Files that set finalizers → the kinds; None for a file that nobody knows."""
        return {path: self._kinds_of(path) for path, text in self.sources.items() if _WRITE.search(text)}

    def held(self) -> set[str]:
        """Kinds that carry finalizers in this release."""
        return {kind for kinds in self.writes.values() for kind in kinds or ()}

    def _kinds_of(self, path: str) -> tuple[str, ...] | None:
        spelling = {kind.lower(): kind for _group, kind in self.kinds}
        for pattern, kinds in self.writers.items():
            if match := re.search(rf"{pattern}$", path):
                named = match.groups() and spelling.get(match[1])
                return (named,) if named else kinds if not match.groups() else None
        return None

    @functools.cached_property
    def workloads(self) -> list[Body]:
        """Its Deployments and the like, as an installation has them."""
        found: list[Body] = []
        if self.chart:
            found = [*modules.parsed(_rendered(self.modules[0].directory / self.chart, self.profile))]
        elif self.manifests:
            found = [
                one
                for module in self.modules
                if list(module.directory.glob(self.manifests))
                for one in module.documents(self.manifests)
            ]
        labels = {}
        for transformer in self.modules[0].documents(self.labels) if self.labels else ():
            labels[transformer["labels"]["app.kubernetes.io/component"]] = transformer["labels"]
        for one in found:
            more = labels.get(one["metadata"]["name"], {})
            one["metadata"]["labels"] = {**(one["metadata"].get("labels") or {}), **more}
        return [one for one in found if one["kind"] in WORKLOADS]

    def cleaner_of(self, kind: str) -> str:
        """The controller that takes finalizers off this kind, where each has a module of its own or we had to look."""
        files = [path for path, kinds in self.writes.items() if kind in (kinds or ())]
        modules_of = [one for one in self.controllers if any(f"/{one}/" in path for path in files)]
        return modules_of[0] if len(self.controllers) > 1 and modules_of else self.cleaners.get(kind, "")

    def says(self, text: str) -> bool:
        """Whether its source or its chart has this text."""
        charts = [*self.modules[0].directory.glob(f"{self.chart}/**/*.yaml")] if self.chart else []
        return any(text in one for one in (*self.sources.values(), *(file.read_text() for file in charts)))


def _undescribed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _undescribed(one) for key, one in value.items() if not (key == "description" and isinstance(one, str))
        }
    return [*map(_undescribed, value)] if isinstance(value, list) else value


def _rendered(chart: Path, name: str) -> str:
    command = [str(tools.ensure(["helm"])["helm"]), "template", name, str(chart), "--kube-version", KUBERNETES]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
