# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab raises when it cannot go on: one sentence on what and why, one on the next step."""

from __future__ import annotations


class LabError(RuntimeError):
    """The lab itself failed; nothing is said about the product under test."""
