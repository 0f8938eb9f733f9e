# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built-in page: one file that needs nothing else, since nothing else is served while it is shown.

Room: maintenance (pure). Reads well without styles, without scripts and on paper; text of users is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import quote

from .page_looks import ICON, PICTURE, STYLE
from .planned_end import machine_time, utc_time
from .source import Answering, PageText
from .words import direction_of, words_of

_MAIL = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+")
_URL = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)

# The reader's own time, and how long it still is. Without it, the time in UTC stays.
_SCRIPT = """\
(function () {
  var time = document.querySelector("time"), left = document.getElementById("left");
  var lang = document.documentElement.lang, end = new Date(time.dateTime);
  function tell() {
    var minutes = Math.ceil((end - Date.now()) / 60000);
    if (minutes <= 0) { left.textContent = left.dataset.late; return; }
    var far = minutes >= 2880 ? [1440, "day"] : minutes >= 120 ? [60, "hour"] : [1, "minute"];
    left.textContent = new Intl.RelativeTimeFormat(lang).format(Math.round(minutes / far[0]), far[1]);
  }
  try {
    var shape = { weekday: "long", day: "numeric", month: "long", hour: "numeric", minute: "2-digit" };
    shape.timeZoneName = "short";
    var local = new Intl.DateTimeFormat(lang, shape).format(end);
    time.title = time.textContent;
    time.textContent = local;
    tell();
    setInterval(tell, 15000);
  } catch (old) {}
})();"""


def default_html(text: PageText, answering: Answering) -> str:
    words = words_of(text)
    product = text.product.strip()
    title = f"{words['title']} · {product}" if product else words["title"]
    refresh = f'\n<meta http-equiv="refresh" content="{text.refresh}">' if text.refresh else ""
    head_line = f'\n<p class="product"><bdi>{_text(product)}</bdi></p>' if product else ""
    script = f"\n<script>\n{_SCRIPT}\n</script>" if answering.ends_at is not None else ""
    return f"""<!doctype html>
<html lang="{escape(text.language)}" dir="{direction_of(text.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">{refresh}
<title>{_text(title)}</title>
<link rel="icon" href="{ICON}">
<style>
{STYLE}
</style>
</head>
<body>
<main>
{PICTURE}
<div class="words">{head_line}
<h1>{_text(words["title"])}</h1>
{_paragraphs(words["message"])}
{"".join(_facts(text, answering, words))}</div>
</main>{script}
</body>
</html>
"""


def _facts(text: PageText, answering: Answering, words: dict[str, str]) -> Iterator[str]:
    facts = []
    if answering.ends_at is not None:
        when = f'<time datetime="{machine_time(answering.ends_at)}">{utc_time(answering.ends_at)}</time>'
        left = f'<span id="left" data-late="{_text(words["late"])}"></span>'
        facts.append(_fact(words["until"], f"{when} {left}"))
    if text.contact.strip():
        facts.append(_fact(words["contact"], f"<bdi>{_linked(text.contact.strip())}</bdi>"))
    if facts:
        yield "<dl>\n" + "\n".join(facts) + "\n</dl>\n"


def _fact(label: str, value: str) -> str:
    return f"<div><dt>{_text(label)}</dt><dd>{value}</dd></div>"


def _linked(contact: str) -> str:
    if _MAIL.fullmatch(contact):
        return f'<a href="mailto:{quote(contact, safe="@+")}">{_text(contact)}</a>'
    if _URL.fullmatch(contact):
        shown = re.sub(r"^https?://", "", contact, flags=re.IGNORECASE).rstrip("/")
        return f'<a href="{_text(contact)}" rel="noreferrer">{_text(shown)}</a>'
    return _text(contact)


def _paragraphs(message: str) -> str:
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", message.replace("\r\n", "\n")) if part.strip()]
    return "\n".join(f"<p>{_text(part).replace(chr(10), '<br>')}</p>" for part in paragraphs)


def _text(text: str) -> str:
    return escape(text, quote=True)
