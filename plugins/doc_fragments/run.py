# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of every module that changes something."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  timeout:
    description:
      - Seconds the whole task may take. A time-out is a failure, and the result says what was done until then.
    type: int
    default: 600
  parallel:
    description:
      - How many requests may be under way at once, 64 at most. An overloaded API server lowers it by itself.
    type: int
    default: 48
  max_objects:
    description:
      - Refuse, before the first change, when the plan touches more objects than this.
    type: int
  plan_hash:
    description:
      - Refuse, before the first change, when the plan is not the one with this hash. Check mode returns the hash.
    type: str
  evidence_dir:
    description:
      - Directory on the controller. Each run adds a folder with the complete plan, the timeline of every write, and a
        report of it for browsers, tickets and pipelines (C(report.html), C(report.md), C(junit.xml)).
      - Cannot be used with C(async).
    type: path
"""
