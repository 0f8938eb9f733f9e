# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotations of the maintenance-operator, with which people ask it for a page, and those it writes itself.

Room: profiles (data). Read in version 2.0.5.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "maintenance-operator.mithucste30.io/"
ENABLED, PAGE = PREFIX + "enabled", PREFIX + "custom-page"
# These two are no values of its chart.
SERVICE, USED_BY = PREFIX + "service-name", PREFIX + "used-by"
# On whose behalf a route is behind a page that has asked for it by its annotation.
HOLDER = "annotation"
# The Deployment of its chart.
DEPLOYMENT_LABEL = ("app.kubernetes.io/name", "maintenance-operator")


@dataclass(frozen=True)
class Names:
    """What its chart lets people choose. `source` says where we have it from."""

    enabled: str = ENABLED
    value: str = "true"
    marker: str = PREFIX + "original-service"
    backups: str = "maintenance-backup"
    source: str = "default"

    @property
    def marks(self) -> tuple[str, ...]:
        """What goes with its page. The choice of a page is the user's and stays; the flag would bring the page back."""
        return self.marker, SERVICE, self.enabled


DEFAULT_NAMES = Names()
# How its Deployment calls them: variable of the environment → field of Names.
VARIABLES = {
    "MAINTENANCE_ANNOTATION": "enabled",
    "MAINTENANCE_ANNOTATION_VALUE": "value",
    "BACKUP_ANNOTATION": "marker",
    "BACKUP_CONFIGMAP_PREFIX": "backups",
}
