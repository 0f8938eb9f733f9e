# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test lab: real Kubernetes parts, built once, run on loopback, gone afterwards.

`tools` builds, `processes` runs, `controlplane` puts the parts together, `node` runs pods and `traefik` routes to them,
`api` and `audit` look at the result without any help of the product, `faults` breaks the wire on purpose, `fixtures`
hands all of it to pytest.
"""

from __future__ import annotations
