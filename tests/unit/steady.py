# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random examples that are the same in every process, so that a run fails because of a change and never by chance.

`derandomize` alone is not enough: Hypothesis also draws numbers and words that it finds in the modules imported so
far, and these differ with the tests a worker was given. It has no setting for that, so its function is replaced;
`test_steady.py` fails if another version of Hypothesis finds them in another way.
"""

from __future__ import annotations

import hypothesis
from hypothesis.internal.conjecture import providers

# Without the check that measures time: how fast a machine is says nothing about the code.
STEADY = {
    "derandomize": True,
    "database": None,
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}
found_in_modules = providers._get_local_constants
NOTHING = providers.Constants()


def draw_the_same_everywhere() -> None:
    """From now on nothing is drawn from our modules, unless somebody asked for new examples."""
    providers._get_local_constants = lambda: NOTHING if hypothesis.settings.default.derandomize else found_in_modules()
