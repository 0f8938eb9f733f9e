# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What modules promise: check mode, diff, repetition, groups."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run without changing anything and says what it would do.
  diff_mode:
    description: Shows what changes, object by object.
  idempotent:
    description: A second run with the same options changes nothing.
  action_group:
    description: Use C(group/sunset.kube.cluster) in C(module_defaults) to set its connection options once.
    support: full
    membership:
      - sunset.kube.cluster
  async:
    description: Can run in the background with C(async); there are no progress lines then.
    support: full
  action:
    description: Runs inside the controller's own process when the task is local, and shows progress while it runs.
    support: full
"""

    WRITES = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - The API server tries every write without keeping it, so that refusals show up beforehand.
  diff_mode:
    support: full
  idempotent:
    support: full
"""

    READS = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - It never changes anything.
  diff_mode:
    support: N/A
    details:
      - It never changes anything.
  idempotent:
    support: full
"""
