# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast we are, measured against the fastest client this API server allows: `python -m benchmarks`, or `make bench`.

Nothing here fails because a machine is slow. The figures go to docs/benchmarks.md; targets are shown as met or not met.
"""
