# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the built-in page looks: colours for day and night, a picture of an evening by the sea, an icon.

Room: maintenance (pure data). Contrast of all text is AA or better in both, see tests/unit/maintenance/pages.
"""

from __future__ import annotations

from collections.abc import Mapping

# name → by day, by night
COLOURS: Mapping[str, tuple[str, str]] = {
    "ground": ("#f6efe9", "#0d0b1a"),
    "ground-glow": ("#fde3d3", "#231a45"),
    "card": ("#ffffff", "#171430"),
    "edge": ("#ecdfd6", "#2b2650"),
    "heading": ("#2a1f3d", "#f6f1ff"),
    "text": ("#574d66", "#c3bbd9"),
    "quiet": ("#6f647e", "#a49bc0"),
    "accent": ("#b3402a", "#ffb38a"),
    "sky-high": ("#6a5acd", "#0f0c29"),
    "sky-middle": ("#f08a8c", "#3a2467"),
    "sky-low": ("#ffd9a0", "#8a4a7d"),
    "sun-high": ("#fff3c4", "#ffe3b0"),
    "sun-low": ("#ff8f5e", "#ff8a70"),
    "hill-far": ("#a5628f", "#2d1f57"),
    "hill-near": ("#6d3f7c", "#1c1440"),
    "water-high": ("#c96f8c", "#4a2c6e"),
    "water-low": ("#54407f", "#120e2e"),
    "stars": ("#ffffff00", "#ffffffcc"),
}


def _variables(night: bool) -> str:
    return " ".join(f"--{name}: {pair[night]};" for name, pair in COLOURS.items())


STYLE = (
    f":root {{ color-scheme: light dark; {_variables(night=False)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(night=True)} }} }}\n"
    """\
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100svh; display: grid; place-items: center;
  padding: clamp(1rem, 4vw, 3rem); color: var(--text);
  background: radial-gradient(60rem 40rem at 50% 0, var(--ground-glow), transparent 70%) var(--ground);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
main {
  width: 100%; max-width: 38rem; overflow: hidden; background: var(--card);
  border: 1px solid var(--edge); border-radius: 1.5rem;
  box-shadow: 0 1px 2px rgb(20 10 40 / .06), 0 1.5rem 4rem -1rem rgb(20 10 40 / .22);
}
svg { display: block; width: 100%; height: auto; }
.words { padding: clamp(1.5rem, 6vw, 3rem); padding-top: clamp(1.5rem, 5vw, 2.25rem); overflow-wrap: anywhere; }
.product {
  margin: 0 0 .75rem; color: var(--accent); font-size: .875rem; font-weight: 650; letter-spacing: .04em;
}
h1 {
  margin: 0; color: var(--heading); font-size: clamp(1.75rem, 6.5vw, 2.5rem); line-height: 1.15;
  font-weight: 700; letter-spacing: -.02em; text-wrap: balance;
}
h1:lang(ar), h1:lang(he) { letter-spacing: 0; }
.words p:not(.product) { margin: 1rem 0 0; text-wrap: pretty; }
dl { margin: 2rem 0 0; padding-top: 1.5rem; border-top: 1px solid var(--edge); display: grid; gap: 1.25rem; }
dt { color: var(--quiet); font-size: .875rem; }
dd { margin: .125rem 0 0; color: var(--heading); font-weight: 550; }
time { font-variant-numeric: tabular-nums; }
#left { display: block; color: var(--quiet); font-size: .9375rem; font-weight: 400; }
#left:empty { display: none; }
a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: .08em; }
a:hover { text-decoration-thickness: .16em; }
a:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .1875rem; border-radius: .25rem; }
.glint { animation: glint 6s ease-in-out infinite alternate; transform-box: fill-box; transform-origin: center; }
.glint:nth-of-type(even) { animation-delay: -3s; }
@keyframes glint { from { transform: scaleX(.82); opacity: .55; } to { transform: scaleX(1.08); opacity: .95; } }
@media (prefers-reduced-motion: reduce) { .glint { animation: none; } }
@media (forced-colors: active) { main { border-color: CanvasText; } }
@media print {
  :root { color-scheme: light; } body { display: block; background: none; padding: 0; color: #000; }
  main { border: 0; box-shadow: none; max-width: none; } svg { display: none; }
  h1, dd, dt, a, .product, #left { color: #000; }
}"""
)

PICTURE = """\
<svg viewBox="0 0 640 248" aria-hidden="true" focusable="false">
<defs>
<linearGradient id="sky" x2="0" y2="1">
<stop style="stop-color:var(--sky-high)"/>
<stop offset=".62" style="stop-color:var(--sky-middle)"/>
<stop offset="1" style="stop-color:var(--sky-low)"/>
</linearGradient>
<linearGradient id="sun" x2="0" y2="1">
<stop style="stop-color:var(--sun-high)"/>
<stop offset="1" style="stop-color:var(--sun-low)"/>
</linearGradient>
<linearGradient id="sea" x2="0" y2="1">
<stop style="stop-color:var(--water-high)"/>
<stop offset="1" style="stop-color:var(--water-low)"/>
</linearGradient>
<radialGradient id="glow">
<stop style="stop-color:var(--sun-high);stop-opacity:.6"/>
<stop offset=".45" style="stop-color:var(--sun-low);stop-opacity:.24"/>
<stop offset="1" style="stop-color:var(--sun-low);stop-opacity:0"/>
</radialGradient>
<clipPath id="above"><path d="M0 0h640v177H0z"/></clipPath>
</defs>
<path fill="url(#sky)" d="M0 0h640v178H0z"/>
<g style="fill:var(--stars)">
<circle cx="64" cy="38" r="1.4"/><circle cx="132" cy="82" r="1"/><circle cx="188" cy="28" r="1.1"/>
<circle cx="252" cy="58" r=".9"/><circle cx="402" cy="34" r="1.3"/><circle cx="466" cy="72" r="1"/>
<circle cx="528" cy="26" r="1.2"/><circle cx="590" cy="62" r="1.5"/>
</g>
<g clip-path="url(#above)">
<circle cx="320" cy="160" r="215" fill="url(#glow)"/>
<circle cx="320" cy="158" r="62" fill="url(#sun)"/>
<g style="fill:var(--hill-far)">
<path d="M0 146c36-18 74-24 112-12 34 10 58 24 92 28 24 3 48 8 70 15H0z"/>
<path d="M640 138c-44-14-84-6-116 10-28 14-58 16-86 19-20 2-40 5-56 10h258z"/>
</g>
<g style="fill:var(--hill-near)">
<path d="M0 164c48-10 92-10 132 3 16 5 32 8 50 10H0z"/>
<path d="M640 158c-40-6-92-2-134 10-16 5-32 8-48 9h182z"/>
</g>
</g>
<path fill="url(#sea)" d="M0 176h640v72H0z"/>
<g style="fill:var(--sun-high)" fill-opacity=".8">
<rect class="glint" x="260" y="182" width="120" height="3" rx="1.5"/>
<rect class="glint" x="274" y="192" width="98" height="3" rx="1.5"/>
<rect class="glint" x="272" y="203" width="84" height="3.5" rx="1.75"/>
<rect class="glint" x="292" y="215" width="66" height="3.5" rx="1.75"/>
<rect class="glint" x="300" y="228" width="40" height="4" rx="2"/>
</g>
</svg>"""

# Inside the page: without it browsers would ask for /favicon.ico.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Ccircle cx='16' cy='17' r='9' fill='%23ff8f5e'/%3E%3Cpath fill='%2354407f' d='M2 18h28v3H2zm4 6h20v3H6z'/%3E"
    "%3C/svg%3E"
)
