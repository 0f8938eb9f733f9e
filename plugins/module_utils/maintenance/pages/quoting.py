# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text of users as one word of an nginx configuration: never more than that word, whatever is in it.

Room: maintenance (pure).
"""

from __future__ import annotations

# nginx has no way to write a dollar sign where variables are possible; a variable that holds one is the way around.
DOLLAR = 'geo $dollar {\n    default "$";\n}'


def quoted(text: str) -> str:
    """Where nginx expands variables. Needs the block DOLLAR in the configuration if there is a dollar sign."""
    return literal(text).replace("$", "${dollar}")


def literal(text: str) -> str:
    """Where nginx does not expand variables: regular expressions, names."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
