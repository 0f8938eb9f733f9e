# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that name a custom resource."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  api_version:
    description:
      - Group and version of the resource.
    type: str
    required: true
  kind:
    description:
      - Its kind.
    type: str
    required: true
  name:
    description:
      - Its name.
    type: str
    required: true
  namespace:
    description:
      - Its namespace, where the kind has one.
    type: str
  parallel:
    description:
      - How many requests may be under way at once, 64 at most.
    type: int
    default: 48
"""
