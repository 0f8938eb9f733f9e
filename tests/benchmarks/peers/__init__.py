# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task of ours against the tools people have: whole commands, the same objects, one run.

The figures go to docs/benchmarks-peers.md.
"""

from __future__ import annotations

from benchmarks.peers.measured import SIZES, PeerResults, measure_peers
from benchmarks.peers.text import markdown

__all__ = ["SIZES", "PeerResults", "markdown", "measure_peers"]
