# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names and messages that attack whoever reads them, and what no output may hold. For tests of every output."""

from __future__ import annotations

import re

# Escape sequences, forged lines, names turned around, what is not seen, half a character, active content.
NAMES = (
    "nul\x00",
    "esc\x1b]0;PWNED\x07\x1b[2K\x1b[1A",
    "line\r\nplan: 0 objects",
    "tab\tdel\x7f",
    "c1\x9b2J\x85",
    "bidi\u202egnihton\u2066\u200f\u061c",
    "unseen\u200b\u2060\ufeff\u3164\u00ad\U000e0041",
    "separators\u2028\u2029",
    "half\ud800",
    "none\uffff",
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![x](http://evil.example/pixel.png) http://evil.example",
    '"/><a href="javascript:x">&lt;',
    "]]></failure>|`*_~",
    "{{ lookup('pipe', 'touch pwned') }}",
    "{% for x in y %}{# no #}",
    "$(touch pwned);`id`",
    "--all",
    "-rf",
    "@/etc/passwd",
    "back\\slash",
)
# Controls, but for the end of a line; bidi marks, separators, what is not seen, halves of characters.
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
