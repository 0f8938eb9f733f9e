# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which short variables a playbook was given, and which of those on the command line nobody knows."""

from __future__ import annotations

DOCUMENTATION = r"""
name: playbook_variables
short_description: Short variables of the playbooks of this collection
version_added: 0.1.0
author:
  - sunset.kube contributors (@sunset-kube)
description:
  - The playbooks of this collection take short variables, C(-e policy=Delete), and hand them to a role whose variables
    have its name in front, C(drain_policy). This lookup says which of them were given.
  - It also compares what stands on the command line (C(--extra-vars)) with what the role knows. Ansible itself ignores
    a misspelt variable, and a deletion that ignores C(polici=Retain) is not what was asked for.
  - It is made for the playbooks of this collection and of little use elsewhere.
options:
  _terms:
    description: Name of the role of this collection, one only. With O(names), any word.
    required: true
  also:
    description: Short variables that the playbook itself understands.
    type: list
    elements: str
    default: []
  names:
    description: The short variables, of a playbook without a role.
    type: list
    elements: str
    default: []
  without:
    description: Variables of the role that have no short name in this playbook.
    type: list
    elements: str
    default: []
seealso:
  - plugin: ansible.builtin.varnames
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Show what the drain would be given
  ansible.builtin.debug:
    msg: "{{ lookup('sunset.kube.playbook_variables', 'drain').taken }}"
"""

RETURN = r"""
_raw:
  description: One entry a role.
  type: list
  elements: dict
  contains:
    taken:
      description: Short names that are set, from wherever, in the order of the role's argument specification.
      type: list
      elements: str
      sample: [profile, policy]
    misspelt:
      description: What stands on the command line and is nearly a name that is known.
      type: list
      elements: dict
      sample: [{given: polici, meant: policy}]
    strange:
      description: What else stands on the command line and is not known here. It may be meant for the inventory.
      type: list
      elements: str
      sample: [colour]
"""

import difflib
import os
from collections.abc import Iterable
from typing import Any

import yaml
from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

_ROLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "roles")
# What Ansible itself, and platforms that run it, put among the extra variables.
_PLATFORMS = ("ansible_", "awx_", "tower_", "eda_")
_NEARLY = 0.75


class LookupModule(LookupBase):
    """One role, one answer."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        if len(terms) != 1:
            raise AnsibleLookupError("name one role of sunset.kube")
        short = self.get_option("names") or short_names(terms[0], self.get_option("without"))
        extra = load_extra_vars(self._loader)
        known = {*short, *self.get_option("also")}
        misspelt, strange = judged(extra, known, all_role_variables())
        taken = [name for name in short if name in (variables or {})]
        return [{"taken": taken, "misspelt": misspelt, "strange": strange}]


def short_names(role: str, without: Iterable[str]) -> list[str]:
    names = [name.removeprefix(f"{role}_") for name in role_variables(role)]
    return [name for name in names if name not in set(without)]


def role_variables(role: str) -> list[str]:
    try:
        with open(os.path.join(_ROLES, role, "meta", "argument_specs.yml"), encoding="utf-8") as stream:
            return list(yaml.safe_load(stream)["argument_specs"]["main"]["options"])
    except OSError as problem:
        raise AnsibleLookupError(
            f"sunset.kube has no role {role} with an argument specification: {problem}"
        ) from problem


def all_role_variables() -> set[str]:
    """Whoever gives the variable of a role by its whole name knows what it is for."""
    specified = [role for role in os.listdir(_ROLES) if os.path.isdir(os.path.join(_ROLES, role, "meta"))]
    return {name for role in specified for name in role_variables(role)}


def judged(given: Iterable[str], known: set[str], elsewhere: set[str]) -> tuple[list[dict[str, str]], list[str]]:
    """What is nearly a known name, and what is like none."""
    misspelt, strange = [], []
    for name in given:
        if name in known | elsewhere or name.startswith(_PLATFORMS):
            continue
        near = difflib.get_close_matches(name, sorted(known | elsewhere), n=1, cutoff=_NEARLY)
        if near:
            misspelt.append({"given": str(name), "meant": near[0]})
        else:
            strange.append(str(name))
    return misspelt, strange
