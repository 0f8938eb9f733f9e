# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a task, read once: every bad field is named, and nothing bad is taken for something else."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.durations import seconds_in
from ansible_collections.sunset.kube.plugins.module_utils.jobs.maintenance import JOB
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.options import (
    ACME,
    MaintenanceOptions,
    parse_maintenance,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named

SHOP = [{"namespace": "shop"}]
DOOR = {"group": "x.example.com", "kind": "Door", "backends": [{"pattern": "/spec/to", "page": {"svc": "$service"}}]}


def parsed(**options: Any) -> MaintenanceOptions:
    """As the module would: through its own argument specification."""
    checked = ArgumentSpecValidator(JOB.arguments, **JOB.rules).validate({"targets": SHOP, **options})
    assert not checked.error_messages, checked.error_messages
    return parse_maintenance(checked.validated_parameters, check_mode=False)


def complaint(**options: Any) -> str:
    with pytest.raises(BadOption) as problem:
        parsed(**options)
    return str(problem.value)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no targets": ({"targets": None}, "targets: say which routes"),
    "an empty list of targets": ({"targets": []}, "targets: say which routes"),
    "an empty list of targets to sweep": ({"targets": [], "state": "swept"}, "targets: say which routes"),
    "an empty target": ({"targets": [{}]}, "targets[0]: is empty"),
    "an empty name": ({"targets": [{"namespace": "shop", "name": ""}]}, "targets[0].name: is empty"),
    "an empty namespace": ({"targets": [{"namespace": " "}]}, "targets[0].namespace: is empty"),
    "an empty list of hosts": ({"targets": [{"namespace": "a", "hosts": []}]}, "targets[0].hosts: is empty"),
    "an empty host": ({"targets": [{"namespace": "a", "hosts": [""]}]}, "targets[0].hosts: is empty"),
    "an empty selector": (
        {"targets": [{"namespace": "a", "label_selector": ""}]},
        "targets[0].label_selector: is empty",
    ),
    "a broken selector": ({"targets": [{"namespace": "a", "label_selector": "a in ("}]}, "label_selector"),
    "a name without a namespace": ({"targets": [{"name": "web"}]}, "targets[0].namespace: is needed"),
    "the second target": ({"targets": [{"namespace": "a"}, {"name": "x"}]}, "targets[1].namespace"),
    "two pages": ({"page": {"html": "<p>", "config_map": "x"}}, "page: give one of html, config_map"),
    "a page and words for the built-in one": ({"page": {"html": "<p>", "title": "x"}}, "title are for the built-in"),
    "an empty file name": ({"page": {"html_file": ""}}, "page.html_file: is empty"),
    "a ConfigMap without a name": ({"page": {"config_map": {"key": "x"}}}, "page.config_map: is a name"),
    "a ConfigMap with something else": ({"page": {"config_map": {"name": "x", "nmae": "y"}}}, "page.config_map: is a"),
    "an empty ConfigMap": ({"page": {"config_map": ""}}, "page.config_map: is a name"),
    "a list as ConfigMap": ({"page": {"config_map": ["x"]}}, "page.config_map: is a name"),
    "refresh in the past": ({"page": {"refresh": -1}}, "page.refresh: must be 0 or more"),
    "retry_after in the past": ({"retry_after": -1}, "retry_after: must be 0 or more"),
    "a negative spread": ({"retry_spread": -5}, "retry_spread: must be 0 or more"),
    "no replicas": ({"workload": {"replicas": 0}}, "workload.replicas: must be 1 or more"),
    "root": ({"workload": {"run_as_user": 0}}, "never runs as root"),
    "a Pod that scales": ({"workload": {"kind": "pod", "autoscaling": {}}}, "a single Pod cannot be scaled"),
    "less than the least": ({"workload": {"autoscaling": {"min": 3, "max": 2}}}, "needs 1 <= min <= max"),
    "an exempt path that is none": ({"exempt_paths": ["acme"]}, "'acme' is no path below /"),
    "everything exempt": ({"exempt_paths": ["/"]}, "'/' is no path below /"),
    "an empty exempt path": ({"exempt_paths": [""]}, "'' is no path below /"),
    "a header without a name": ({"bypass": {"headers": {"": "x"}}}, "bypass.headers:"),
    "a header without a value": ({"bypass": {"headers": {"X-A": ""}}}, "X-A needs a plain name and a value"),
    "a header whose value was forgotten": (
        {"bypass": {"headers": {"X-A": None}}},
        "X-A needs a plain name and a value",
    ),
    "a quote in a value": ({"bypass": {"cookies": {"a": "x`y"}}}, "bypass.cookies: a needs"),
    "no address range": ({"bypass": {"cidrs": ["10.0.0"]}}, "'10.0.0' is no address range"),
    "two ends of a window": (
        {"window": {"end": "2126-01-01T00:00:00Z", "for": "1h"}},
        "window: give either end or for",
    ),
    "no end of a window": (
        {"window": {"job": {"image": "i", "service_account": "s"}}},
        "window: give either end or for",
    ),
    "no time": ({"window": {"end": "tomorrow"}}, "window.end: 'tomorrow' is no time"),
    "no duration": ({"window": {"for": "soon"}}, "window.for: 'soon' is no duration"),
    "a window of nothing": ({"window": {"for": "0m"}}, "window.for: '0m' is no duration"),
    "no URL": ({"verify": {"url": "shop.example.com"}}, "verify.url: is where"),
    "no patience": ({"verify": {"url": "http://a", "timeout": 0}}, "verify.timeout: must be 1 or more"),
    "a linger without end": ({"linger": 601}, "linger: must be 600 or less"),
    "a negative linger": ({"linger": -1}, "linger: must be 0 or more"),
    "a negative age": ({"sweep_after": -1}, "sweep_after: must be 0 or more"),
    "no time at all": ({"timeout": 0}, "timeout: must be 1 or more"),
    "no workers": ({"parallel": 0}, "parallel: must be 1 or more"),
    "an empty plan hash": ({"plan_hash": " "}, "plan_hash: is empty"),
    "a kind without backends": ({"route_kinds": [{**DOOR, "backends": []}]}, "route_kinds[0].backends: say where"),
    "a place outside of the spec": (
        {"route_kinds": [{**DOOR, "backends": [{"pattern": "/metadata/x", "page": "$service"}]}]},
        "route_kinds[0].backends[0].pattern: is a place below /spec",
    ),
    "a page that names no Service": (
        {"route_kinds": [{**DOOR, "backends": [{"pattern": "/spec/to", "page": {"svc": "x"}}]}]},
        "with $service for its name",
    ),
}


@pytest.mark.parametrize(("options", "told"), named(BAD))
def test_a_bad_option_is_named_with_what_it_should_be(options: dict[str, Any], told: str) -> None:
    assert told in complaint(**options)


def test_all_bad_options_are_named_at_once() -> None:
    told = complaint(targets=[{}], linger=-1, window={"for": "soon"}, exempt_paths=["x"])
    assert [part in told for part in ("targets[0]", "linger", "window.for", "exempt_paths")] == [True] * 4


def test_defaults_are_safe() -> None:
    options = parsed()
    assert (options.state, options.strategy, options.gitops) == ("enabled", "swap", "fail")
    assert (options.exempt, options.reopen_endpoints, options.workload.replicas) == ((ACME,), True, 2)
    assert options.answering.status == 503
    assert parsed(targets=None, state="swept").targets == ()


@pytest.mark.parametrize(
    ("given_json", "body"),
    named(
        {
            "text is kept": ('{"a":1}', '{"a":1}'),
            "a hash is written out": ({"a": 1}, '{\n  "a": 1\n}'),
            "a list": ([1], "[\n  1\n]"),
            "nothing": (None, None),
            "a number": (0, "0"),
            "a boolean": (False, "false"),
        }
    ),
)
def test_json_may_be_text_or_data(given_json: Any, body: str | None) -> None:
    assert parsed(page={"json": given_json}).page.source.json == body


def test_a_header_without_a_value_takes_a_built_in_one_away() -> None:
    assert parsed(headers={"Pragma": None, "X-Number": 5}).answering.headers == {"Pragma": "", "X-Number": "5"}


def test_pages_come_from_config_maps_by_name_or_hash() -> None:
    found = [parsed(page=page).page for page in ({"name": "x"}, {"config_map": "y"})]
    assert [one.config_map for one in found] == ["maintenance-page-x", "y"]
    whole = parsed(page={"config_map": {"name": "z", "namespace": "n", "key": "k"}}).page
    assert (whole.config_map, whole.config_map_namespace, whole.config_map_key) == ("z", "n", "k")


def test_a_kind_of_ones_own_stands_beside_the_known_ones() -> None:
    plain = {**DOOR, "backends": [{"pattern": "/spec/to", "page": "$service", "name": ""}]}
    kinds = parsed(route_kinds=[DOOR, plain]).kinds
    assert [(one.group, one.kind) for one in kinds[-2:]] == [("x.example.com", "Door")] * 2
    assert [one.backends[0].name for one in kinds[-2:]] == ["/name", ""]


@pytest.mark.parametrize(
    ("text", "seconds"),
    named(
        {
            "minutes": ("90m", 5400.0),
            "hours and minutes": ("1h30m", 5400.0),
            "all of it": ("1d2h3m4s", 93784.0),
            "a bare number": ("90", 90.0),
            "spaces around": (" 2h ", 7200.0),
            "the wrong order": ("30m1h", None),
            "words": ("an hour", None),
            "nothing": ("", None),
            "negative": ("-5m", None),
        }
    ),
)
def test_durations(text: str, seconds: float | None) -> None:
    assert seconds_in(text) == seconds


@given(st.integers(0, 9), st.integers(0, 99), st.integers(0, 99), st.integers(1, 99))
def test_every_duration_that_is_written_is_read(days: int, hours: int, minutes: int, seconds: int) -> None:
    assert seconds_in(f"{days}d{hours}h{minutes}m{seconds}s") == ((days * 24 + hours) * 60 + minutes) * 60 + seconds
