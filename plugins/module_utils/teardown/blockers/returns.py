# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who brings back what goes: Argo CD, Flux and their like.

Room: teardown. They hold nothing, but without a word to them all the work is in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..healers import BringsBack, find_healers
from ..members.looking import Member
from .cause import GITOPS, Cause
from .census import Seen

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from .blockers import Blocked


def find_returns(found: Sequence[Seen], rows: Iterable[Blocked], cluster: Cluster) -> list[BringsBack]:
    """Their owners, a list for each kind that is named; and a reason on each row that is one of theirs."""
    own = {record.uid for _kind, record in found}
    members = [
        Member(kind, record, "explained", dependant=bool(own & set(record.owner_uids))) for kind, record in found
    ]
    leaving = [member for member in members if member.record.terminating]
    back = find_healers(members, cluster, leaving)
    for row in rows:
        row.causes += [_cause(one) for one in back if row.record.uid in one.uids]
    return back


def _cause(one: BringsBack) -> Cause:
    if one.quiet:
        text = f"{one.owner} owns it and does not bring it back by itself: {one.quiet}"
    elif one.unseen:
        text = f"{one.owner} may bring it back: it cannot be seen ({one.unseen})"
    else:
        text = f"{one.owner} brings it back as soon as it is gone"
    return Cause(GITOPS, text, "" if one.quiet else one.way_out, one.certain and not one.unseen)
