# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster that the variables of a playbook name, as options of a module."""

from __future__ import annotations

DOCUMENTATION = r"""
name: connection_variables
short_description: Connection options that were given to a playbook as variables
version_added: 0.1.0
author:
  - sunset.kube contributors (@sunset-kube)
description:
  - The playbooks of this collection take their connection as variables, C(-e context=staging), and hand it to every
    module with C(module_defaults) for the group C(sunset.kube.cluster).
  - C(kubeconfig), C(context), C(host), C(impersonate_user) and C(impersonate_groups) are taken from wherever they are
    set. C(api_key), C(ca_cert), C(client_cert), C(client_key), C(validate_certs) and C(proxy) are taken from the
    command line (C(--extra-vars), files too) and from C(vars) of a play or of C(import_playbook), not from inventories,
    where these words often mean something else.
  - An empty value counts as none.
options:
  _terms:
    description: None.
seealso:
  - plugin: sunset.kube.playbook_variables
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: A playbook that takes its cluster as those of this collection do
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/sunset.kube.cluster: "{{ lookup('sunset.kube.connection_variables') }}"
  tasks:
    - name: What hangs?
      sunset.kube.blockers_info:
"""

RETURN = r"""
_raw:
  description: The connection options that were given.
  type: list
  elements: dict
  sample: [{context: staging}]
"""

from collections.abc import Mapping
from typing import Any

from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from ..plugin_utils.connection_names import FROM_ANYWHERE, NOT_FROM_INVENTORIES


class LookupModule(LookupBase):
    """No terms, one dictionary."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        found = variables or {}
        names = connection_given(found, load_extra_vars(self._loader))
        values = {name: self._templar.template(found[name]) for name in names}
        return [{name: value for name, value in values.items() if value not in ("", None, [])}]


def connection_given(variables: Mapping[str, Any], extra: Mapping[str, Any]) -> list[str]:
    """The names to take."""
    anywhere = [name for name in FROM_ANYWHERE if name in variables]
    of_the_inventory = _of_the_inventory(variables)
    return anywhere + [
        name for name in NOT_FROM_INVENTORIES if name in extra or (name in variables and name not in of_the_inventory)
    ]


def _of_the_inventory(variables: Mapping[str, Any]) -> Any:
    """What this host has without the play: `vars` of plays are not in it, extra variables are."""
    return (variables.get("hostvars") or {}).get(variables.get("inventory_hostname"), {})
