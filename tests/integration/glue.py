# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's playbook as ansible-operator starts it, with the variables of a watch, one turn after the other."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from integration.collection_playbooks import playing_named
from integration.running import PATIENCE, Play, PlayRun
from lab import modules
from lab.plane.controlplane import ControlPlane

ROOT = Path(__file__).parents[2]
PLAYBOOK = ROOT / "operator" / "playbooks" / "reconcile.yml"
CLEAR_UP = PLAYBOOK.parent / "tasks" / "clear_up.yml"
VERSION = "sunset.dev/v1alpha1"
Body = dict[str, Any]


def definitions() -> list[Body]:
    """Without the rules for values: the operator must also stand what was stored before there were any."""
    files = sorted((ROOT / "operator/config/crd").glob("*s.yaml"))
    return [_without_rules(yaml.load(file.read_text(), Loader=modules.LOADER)) for file in files]


def _without_rules(part: Any) -> Any:
    rules = ("x-kubernetes-validations", "pattern", "maxLength", "minimum", "maximum", "minItems")
    if isinstance(part, list):
        return [_without_rules(one) for one in part]
    if not isinstance(part, dict):
        return part
    if "items" in part and part.get("type") == "array" and part["items"].get("x-kubernetes-preserve-unknown-fields"):
        return {"x-kubernetes-preserve-unknown-fields": True}  # of any type
    return {key: _without_rules(value) for key, value in part.items() if key not in rules}


def request(kind: str, name: str, place: str, /, **spec: Any) -> Body:
    metadata = {"name": name, "namespace": place}
    return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec}


class Glue:
    """Resources of ours, and one turn of the operator after the other."""

    def __init__(self, plane: ControlPlane, directory: Path, home: str) -> None:
        self.api = plane.api
        self.user = plane.admin
        self.home = home
        self._directory = directory
        self._turns = 0

    def turn(self, item: Mapping[str, Any]) -> PlayRun:
        with self.turning(item) as play:
            return play.finish(PATIENCE)

    @contextlib.contextmanager
    def turning(self, item: Mapping[str, Any]) -> Iterator[Play]:
        self._turns += 1
        metadata = item["metadata"]
        variables = {
            "sunset_api_version": item["apiVersion"],
            "sunset_kind": item["kind"],
            "sunset_home": self.home,
            "sunset_in_cluster": "false",
            "ansible_operator_meta": {"name": metadata["name"], "namespace": metadata.get("namespace", "")},
        }
        place = self._directory / f"turn{self._turns}"
        with playing_named(str(PLAYBOOK), place, self.user.kubeconfig, **variables) as play:
            yield play

    def status(self, item: Mapping[str, Any]) -> Body:
        _code, found = self.api.get(self.api.path_of(item))
        return found.get("status") or {}

    def change(self, item: Mapping[str, Any], **spec: Any) -> None:
        code, answer = self.api.patch(self.api.path_of(item), {"spec": spec})
        assert code == 200, answer

    def delete(self, item: Mapping[str, Any]) -> PlayRun:
        """Deleted by somebody, held by its finalizer for one turn, and let go after it, as ansible-operator does it."""
        path = self.api.path_of(item)
        assert self.api.patch(path, {"metadata": {"finalizers": ["sunset.dev/lab"]}})[0] == 200
        assert self.api.delete(path)[0] == 200
        run = self.turn(item)
        self.api.patch(path, {"metadata": {"finalizers": None}})
        return run


def conditions(status: Mapping[str, Any]) -> dict[str, str]:
    """Those that are true, with their reasons."""
    return {one["type"]: one["reason"] for one in status.get("conditions", ()) if one["status"] == "True"}


def why(status: Mapping[str, Any], type_: str = "Blocked") -> str:
    return next(one["message"] for one in status["conditions"] if one["type"] == type_)


def requeued(run: PlayRun) -> str:
    """After how long the operator comes back; empty for never."""
    return next((result["period"] for result in run.results if "period" in result), "")


def did_nothing(run: PlayRun) -> bool:
    """Whether it only looked. What it has seen is in no result: headers and manifests may be secrets."""
    return bool(re.search(r"TASK \[Do it\] \*+\nskipping:", run.stdout))
