# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a report looks: light and dark, wide and on a phone, and on paper.

Room: evidence.
"""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4;
  --good: #1a7f37; --bad: #b4232c; --plan: #0b60b0; --quiet: #57606a; --bar: #4c8dd6; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --card: #1d2127; --ink: #e6e9ed; --soft: #a3acb6;
  --line: #363c44; --good: #57c470; --bad: #ff7b72; --plan: #6cb0f5; --quiet: #a3acb6; --bar: #3f7fc9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; background: var(--card); min-height: 100vh; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h2 small { color: var(--soft); font-weight: 400; font-size: .9rem; }
.badge { margin: 0; padding: .1rem .7rem; border-radius: 1rem; border: 2px solid currentColor; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .plan { color: var(--plan); } .quiet { color: var(--quiet); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .75rem 1.5rem;
  margin: 1.25rem 0; }
.facts .message { grid-column: 1 / -1; border-left: 4px solid var(--bad); padding-left: .75rem; }
.facts .plan { color: inherit; }
dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; overflow-wrap: anywhere; }
code { font: .95em ui-monospace, monospace; }
table { width: 100%; border-collapse: collapse; font-size: .95rem; }
th { text-align: left; color: var(--soft); font-weight: 600; font-size: .875rem; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
th { overflow-wrap: normal; } td:first-child { min-width: 9rem; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; }
summary { cursor: pointer; } summary .name { font-weight: 600; } summary .told { color: var(--soft); font-size: .9rem; }
summary svg { display: block; margin-top: .35rem; background: var(--ground); border-radius: 2px; }
.bar { fill: var(--bar); } .late { fill: var(--bad); }
.waits { margin: .5rem 0 1rem; } .waits > div { overflow-x: auto; } .waits .narrow { display: none; }
.waits svg { display: block; max-width: 100%; height: auto; }
.node rect { fill: var(--card); stroke: var(--quiet); stroke-width: 1.5; }
.node.namespace rect, .node.definition rect { stroke: var(--plan); stroke-width: 2; }
.node.controller rect, .node.obstacle rect, .node.reason rect { fill: var(--ground); stroke-dasharray: 5 3; }
.node.alive rect { stroke: var(--good); } .node.gone rect { stroke: var(--bad); }
.node text { fill: var(--ink); font: 600 14px system-ui, sans-serif; }
.node .note { fill: var(--soft); font-weight: 400; font-size: 13px; }
.arc { fill: none; stroke: var(--quiet); stroke-width: 1.5; } .head { fill: var(--quiet); }
.arc.circle { stroke: var(--bad); stroke-width: 2.5; } .head.circle { fill: var(--bad); }
.cut circle { fill: var(--card); stroke: var(--bad); stroke-width: 2; }
.cut text { fill: var(--bad); font: 700 13px system-ui, sans-serif; }
figcaption p { margin: .5rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
figcaption ol { margin: .25rem 0; padding-left: 1.5rem; }
figcaption code { color: var(--ink); font-size: 1em; overflow-wrap: anywhere; }
footer { margin-top: 2rem; color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) {
  .waits .wide { display: none; } .waits .narrow { display: block; } .waits .narrow svg { margin: 0 auto; }
  thead { display: none; } tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td:first-child { min-width: 0; }
  td { display: grid; grid-template-columns: 7rem 1fr; gap: .5rem; border: 0; padding: .1rem 0; }
  td::before { content: attr(data-head); color: var(--soft); font-size: .875rem; } td:empty { display: none; }
  td:only-child { display: block; } td:only-child::before { content: none; }
}
@media print { body, main { background: none; } details { break-inside: avoid; } }
"""
