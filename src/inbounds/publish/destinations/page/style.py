"""How the page looks: light and dark, from 320 pixels on, and on paper."""

STYLE = """
:root { --ground: #fff; --raised: #f4f6f8; --ink: #17212b; --soft: #4a5763; --line: #c9d1d9; --faint: #e3e8ec;
  --accent: #0b5c8a; --bar: #4d8fb8; --band: #cfe2ee; --warn: #7a1c00; --warn-ground: #ffe9df;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --fixed: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #12181e; --raised: #1c252d; --ink: #e8edf2; --soft: #aab6c1; --line: #3a4651; --faint: #29333c;
    --accent: #6cb8e6; --bar: #3f86b3; --band: #23455a; --warn: #ffc9b3; --warn-ground: #43190a; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.55 var(--text); color: var(--ink); background: var(--ground); overflow-wrap: anywhere; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.5rem; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 44rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--ground); padding: 0.5rem; }
.kind { color: var(--soft); font-weight: 600; margin: 0 0 0.4rem; }
.lead { font-size: 1.1rem; }
.strip { display: flex; flex-wrap: wrap; gap: 0.5rem 2.25rem; margin: 1.25rem 0; padding: 0.8rem 0;
  border: solid var(--line); border-width: 1px 0; }
.strip dt { color: var(--soft); font-size: 0.85rem; }
.strip dd { margin: 0; font-weight: 600; }
.practice { background: var(--warn-ground); color: var(--warn); border: 3px solid; border-radius: 0.4rem;
  padding: 0.8rem 1rem; margin: 0 0 1.5rem; max-width: none; font-weight: 600; font-size: 1.1rem; }
.mark { color: var(--warn); background: var(--warn-ground); border: 2px solid; border-radius: 0.3rem; padding: 0 0.4rem;
  font-size: 0.8em; letter-spacing: 0.05em; }
.card { background: var(--raised); border-radius: 0.4rem; padding: 0.9rem 1.1rem; margin: 1.25rem 0; }
nav ol { columns: 2 18rem; padding-left: 1.4rem; margin: 0.4rem 0; }
section.table { margin: 2.5rem 0 0; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.headline { margin: 0.75rem 0; color: var(--soft); }
.headline strong { display: block; font-size: 2.6rem; font-weight: 700; line-height: 1.2; color: var(--ink); }
figure { margin: 0.75rem 0; }
figcaption { color: var(--soft); font-size: 0.9rem; max-width: 44rem; }
svg { display: block; width: 100%; height: auto; max-width: 45rem; font: 13px var(--text); }
svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); }
svg .bar { fill: var(--bar); }
svg .band { fill: var(--band); }
svg .grid { stroke: var(--faint); }
svg .axis { stroke: var(--soft); }
svg .whisker { stroke: var(--ink); stroke-width: 1.6; fill: none; }
svg .line { stroke: var(--accent); stroke-width: 2; fill: none; }
svg .dot { fill: var(--accent); }
svg.narrow { display: none; }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; min-width: min(100%, 24rem); overflow-wrap: normal;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.3rem; }
th, td { text-align: left; padding: 0.32rem 1.4rem 0.32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; text-wrap: balance; }
tbody th { font-weight: 500; }
.name { min-width: 7rem; max-width: 24rem; overflow-wrap: anywhere; }
.when { white-space: nowrap; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td.number:not(.soft) { font-weight: 600; }
.soft { color: var(--soft); }
tr.total > * { font-weight: 700; background: var(--raised); }
.notes { color: var(--soft); font-size: 0.92rem; padding-left: 1.2rem; max-width: 44rem; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--accent); }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.6rem;
  white-space: pre-wrap; }
pre, code { font-family: var(--fixed); font-size: 0.9em; }
.facts { display: grid; grid-template-columns: fit-content(14rem) minmax(0, 1fr); gap: 0.3rem 1.25rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; }
footer { margin-top: 3rem; padding-bottom: 2.5rem; color: var(--soft); font-size: 0.9rem; }
#about { margin-top: 3rem; padding-top: 1.5rem; border-top: 3px solid var(--line); }
@media screen and (max-width: 40rem) {
  header, main, footer { padding: 0 1rem; }
  header { padding-top: 1.25rem; }
  h1 { font-size: 1.55rem; }
  th, td { padding-right: 0.7rem; font-size: 0.94rem; }
  .name { min-width: 5.5rem; }
  td.soft { white-space: normal; text-wrap: balance; }
  .several, .several tbody, .several tr, .several caption { display: block; }
  .several thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .several tr { border-bottom: 1px solid var(--line); padding: 0.3rem 0; }
  .several tbody th { display: inline-block; border: 0; font-weight: 650; min-width: 0; }
  .several td { display: flex; gap: 1rem; justify-content: space-between; border: 0; padding-right: 0; }
  .several td:has(> span:empty) { display: none; }
  .several td::before { content: attr(data-name); text-align: left; font-weight: 400; overflow-wrap: anywhere; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: 0.5rem; }
}
@media screen and (max-width: 40rem) { svg.wide { display: none; } svg.narrow { display: block; } }
@media print {
  @page { margin: 16mm; }
  body { font-size: 10pt; }
  header, main, footer { max-width: none; padding: 0; }
  nav, .skip, .no-print { display: none; }
  .scroll { overflow: visible; }
  thead { display: table-header-group; }
  tr, figure, .card { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .bar, .band, .mark, .practice, tr.total > * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

WATERMARK = """
@media print {
  body::before { content: "PRACTICE"; position: fixed; inset: 0; display: grid; place-items: center; rotate: -35deg;
    font-size: 84pt; font-weight: 800; white-space: nowrap; color: #9b1c1c; opacity: 0.16; z-index: 2;
    print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
"""Across each printed page of a practice report."""
