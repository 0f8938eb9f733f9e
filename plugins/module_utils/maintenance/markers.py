# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names that maintenance leaves on objects: ours, and those of the maintenance-operator, which we can read.

Room: maintenance (data).
"""

from __future__ import annotations

from ..profiles import maintenance_operator as seed
from ..well_known import MADE_BY_US

# On a route: the page it shows.
MARKER = "sunset.dev/maintenance"
# On what we make, as a label: what each is.
ROLE, PAGE, BACKUP, OVERLAY = "sunset.dev/maintenance", "page", "backup", "overlay"
DIGEST = "sunset.dev/page-digest"
# On a backup, because they may change while maintenance goes on.
UNTIL, REASON = "sunset.dev/maintenance-until", "sunset.dev/maintenance-reason"
HOLDERS = "sunset.dev/maintenance-holders"
BACKUP_PREFIX, OVERLAY_PREFIX = "maintenance-backup-", "maintenance-overlay-"
# On an overlay: what it was made of, and the places of its route that it stands in front of.
OVERLAY_DIGEST, OVERLAY_PLACES = "sunset.dev/overlay-digest", "sunset.dev/overlay-places"
OUR_LABEL = MADE_BY_US

# cert-manager proves by such a route that the host is ours.
SOLVER = "acme.cert-manager.io/http01-solver"

# The label with which a route opts in to our own operator.
MANAGED = "sunset.dev/managed"

SEED_HOLDER, SEED_SERVICE, SEED_USED_BY = seed.HOLDER, seed.SERVICE, seed.USED_BY
SEED_LABELS = {"app": "maintenance-page", "managed-by": "maintenance-operator"}
SEED_BACKUP_LABEL, SEED_BACKUP_FOR = ("app", "maintenance-operator"), "backup-for"
