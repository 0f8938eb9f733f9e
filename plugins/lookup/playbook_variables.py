# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which short variables a playbook was given, and which of those on the command line it does not know."""

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
  - It also compares what stands on the command line (C(--extra-vars), files too) with what the playbook knows. Ansible
    itself ignores a variable that it does not know, and a deletion that ignores C(dry_run=true) is not what was asked
    for. Variables of inventories serve other plays too and are never complained about.
  - It is made for the playbooks of this collection and of little use elsewhere.
options:
  _terms:
    description: Name of the role of this collection, one only. With O(names), any word.
    required: true
  also:
    description: Short variables that the playbook itself understands, besides those of the connection.
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
notes:
  - A variable on the command line that is meant for another play of the same run is named in the variable
    C(not_for_us), a list.
seealso:
  - plugin: sunset.kube.connection_variables
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
    unknown:
      description: What stands on the command line and is not known here, each with a hint, which may be empty.
      type: list
      elements: dict
      sample: [{given: polici, hint: "did you mean policy?"}, {given: dry_run, hint: use --check}]
    message:
      description: The same as a sentence; empty when everything is known.
      type: str
"""

import difflib
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from ..plugin_utils.connection_names import CONNECTION_NAMES

_ROLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "roles")
# What Ansible itself, and platforms that run it, put among the extra variables.
_PLATFORMS = ("ansible_", "awx_", "tower_", "eda_")
_NOT_FOR_US = "not_for_us"
_NEARLY = 0.75
# What people type who know other tools: a switch of ansible-playbook...
_SWITCHES = {
    "check": "use --check",
    "check_mode": "use --check",
    "diff": "use --diff",
    "diff_mode": "use --diff",
    "dry_run": "use --check",
    "dryrun": "use --check",
    "limit": "use --limit",
    "tags": "use --tags",
    "verbose": "use -v",
    "what_if": "use --check",
}
# ...or a variable by another name: the first of these that the playbook has.
_OTHER_NAMES = {
    "app": ("release",),
    "application": ("release",),
    "as": ("impersonate_user",),
    "as_group": ("impersonate_groups",),
    "as_user": ("impersonate_user",),
    "assume_yes": ("confirm=skip",),
    "auto_approve": ("confirm=skip",),
    "ca_file": ("ca_cert",),
    "cert_file": ("client_cert",),
    "cluster": ("context",),
    "cluster_context": ("context",),
    "cluster_name": ("cluster", "context"),
    "config": ("kubeconfig",),
    "ctx": ("context",),
    "endpoint": ("host",),
    "evidence": ("evidence_dir", "bundle"),
    "folder": ("bundle",),
    "hash": ("confirm",),
    "helm_release": ("release",),
    "insecure": ("validate_certs",),
    "key_file": ("client_key",),
    "kube_config": ("kubeconfig",),
    "kube_context": ("context",),
    "label_selectors": ("label_selector",),
    "name": ("release", "cluster", "nncp", "profile"),
    "namespaces": ("namespace",),
    "ns": ("namespace",),
    "path": ("bundle",),
    "plan": ("confirm",),
    "plan_hash": ("confirm",),
    "product": ("profile",),
    "selector": ("label_selector",),
    "server": ("host",),
    "ssl_ca_cert": ("ca_cert",),
    "target_namespace": ("namespace",),
    "token": ("api_key",),
    "url": ("host",),
    "verify_ssl": ("validate_certs",),
    "wait": ("timeout",),
    "wait_timeout": ("timeout",),
    "yes": ("confirm=skip",),
}


class LookupModule(LookupBase):
    """One role, one answer."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        if len(terms) != 1:
            raise AnsibleLookupError("name one role of sunset.kube")
        set_somewhere = variables or {}
        short = self.get_option("names") or short_names(terms[0], self.get_option("without"))
        known = [*short, *self.get_option("also"), *CONNECTION_NAMES, _NOT_FOR_US]
        elsewhere = {*all_role_variables(), *(f"{terms[0]}_{name}" for name in short)}
        excused = listed(set_somewhere.get(_NOT_FOR_US))
        unknown = strangers(load_extra_vars(self._loader), known, elsewhere, excused)
        taken = [name for name in short if name in set_somewhere]
        return [{"taken": taken, "unknown": unknown, "message": sentence(unknown, known)}]


def short_names(role: str, without: Iterable[str]) -> list[str]:
    names = [name.removeprefix(f"{role}_") for name in role_variables(role)]
    return [name for name in names if name not in set(without)]


def role_variables(role: str) -> list[str]:
    try:
        with open(os.path.join(_ROLES, role, "meta", "argument_specs.yml"), encoding="utf-8") as stream:
            return list(yaml_load(stream)["argument_specs"]["main"]["options"])
    except OSError as problem:
        raise AnsibleLookupError(
            f"sunset.kube has no role {role} with an argument specification: {problem}"
        ) from problem


def all_role_variables() -> set[str]:
    """The whole name of a role's variable leaves no doubt for which play it is."""
    specified = [role for role in os.listdir(_ROLES) if os.path.isdir(os.path.join(_ROLES, role, "meta"))]
    return {name for role in specified for name in role_variables(role)}


def listed(not_for_us: Any) -> set[str]:
    """`-e not_for_us=region,stage` is a text."""
    if isinstance(not_for_us, str):
        return {name.strip() for name in not_for_us.split(",")}
    return {str(name) for name in not_for_us or ()}


def strangers(
    given: Iterable[str], known: Iterable[str], elsewhere: set[str], excused: set[str]
) -> list[dict[str, str]]:
    """What was given and is not known, each with a hint."""
    accepted = {*known, *elsewhere, *excused}
    names = [str(name) for name in given if name not in accepted and not str(name).startswith(_PLATFORMS)]
    return [{"given": name, "hint": hint_for(name, set(known), elsewhere)} for name in names]


def hint_for(name: str, known: set[str], elsewhere: set[str]) -> str:
    if name in _SWITCHES:
        return _SWITCHES[name]
    meant = [other for other in _OTHER_NAMES.get(name, ()) if other.partition("=")[0] in known]
    near = meant or difflib.get_close_matches(name, sorted({*known, *elsewhere} - {_NOT_FOR_US}), n=1, cutoff=_NEARLY)
    return f"did you mean {near[0]}?" if near else ""


def sentence(unknown: Sequence[Mapping[str, str]], known: Iterable[str]) -> str:
    """What is wrong, what was meant, and the way out for variables of other plays."""
    if not unknown:
        return ""
    names = [f"{one['given']} ({one['hint']})" if one["hint"] else one["given"] for one in unknown]
    takes = "" if all(one["hint"] for one in unknown) else f"This playbook takes {', '.join(sorted(set(known)))}. "
    excuse = shlex.quote(json.dumps({_NOT_FOR_US: [one["given"] for one in unknown]}))
    return (
        f"unknown variable {', '.join(names)}; nothing was read from the cluster. {takes}"
        f"For a variable of another play of this run, say so: -e {excuse}"
    )
