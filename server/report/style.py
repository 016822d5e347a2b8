"""Style of the page: the editor's theme through its CSS variables, else light or dark as the browser is.

Every colour is a variable with a fallback, so that charts and text change together. The colours of the charts are told
apart by people who are colour-blind (after Okabe and Ito), and shapes and dashes say the same again.
"""

from __future__ import annotations

LIGHT = """
  --plain-page: #ffffff; --plain-text: #1f2328; --plain-soft: #59636e; --plain-line: #d1d9e0; --plain-card: #f6f8fa;
  --plain-link: #0757b0; --plain-predicted: #0060a8; --plain-measured: #b34700; --plain-memory: #00745a;
  --plain-compute: #8a3d78; --plain-warn: #8a4b00;
"""
DARK = """
  --plain-page: #14171c; --plain-text: #e4e7eb; --plain-soft: #a3abb5; --plain-line: #3b424c; --plain-card: #1d2128;
  --plain-link: #79b8ff; --plain-predicted: #62b5f0; --plain-measured: #f5a05a; --plain-memory: #3fc49c;
  --plain-compute: #dd9fcd; --plain-warn: #f0b060;
"""

# Of what stands on a chart; pictures outside the page have it, too.
CHARTS = """.grid { stroke: var(--line); stroke-width: 0.6; opacity: 0.8; }
.axis { fill: none; stroke: var(--soft); stroke-width: 1; }
.tick, .title { fill: var(--soft); }
.label { fill: var(--text); paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.label.predicted, .label.measured { font-weight: 600; }
.label.roof-name { fill: var(--soft); }
.roof { stroke-width: 1.8; fill: none; }
.roof.memory { stroke: var(--memory); }
.roof.memory.level-1 { stroke-dasharray: 7 3; }
.roof.memory.level-2 { stroke-dasharray: 12 3 2 3; }
.roof.compute { stroke: var(--compute); stroke-dasharray: 2 3; }
.curve { fill: none; stroke: var(--predicted); stroke-width: 2; stroke-linejoin: round; }
.curve.measured { stroke: var(--measured); stroke-width: 1.2; }
.band { fill: var(--predicted); opacity: 0.16; }
.mark { stroke: var(--page); stroke-width: 1.5; }
.mark.predicted { fill: var(--predicted); }
.mark.measured { fill: var(--measured); }
.mark.old { fill: var(--page); stroke: var(--measured); }
.range { stroke-width: 1.6; }
.range.predicted, .dash.predicted { stroke: var(--predicted); }
.range.measured { stroke: var(--measured); }
.dash { stroke-width: 2; stroke-dasharray: 4 3; }
.amount { fill: var(--predicted); }
.bound-memory .amount { fill: var(--memory); }
.bound-compute .amount { fill: var(--compute); }
.bound-launch .amount, .bound-latency .amount { fill: var(--soft); }
"""

STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
body.vscode-light, body.vscode-high-contrast-light {{ {LIGHT} }}
body.vscode-dark, body.vscode-high-contrast:not(.vscode-high-contrast-light) {{ {DARK} }}
body {{
  --page: var(--vscode-editor-background, var(--plain-page));
  --text: var(--vscode-editor-foreground, var(--plain-text));
  --soft: var(--vscode-descriptionForeground, var(--plain-soft));
  --line: var(--vscode-contrastBorder, var(--vscode-panel-border, var(--plain-line)));
  --card: var(--vscode-textBlockQuote-background, var(--plain-card));
  --link: var(--vscode-textLink-foreground, var(--plain-link));
  --predicted: var(--plain-predicted); --measured: var(--plain-measured);
  --memory: var(--plain-memory); --compute: var(--plain-compute); --warn: var(--plain-warn);
  margin: 0; padding: 1.25rem clamp(0.9rem, 3vw, 2rem) 3rem; background: var(--page); color: var(--text);
  font: 15px/1.5 var(--vscode-font-family, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif);
}}
main {{ max-width: 58rem; margin: 0 auto; }}
h1, h2, h3, h4 {{ line-height: 1.25; margin: 0; font-weight: 600; text-wrap: balance; }}
h1 {{ font-size: 1.6rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.35rem; overflow-wrap: anywhere; }}
h3 {{ font-size: 1.1rem; margin-top: 2.2rem; }}
h4 {{ font-size: 1rem; margin: 1.9rem 0 0.5rem; }}
p {{ margin: 0.45rem 0; max-width: 46rem; }}
a {{ color: var(--link); text-decoration: none; }}
a:hover, a:focus-visible {{ text-decoration: underline; }}
code {{ font-family: var(--vscode-editor-font-family, ui-monospace, "Cascadia Mono", Menlo, monospace);
  font-size: 0.92em; }}
.soft, figcaption {{ color: var(--soft); }}
.lead {{ font-size: 1.08rem; margin-top: 0.6rem; }}
.warning {{ border-left: 3px solid var(--warn); padding: 0.2rem 0 0.2rem 0.8rem; }}
section.kernel {{ margin-top: 3rem; padding-top: 1.6rem; border-top: 1px solid var(--line); }}
main[data-kernels="1"] section.kernel {{ margin-top: 0; padding-top: 0; border-top: 0; }}
nav {{ margin-top: 1.2rem; }}
dl.facts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.6rem; margin: 1rem 0; }}
dl.facts div {{ background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.55rem 0.8rem; }}
dl.facts dt {{ color: var(--soft); font-size: 0.85rem; }}
dl.facts dd {{ margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums;
  white-space: nowrap; }}
dl.facts dd.note {{ font-size: 0.85rem; font-weight: 400; color: var(--soft); white-space: normal; }}
.scroll {{ overflow-x: auto; margin: 0.5rem 0; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem;
  min-width: min(100%, 20rem); }}
table.full {{ width: 100%; }}
th, td {{ padding: 0.28rem 0.8rem 0.28rem 0; text-align: left; white-space: nowrap;
  border-bottom: 1px solid var(--line); }}
th:last-child, td:last-child {{ padding-right: 0; }}
th {{ color: var(--soft); font-weight: 500; font-size: 0.85rem; }}
td.number, th.number {{ text-align: right; }}
td.words {{ white-space: normal; min-width: 14rem; }}
td.fill {{ width: 99%; min-width: 5rem; }}
tr.current td {{ font-weight: 600; }}
tr.other td, td.old {{ color: var(--soft); }}
.badge {{ font-size: 0.78rem; font-weight: 400; color: var(--soft); border: 1px solid var(--line); border-radius: 999px;
  padding: 0 0.5em; margin-left: 0.5em; }}
figure {{ margin: 0.6rem 0 0; }}
figcaption {{ font-size: 0.88rem; max-width: 46rem; margin-top: 0.5rem; }}
svg.chart {{ display: block; width: 100%; height: auto;
  font: 12px/1 var(--vscode-font-family, system-ui, sans-serif); }}
svg.wide {{ max-width: 54rem; }}
svg.narrow {{ display: none; }}
ul.legend {{ display: flex; flex-wrap: wrap; gap: 0.15rem 1.2rem; list-style: none; padding: 0; margin: 0.5rem 0 0;
  font-size: 0.88rem; max-width: 54rem; }}
svg.key {{ width: 30px; height: 14px; vertical-align: -2px; margin-right: 0.45em; }}
svg.bar {{ display: block; width: 100%; height: 0.75rem; }}
svg.range {{ display: block; width: 8rem; height: 1rem; }}
{CHARTS}ul {{ margin: 0.4rem 0; padding-left: 1.2rem; max-width: 46rem; }}
li {{ margin: 0.15rem 0; }}
footer {{ margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); color: var(--soft);
  font-size: 0.85rem; }}
@media (max-width: 800px), print {{ .roomy {{ display: none; }} }}
body.vscode-high-contrast .grid {{ opacity: 0.35; }}
@media (max-width: 560px) {{
  svg.wide {{ display: none; }}
  svg.narrow {{ display: block; }}
  .badge {{ display: none; }}
  td.name {{ max-width: 11rem; overflow: hidden; text-overflow: ellipsis; }}
}}
@media (forced-colors: active) {{
  body {{ --page: Canvas; --text: CanvasText; --soft: CanvasText; --line: CanvasText; --card: Canvas; --link: LinkText;
    --predicted: CanvasText; --measured: Highlight; --memory: CanvasText; --compute: CanvasText; --warn: Highlight; }}
}}
@media print {{
  :root {{ {LIGHT} color-scheme: light; }}
  body {{ --page: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb; --card: #ffffff; padding: 0;
  font-size: 11pt; }}
  figure, table, dl, .scroll {{ break-inside: avoid; }}
  h2, h3, h4 {{ break-after: avoid; }}
  section.kernel {{ break-before: page; border-top: 0; margin-top: 0; }}
  main[data-kernels="1"] section.kernel {{ break-before: auto; }}
  .scroll {{ overflow: visible; }}
  table {{ font-size: 9pt; }}
}}
"""
