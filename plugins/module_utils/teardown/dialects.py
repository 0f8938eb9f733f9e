# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Three ways to write a deletion order, read into one list of steps. Every bad field is reported with its path.

Room: teardown (pure). A: `deletion_groups` with `predefinedResourceGroup: <name>` and `resources`. C: the same list as
Landscaper ships it, with `predefinedResourceGroup: {type}` and `customResourceGroup`. B: `deletion_order_rules` with
ranks. A and C replace the default order, B adds to it. Keys are taken as written there, in snake_case, or with dashes.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from ..labels import parse_selector
from ..problems import BadFields, BadOption
from .steps import DEFAULT_STEPS, Narrowing, Standard, StepRule, TypeRule

STANDARD_RANKS = {step.rank: step for step in DEFAULT_STEPS}
_NAMES = {step.standard: step.name for step in DEFAULT_STEPS} | {Standard.EMPTY: "nothing"}

# Keys a mapping may have, by what it is. Written here as the seeds write them.
_NARROWING_KEYS = ("names", "namespaces", "labelSelector")
_STEP_KEYS = ("exclude", "timeout", "beforeDelete", "name", *_NARROWING_KEYS)
GROUP_KEYS = ("predefinedResourceGroup", "resources", "customResourceGroup", "forceDelete", "targetName", *_STEP_KEYS)
RULE_KEYS = ("deletionRank", "types", "forceDelete", "skip", "targetName", *_STEP_KEYS)
PREDEFINED_KEYS = ("type", "forceDelete")
CUSTOM_KEYS = ("resources", "forceDelete", "deleteAllResources", "targetName")
TYPE_KEYS = ("group", "version", "kind", "apiVersion", "selector", *_NARROWING_KEYS)
SELECTOR_KEYS = ("all",)
FORCE_KEYS = ("enabled",)
BEFORE_KEYS = ("annotate", "patch", "scale")


def read_order(
    groups: Sequence[Any] | None,
    rules: Sequence[Any] | None,
    *,
    groups_option: str = "deletion_groups",
    bad: BadFields | None = None,
) -> tuple[StepRule, ...]:
    """The steps of a task, in order. Neither option given: the default order.

    Complains to `bad` if given one, and raises by itself otherwise.
    """
    complaints = BadFields() if bad is None else bad
    steps: tuple[StepRule, ...] = DEFAULT_STEPS
    if groups and rules:
        complaints.add("deletion_order_rules", f"cannot stand together with {groups_option}")
    elif groups:
        steps = tuple(_Reader(complaints).group(item, f"{groups_option}[{i}]", i) for i, item in enumerate(groups))
    elif rules:
        steps = _ranked(rules, complaints)
    if bad is None:
        complaints.raise_if_any()
    return steps


def _ranked(rules: Sequence[Any], bad: BadFields) -> tuple[StepRule, ...]:
    """Dialect B: sorted by rank, with the standard ranks added where they are missing."""
    by_rank: dict[int, StepRule] = {}
    for i, item in enumerate(rules):
        path = f"deletion_order_rules[{i}]"
        step = _Reader(bad).rule(item, path)
        if step is None:
            continue
        if step.rank in by_rank:
            bad.add(f"{path}.deletionRank", f"{step.rank} is used twice; every rule needs a rank of its own")
        by_rank[step.rank] = step
    for rank, step in STANDARD_RANKS.items():
        by_rank.setdefault(rank, step)
    return tuple(by_rank[rank] for rank in sorted(by_rank) if not by_rank[rank].skip)


class _Reader:
    """Reads one step of either kind; complains to `bad` and goes on."""

    def __init__(self, bad: BadFields) -> None:
        self._bad = bad

    def group(self, item: Any, path: str, place: int) -> StepRule:
        fields = self._fields(item, GROUP_KEYS, path)
        predefined, custom = fields.get("predefinedResourceGroup"), fields.get("customResourceGroup")
        resources = fields.get("resources")
        given = [value for value in (predefined, custom, resources) if value is not None]
        if len(given) != 1:
            self._bad.add(path, "needs exactly one of predefinedResourceGroup, resources and customResourceGroup")
            return StepRule(f"step {place + 1}", place + 1, path)
        common = self._common(fields, path)
        if predefined is not None:
            step = self._predefined(predefined, path, place)
        elif custom is not None:
            step = self._custom(custom, path, place)
        else:
            step = self._typed(resources, f"{path}.resources", path, place + 1)
        force = step.force or self._force(fields.get("forceDelete"), f"{path}.forceDelete")
        context = step.context or self._text(fields.get("targetName"), f"{path}.targetName")
        step = dataclasses.replace(step, force=force, context=context, **common)
        self._check_context(step)
        return step

    def rule(self, item: Any, path: str) -> StepRule | None:
        """A step of dialect B; None without a usable rank, after all its other mistakes were told as well."""
        fields = self._fields(item, RULE_KEYS, path)
        rank = fields.get("deletionRank")
        ranked = isinstance(rank, int) and not isinstance(rank, bool)
        if not ranked:
            self._bad.add(f"{path}.deletionRank", f"needs a whole number, not {rank!r}")
        step = self._standard_rank(fields, path, rank) if rank in STANDARD_RANKS else self._rank(fields, path, rank)
        step = dataclasses.replace(
            step,
            force=self._force(fields.get("forceDelete"), f"{path}.forceDelete"),
            context=self._text(fields.get("targetName"), f"{path}.targetName"),
            **self._common(fields, path),
        )
        self._check_context(step)
        return step if ranked else None

    def _standard_rank(self, fields: dict[str, Any], path: str, rank: Any) -> StepRule:
        if fields.get("types") is not None:
            self._bad.add(f"{path}.types", "is not allowed on the ranks 100, 200 and 300")
        skip = self._flag(fields.get("skip"), f"{path}.skip")
        return dataclasses.replace(STANDARD_RANKS[rank], path=path, skip=skip)

    def _rank(self, fields: dict[str, Any], path: str, rank: Any) -> StepRule:
        if self._flag(fields.get("skip"), f"{path}.skip"):
            self._bad.add(f"{path}.skip", "is only allowed on the ranks 100, 200 and 300; leave this rule out instead")
        return self._typed(fields.get("types"), f"{path}.types", path, rank if isinstance(rank, int) else 0)

    def _predefined(self, value: Any, step_path: str, place: int) -> StepRule:
        path = f"{step_path}.predefinedResourceGroup"
        force = False
        if isinstance(value, Mapping):
            fields = self._fields(value, PREDEFINED_KEYS, path)
            force = self._force(fields.get("forceDelete"), f"{path}.forceDelete")
            value, path = fields.get("type"), f"{path}.type"
        known = {standard.value: standard for standard in Standard}
        if not isinstance(value, str) or value not in known:
            self._bad.add(path, f"must be one of {', '.join(known)}, not {value!r}")
            return StepRule("", place + 1, step_path)
        standard = known[value]
        return StepRule(_NAMES[standard], place + 1, step_path, standard=standard, force=force)

    def _custom(self, value: Any, path: str, place: int) -> StepRule:
        inner = f"{path}.customResourceGroup"
        fields = self._fields(value, CUSTOM_KEYS, inner)
        step = self._typed(fields.get("resources"), f"{inner}.resources", path, place + 1)
        if self._flag(fields.get("deleteAllResources"), f"{inner}.deleteAllResources"):
            everything = tuple(dataclasses.replace(rule, everything=True) for rule in step.types)
            step = dataclasses.replace(step, types=everything)
        return dataclasses.replace(
            step,
            force=self._force(fields.get("forceDelete"), f"{inner}.forceDelete"),
            context=self._text(fields.get("targetName"), f"{inner}.targetName"),
        )

    def _typed(self, value: Any, path: str, step_path: str, rank: int) -> StepRule:
        types = self._types(value, path)
        if not types:
            self._bad.add(path, "needs a list of at least one type")
        name = ", ".join(dict.fromkeys(rule.kind for rule in types)) or f"step {rank}"
        return StepRule(name, rank, step_path, types=types)

    def _types(self, value: Any, path: str) -> tuple[TypeRule, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            self._bad.add(path, f"must be a list, not {type(value).__name__}")
            return ()
        return tuple(self._type(item, f"{path}[{i}]") for i, item in enumerate(value))

    def _type(self, item: Any, path: str) -> TypeRule:
        fields = self._fields(item, TYPE_KEYS, path)
        kind = self._text(fields.get("kind"), f"{path}.kind")
        if not kind:
            self._bad.add(f"{path}.kind", "is missing")
        group, version = self._group_version(fields, path)
        selector = fields.get("selector")
        chosen = self._fields(selector, SELECTOR_KEYS, f"{path}.selector") if selector is not None else {}
        return TypeRule(
            path,
            kind or "",
            group,
            version,
            everything=self._flag(chosen.get("all"), f"{path}.selector.all"),
            narrowing=self._narrowing(fields, path),
        )

    def _group_version(self, fields: dict[str, Any], path: str) -> tuple[str | None, str | None]:
        api_version = self._text(fields.get("apiVersion"), f"{path}.apiVersion")
        if api_version:
            if "group" in fields or "version" in fields:
                self._bad.add(path, "give either apiVersion, or group and version")
            core_or_group, _slash, api = api_version.rpartition("/")
            return core_or_group, api
        version = self._text(fields.get("version"), f"{path}.version")
        # An empty or null group is the core group; so is a missing one beside a version. Without both, any group.
        if "group" in fields:
            return self._text(fields["group"], f"{path}.group") or "", version
        return ("", version) if version else (None, None)

    def _common(self, fields: dict[str, Any], path: str) -> dict[str, Any]:
        """What every step may have in addition. Only what is given, so that a standard step keeps its name."""
        common: dict[str, Any] = {
            "narrowing": self._narrowing(fields, path),
            "exclude": self._types(fields.get("exclude"), f"{path}.exclude"),
            "before_delete": self._before(fields.get("beforeDelete"), f"{path}.beforeDelete"),
        }
        name = self._text(fields.get("name"), f"{path}.name")
        if name:
            common["name"] = name
        timeout = fields.get("timeout")
        if timeout is not None:
            if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not timeout > 0:
                self._bad.add(f"{path}.timeout", f"needs seconds, more than 0, not {timeout!r}")
            else:
                common["timeout"] = float(timeout)
        return common

    def _narrowing(self, fields: dict[str, Any], path: str) -> Narrowing:
        self._refuse_empty_lists(fields, path)
        selector = self._text(fields.get("labelSelector"), f"{path}.labelSelector") or ""
        try:
            parse_selector(selector, f"{path}.labelSelector")
        except BadOption as problem:
            self._bad.complain(problem.why)
        return Narrowing(
            names=self._texts(fields.get("names"), f"{path}.names"),
            namespaces=self._texts(fields.get("namespaces"), f"{path}.namespaces"),
            label_selector=selector,
        )

    def _before(self, value: Any, path: str) -> dict[str, Any]:
        return self._fields(value, BEFORE_KEYS, path) if value is not None else {}

    def _refuse_empty_lists(self, fields: dict[str, Any], path: str) -> None:
        """A list that came out empty must not mean "all of them"."""
        for key in ("names", "namespaces"):
            if fields.get(key) == []:
                self._bad.add(f"{path}.{key}", "is empty; leave it out or give a value")

    def _check_context(self, step: StepRule) -> None:
        if step.context and not (step.types and all(rule.everything for rule in step.types)):
            self._bad.add(
                f"{step.path}.targetName", "needs selector.all or deleteAllResources: members live in this cluster"
            )

    def _force(self, value: Any, path: str) -> bool:
        if isinstance(value, Mapping):
            return self._flag(self._fields(value, FORCE_KEYS, path).get("enabled"), f"{path}.enabled")
        return self._flag(value, path)

    def _flag(self, value: Any, path: str) -> bool:
        if value is None or isinstance(value, bool):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no"):
            return value.lower() in ("true", "yes")
        self._bad.add(path, f"must be true or false, not {value!r}")
        return False

    def _text(self, value: Any, path: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        self._bad.add(path, f"must be text, not {value!r}")
        return None

    def _texts(self, value: Any, path: str) -> tuple[str, ...]:
        if value is None:
            return ()
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return tuple(value)
        self._bad.add(path, "must be a list of texts")
        return ()

    def _fields(self, item: Any, allowed: Sequence[str], path: str) -> dict[str, Any]:
        """The mapping's entries under our spelling of its keys; unknown ones are named with the nearest known."""
        if not isinstance(item, Mapping):
            self._bad.add(path, f"must be a mapping, not {type(item).__name__}")
            return {}
        spelled = {_plain(key): key for key in allowed}
        fields: dict[str, Any] = {}
        for key, value in item.items():
            known = spelled.get(_plain(key))
            if known is None:
                near = difflib.get_close_matches(_plain(key), spelled, n=1)
                hint = f"did you mean {spelled[near[0]]}?" if near else f"known are {', '.join(allowed)}"
                self._bad.add(f"{path}.{key}", f"is not known here; {hint}")
            elif known in fields:
                self._bad.add(f"{path}.{key}", "is given twice, in two spellings")
            else:
                fields[known] = value
        return fields


def _plain(key: Any) -> str:
    """`force-delete`, `forceDelete` and `force_delete` are one key."""
    return str(key).replace("-", "").replace("_", "").lower()
