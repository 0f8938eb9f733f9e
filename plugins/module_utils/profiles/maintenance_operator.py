# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotations of the maintenance-operator, with which people ask it for a page.

Room: profiles (data).
"""

from __future__ import annotations

PREFIX = "maintenance-operator.mithucste30.io/"
ENABLED, PAGE = PREFIX + "enabled", PREFIX + "custom-page"
# On whose behalf a route is behind a page that has asked for it by its annotation.
HOLDER = "annotation"
