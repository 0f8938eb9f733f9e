# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings for every unit test: none of the tester's, and the same examples on every run, unless new ones are wanted.

New examples: pytest tests/unit --hypothesis-profile=explore
"""

from __future__ import annotations

import hypothesis

from ansible_collections.sunset.kube.tests.unit import own_settings
from ansible_collections.sunset.kube.tests.unit.steady import STEADY, draw_the_same_everywhere

own_settings.put_aside()
draw_the_same_everywhere()
hypothesis.settings.register_profile("steady", **STEADY, max_examples=40)
hypothesis.settings.register_profile("explore", database=None, deadline=None, max_examples=1000)
hypothesis.settings.load_profile("steady")
