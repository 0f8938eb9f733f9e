# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report in a real browser: by day and by night, on a phone and on a wide screen, with names nobody can break."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_html import html
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_timeline import stretches_of
from integration.browser import measured

PHONE, WIDE = 320, 1200
LONG = "a-name-as-long-as-kubernetes-allows-" * 7
OBJECT = {"api_version": "v1", "kind": "Domain", "namespace": "shop", "name": LONG, "uid": "u1"}
HELD = [{"finalizer": f"{LONG}.example.com/finalizer", "reason": LONG, "suggestion": "start its controller"}]
RESULT: dict[str, Any] = {
    "failed": True,
    "msg": f"some objects are still there: {LONG}",
    "plan_hash": "0e58f896d56daa9d",
    "steps": [{"name": LONG, "rank": 1, "total": 1, "deleted": 0, "released": 0, "kept": 0, "seconds": 600.123}],
    "survivors": [{**OBJECT, "deleting_for": 600, "blocked_by": HELD}],
    "kept": [{"object": OBJECT, "verdict": "protected", "reason": LONG}],
    "requests": {"delete": 12, "watch": 1},
}
ROWS = [
    {"time": "2026-01-01T00:00:00+00:00", "event": "stepbegan", "step": LONG, "rank": 1, "total": 1},
    {"time": "2026-01-01T00:00:01+00:00", "event": "did", "action": "delete", "object": OBJECT, "effect": LONG},
]
GRAPH = {
    "nodes": [
        {"sort": "namespace", "title": "Namespace shop", "notes": [], "state": ""},
        {"sort": "object", "title": f"Domain {LONG}", "notes": ["in " + "W" * 23, "m" * 40], "state": ""},
        {
            "sort": "object",
            "title": "12 ConfigMap 字字字字字字字字字字字字字字字字字字字字字",
            "notes": ["a, b, c and 9 more", "in shop"],
            "state": "",
        },
        {"sort": "controller", "title": "Deployment shop/shop-operator", "notes": ["gone", LONG], "state": "gone"},
        {"sort": "obstacle", "title": "Webhook guard", "notes": ["nobody answers"], "state": "gone"},
    ],
    "arcs": [
        {"waits": waits, "on": on, "in_circle": on != 4, "cut": f"delete {LONG}" if on == 3 else "", "cost": ""}
        for waits, on in ((0, 1), (0, 2), (1, 3), (2, 4), (3, 0))
    ],
    "left_out": 3,
}
PLAN = {"steps": [{"name": LONG, "objects": [{"object": OBJECT, "verdict": "delete", "reason": LONG}]}]}


@pytest.mark.parametrize("dark", [False, True], ids=["day", "night"])
def test_nothing_sticks_out_and_nothing_is_too_small_or_fetched(dark: bool) -> None:
    page = page_of(RESULT, "sunset.kube.ranked_delete", f"https://{LONG}:6443", "2026-01-01 00:00:00 UTC", "me")
    text = html(page, stretches_of(ROWS), PLAN, GRAPH).replace("<details", "<details open")
    grounds = set()
    for seen, widest in zip(measured(text, PHONE, WIDE, dark=dark), (PHONE, WIDE), strict=True):
        [width] = seen["graphs"]  # one of the two pictures, as wide as there is room
        assert 240 < width < widest
        assert seen["spilt"] == []
        assert seen["dark"] is dark
        assert (seen["overflow"] <= 0, seen["cut"]) == (True, False)  # a scroll bar makes it less
        assert seen["smallest"] >= 14
        assert seen["picture"] == 8
        assert seen["requests"] == []
        grounds.add(seen["ground"])
    assert grounds == {"rgb(20, 23, 27)" if dark else "rgb(246, 247, 249)"}
