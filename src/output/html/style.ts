/** The style of a page: light and dark, for wide and narrow screens and for paper. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --ink: #1b2127; --soft: #545e69; --line: #d5dbe1; --link: #0a58a8;
  --error: #b0241c; --warning: #865600; --ok: #1b6b3d; --unknown: #6840ad; --skipped: #545e69; --bar: #4a6fa5;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181c; --panel: #1c2228; --ink: #e3e7eb; --soft: #a6b0ba; --line: #353e47; --link: #84b9f5;
    --error: #ff938a; --warning: #e6b04f; --ok: #72cc98; --unknown: #c4abff; --skipped: #a6b0ba; --bar: #7d9fd0;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 var(--sans); overflow-wrap: anywhere;
}
body > header, body > nav, body > main, body > footer {
  max-width: 58rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2rem);
}
body > header { padding-top: 2rem; }
body > footer {
  margin-top: 3rem; padding-block: 1rem 2.5rem; color: var(--soft); font-size: .875rem;
}
h1, h2, h3, h4, p, ul, ol, dl, dd, pre, figure, table { margin: 0; }
h1 { font-size: 1.75rem; line-height: 1.25; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; line-height: 1.3; margin-bottom: 1rem; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
h4 { font-size: .875rem; line-height: 1.4; color: var(--soft); margin: 1.25rem 0 .375rem; }
main > section { padding-top: 2.5rem; }
a { color: var(--link); text-underline-offset: .15em; }
a:hover { text-decoration-thickness: .125em; }
:focus-visible { outline: .1875rem solid var(--link); outline-offset: .125rem; border-radius: .25rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus {
  left: 1rem; top: .5rem; z-index: 1; padding: .5rem 1rem; background: var(--paper); border: 1px solid var(--line);
}
.kicker { color: var(--soft); font-size: .875rem; margin-bottom: .25rem; }
.soft { color: var(--soft); }
.count { color: var(--soft); font-weight: 400; }
.verdict {
  display: flex; gap: .75rem; margin-top: 1rem; padding: .875rem 1rem;
  border: 1px solid var(--line); border-left: .3125rem solid var(--tone); border-radius: .375rem;
  background: var(--panel);
}
.verdict .sign { width: 1.5rem; height: 1.5rem; margin-top: .125rem; }
.verdict strong { display: block; font-size: 1.125rem; }
.error { --tone: var(--error); }
.warning { --tone: var(--warning); }
.ok { --tone: var(--ok); }
.unknown { --tone: var(--unknown); }
.skipped, .info { --tone: var(--skipped); }
.sign {
  flex: none; width: 1.125em; height: 1.125em; vertical-align: -.2em; color: var(--tone); fill: none;
  stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round;
}
.word { color: var(--tone); font-weight: 600; white-space: nowrap; }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); gap: .75rem 1.5rem;
  margin-top: 1.25rem;
}
.facts > :first-child { grid-column: span 2; }
@media (max-width: 21rem) { .facts > :first-child { grid-column: auto; } }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { font-variant-numeric: tabular-nums; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
nav {
  margin-top: 1.5rem; font-size: .9375rem;
}
nav ul { padding-block: .5rem; border-block: 1px solid var(--line); }
nav a { display: inline-block; padding-block: .25rem; }
.cause {
  padding: 1.125rem 1.25rem 1.25rem; border: 1px solid var(--line); border-left: .3125rem solid var(--tone);
  border-radius: .375rem;
}
.cause + .cause { margin-top: 1.25rem; }
.said + .said { margin-top: .25rem; }
section > h3 { margin: 1.5rem 0 .375rem; }
.cause h3 { margin-bottom: .25rem; }
.cause h3 .word { display: block; font-size: .875rem; }
.cause h3 code { font-size: 1rem; font-weight: 600; }
.cause .said { margin-top: .625rem; max-width: 46rem; }
.cause ul { padding-left: 1.25rem; }
.cause li + li { margin-top: .25rem; }
code, pre { font-family: var(--mono); font-size: .8438rem; line-height: 1.5; }
li code, p code, dd code, td code, h3 code { font-size: .9em; }
pre {
  padding: .625rem .75rem; border-radius: .25rem; background: var(--panel);
  white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2;
}
.line { display: block; padding-left: 1.5em; text-indent: -1.5em; }
.command {
  display: flex; align-items: flex-start; gap: .5rem; padding: .5rem .5rem .5rem .75rem; border: 1px solid var(--line);
  border-radius: .25rem; background: var(--panel);
}
.command + .command, p + .command, .command + p, p + ul, p + p { margin-top: .5rem; }
.rows p + p { margin-top: .125rem; }
.command pre { flex: 1; min-width: 0; padding: .1875rem 0; background: none; }
.command .soft { display: block; font-family: var(--sans); font-size: .8125rem; }
button {
  flex: none; min-width: 4.75rem; padding: .25rem .625rem; border: 1px solid var(--soft); border-radius: .25rem;
  background: var(--paper); color: var(--ink); font: .8125rem/1.5 var(--sans); cursor: pointer;
}
button:hover { border-color: var(--link); color: var(--link); }
[hidden] { display: none; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
caption { padding-bottom: .5rem; text-align: left; color: var(--soft); font-size: .875rem; }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: .8125rem; font-weight: 400; }
td.number, th.number { min-width: 4.5rem; text-align: right; font-variant-numeric: tabular-nums; }
tr > :last-child { padding-right: 0; }
tbody th { min-width: 6.5rem; }
td time { white-space: nowrap; }
table + table { margin-top: 1.5rem; }
time { font-variant-numeric: tabular-nums; }
.rows { padding: 0; list-style: none; }
.rows > li { padding-block: .5rem; border-bottom: 1px solid var(--line); }
.rows > li:first-child { border-top: 1px solid var(--line); }
.rows p { max-width: 46rem; }
.plain { padding-left: 1.25rem; list-style: disc; }
.picture { padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: .375rem; }
.picture svg { display: block; width: 100%; overflow: visible; }
.picture text { fill: var(--soft); font: .75rem var(--sans); font-variant-numeric: tabular-nums; }
.picture .lane { fill: var(--ink); }
.picture .bar { fill: var(--bar); }
.picture .mark { fill: var(--ink); stroke: var(--paper); stroke-width: 1; }
.picture .base { stroke: var(--line); }
.picture .grid { stroke: var(--line); stroke-dasharray: 2 4; }
figcaption { margin-top: .75rem; color: var(--soft); font-size: .875rem; }
details { margin-top: 1rem; }
summary { padding-block: .25rem; color: var(--link); cursor: pointer; }
details[open] > summary { margin-bottom: .5rem; }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 34rem) {
  body > header { padding-top: 1.25rem; }
  h1 { font-size: 1.5rem; }
  main > section { padding-top: 2rem; }
  .cause, .picture { padding: .875rem; }
  .command { flex-direction: column; }
  .command pre { width: 100%; }
  th, td { padding-right: .5rem; }
  table { font-size: .875rem; }
}
@media (forced-colors: active) {
  .picture .bar, .picture .mark { fill: CanvasText; }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --panel: #fff; --ink: #000; --soft: #444; --line: #bbb; --link: #000;
    --error: #8f1912; --warning: #6b4500; --ok: #14522e; --unknown: #513189; --skipped: #444; --bar: #555;
  }
  body { font-size: 10pt; }
  body > header, body > nav, body > main, body > footer { max-width: none; padding-inline: 0; }
  body > header { padding-top: 0; }
  nav, button, .skip, summary { display: none; }
  pre { border: 1px solid var(--line); }
  .command pre { border: 0; }
  h2, h3, h4 { break-after: avoid; }
  .command, .picture, tr, .rows > li { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; opacity: 1; }
}
`

/** The script of a page: shows the buttons, which copy a command. Without it, the page lacks only these. */
export const pageScript = `
'use strict';
const heard = document.getElementById('heard');
const select = (code) => {
  const range = document.createRange();
  range.selectNodeContents(code);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
};
const copy = async (code) => {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    select(code);
    return document.execCommand('copy');
  }
};
for (const button of document.querySelectorAll('button[data-copy]')) {
  const code = document.getElementById(button.dataset.copy);
  const name = button.textContent;
  button.hidden = false;
  let timer;
  button.addEventListener('click', async () => {
    const copied = await copy(code);
    if (!copied) select(code);
    button.textContent = heard.dataset[copied ? 'copiedButton' : 'selectedButton'];
    heard.textContent = heard.dataset[copied ? 'copied' : 'selected'];
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = name;
      heard.textContent = '';
    }, 2000);
  });
}
`
