# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From where a playbook takes its connection."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.lookup import connection_variables
from ansible_collections.sunset.kube.plugins.lookup.connection_variables import LookupModule, connection_given
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION
from ansible_collections.sunset.kube.plugins.plugin_utils.connection_names import CONNECTION_NAMES
from ansible_collections.sunset.kube.tests.unit.fakes import named


def variables(inventory: dict[str, Any], **of_the_play: Any) -> dict[str, Any]:
    return {
        **inventory,
        **of_the_play,
        "inventory_hostname": "localhost",
        "hostvars": {"localhost": inventory},
    }


TAKEN: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]] = {
    "on the command line": ({}, {}, {"context": "lab", "api_key": "k"}, ["context", "api_key"]),
    "of import_playbook": ({}, {"context": "lab", "proxy": "p"}, {}, ["context", "proxy"]),
    "what chooses a cluster, of the inventory": ({"kubeconfig": "k", "host": "h"}, {}, {}, ["kubeconfig", "host"]),
    "what others may mean, of the inventory": ({"api_key": "k", "validate_certs": False, "proxy": "p"}, {}, {}, []),
    "of the inventory and on the command line": ({"proxy": "p"}, {}, {"proxy": "q"}, ["proxy"]),
}


@pytest.mark.parametrize(("inventory", "play", "extra", "taken"), named(TAKEN))
def test_a_word_of_many_meanings_is_not_taken_from_an_inventory(
    inventory: dict[str, Any], play: dict[str, Any], extra: dict[str, Any], taken: list[str]
) -> None:
    assert connection_given(variables({**inventory, **extra}, **play), extra) == taken


def test_the_values_are_templated_and_empty_ones_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Templar:
        def template(self, value: Any) -> Any:
            return value.replace("{{ it }}", "lab")

    monkeypatch.setattr(connection_variables, "load_extra_vars", lambda loader: {})
    plugin = LookupModule()
    monkeypatch.setattr(plugin, "_templar", Templar(), raising=False)
    monkeypatch.setattr(plugin, "_loader", None, raising=False)
    assert plugin.run([], {"context": "{{ it }}", "host": ""}) == [{"context": "lab"}]
    assert plugin.run([], None) == [{}]


def test_every_name_is_an_option_of_the_connection() -> None:
    assert set(CONNECTION_NAMES) <= set(CONNECTION)
