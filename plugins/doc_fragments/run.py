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
      - Seconds the whole task may take, 86400 at most. A time-out is a failure, and the result says what was done until
        then.
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
      - The hash covers the objects and what is done to them, the cluster, and every option that changes what may
        happen. Approve with the options that the plan was made with. Not covered are the connection, O(parallel),
        O(max_objects), O(evidence_dir) and how long the task may take.
      - A cluster is known by the uid of its Namespace C(kube-system), so another address or context of the same cluster
        gives the same hash. A user who may not read that Namespace is given a hash with the API server's address
        instead. It fits only where the same address is used, by a user who may not read it either.
    type: str
  evidence_dir:
    description:
      - Directory on the controller. Each run adds a folder with the complete plan, the timeline of every write, and a
        report of it for browsers, tickets and pipelines (C(report.html), C(report.md), C(junit.xml)).
      - The timeline (C(timeline.jsonl)) is written while the run goes, C(result.json) with its outcome in one word last
        of all. C(latest) leads to the newest folder, from its first moment.
      - Cannot be used with C(async).
      - What comes from the cluster is shown with control characters, bidi marks and line breaks as escapes.
    type: path
"""

    WAITING = r"""
options:
  fail_fast:
    description:
      - Do not wait for what nobody is left to let go. An object that is being deleted is given up, and the task fails
        within some seconds, when the controller behind each of its finalizers is proven gone.
      - Proven means that the controller's Deployment, StatefulSet or DaemonSet is scaled to zero, that its Lease was
        not renewed for long, or that it is one of some known products that always run in the cluster of their objects,
        and is not there. No pod of it may be left, and a second look some seconds later must find the same.
      - A controller that merely has no ready replica now, one that is not known, and one that cannot be looked for may
        come back, so they are waited for until O(timeout). So is everything that force may still free.
      - While anything else is still on its way, the task waits for that, and says what will not go.
    type: bool
    default: true
"""
