'use strict';
// What the pages of trainings share: elements, numbers, charts.
const D = JSON.parse(document.getElementById('data').textContent);
const $ = (selector, from = document) => from.querySelector(selector);

// A new element: make('p', {class: 'help'}, 'text', otherElement).
function make(tag, attributes = {}, ...children) {
  const svg = /^(svg|g|line|path|circle|text|rect)$/.test(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag)
                : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

const percent = (x, digits = 2) => (100 * x).toFixed(digits) + '\u00a0%';
const count = x => x.toLocaleString('en-US');
const number = x => x == null ? '' : x === 0 ? '0'
  : Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(2) : String(+x.toPrecision(4));

// ---- curves ----

// How many steps the charts show, and how many passes over the pictures these are; 0: not known.
const SPAN = D.title ? {steps: D.title.steps, passes: D.title.epochs}
  : {steps: Math.max(...D.runs.map(r => r.steps)), passes: 0};
const charts = [];
const W = 480, H = 210, LEFT = 52, BOTTOM = 26, TOP = 8;

// Round numbers from min to max, some four of them.
function ticks(min, max) {
  const raw = (max - min) / 4 || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(m => m * power >= raw);
  const out = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max + step * 1e-9; k++) out.push(k * step || 0);
  return out;
}

// How series number k is drawn: in its own colour, or in that of the page's first or second.
const ink = (s, k) => s.colour ? {style: `stroke: ${s.colour}; color: ${s.colour}`}
  : {class: 's' + k};

// series: [{name, step: [...], y: [...], colour}]; show(y) is how a value is written. The colour
// may be left out, of one or two.
function chart(title, series, show) {
  series = series.map(s => {
    const keep = s.y.map((y, i) => i).filter(i => s.y[i] != null);
    return {...s, step: keep.map(i => s.step[i]), y: keep.map(i => s.y[i])};
  }).filter(s => s.y.length);
  if (!series.length) return;
  const all = series.flatMap(s => s.y);
  let min = Math.min(...all), max = Math.max(...all);
  if (min > 0 && min < .5 * max) min = 0;
  if (min === max) { min -= Math.abs(min) / 10 || .5; max += Math.abs(max) / 10 || .5; }
  const end = SPAN.steps || 1, passes = SPAN.passes;
  const x = step => LEFT + (W - LEFT - 8) * step / end;
  const y = v => H - BOTTOM - (H - BOTTOM - TOP) * (v - min) / (max - min);
  const svg = make('svg', {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: 'img', 'aria-label': title +
    ': ' + series.map(s => `${s.name} from ${show(s.y[0])} to ${show(s.y.at(-1))}`).join(', ')});
  for (const v of ticks(min, max))
    svg.append(make('line', {class: 'grid', x1: LEFT, x2: W - 8, y1: y(v), y2: y(v)}),
      make('text', {x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end'}, show(v)));
  const inPasses = passes >= 2;
  for (const v of ticks(0, inPasses ? passes : end))
    svg.append(make('text', {x: x(inPasses ? v * end / passes : v), y: H - 8,
      'text-anchor': v ? 'middle' : 'start'}, number(v) + (v ? '' : inPasses ? ' passes' : ' steps')));
  series.forEach((s, k) => svg.append(s.y.length > 1
    ? make('path', {...ink(s, k), d: 'M' + s.y.map((v, i) => `${x(s.step[i]).toFixed(1)},${
        y(v).toFixed(1)}`).join('L')})
    : make('circle', {...ink(s, k), ...(s.colour && {fill: s.colour}), cx: x(s.step[0]), cy: y(s.y[0]), r: 4})));
  const line = make('line', {class: 'cursor', y1: TOP, y2: H - BOTTOM, visibility: 'hidden'});
  svg.append(line);
  const read = make('div', {class: 'read', 'aria-live': 'polite'});
  const it = {x, line, read, series, show};
  svg.addEventListener('pointermove', e => {
    const box = svg.getBoundingClientRect();
    pointAt(((e.clientX - box.left) / box.width * W - LEFT) / (W - LEFT - 8) * end);
  });
  svg.addEventListener('keydown', e => {
    const move = {ArrowLeft: -1, ArrowRight: 1}[e.key];
    if (!move) return;
    e.preventDefault();
    const steps = series[0].step, now = nearest(steps, cursor);
    pointAt(steps[Math.max(0, Math.min(steps.length - 1, now + move))]);
  });
  charts.push(it);
  $('#curves .charts').append(make('div', {class: 'chart'}, make('h3', {}, title), svg, read));
}

function nearest(steps, step) {
  let best = 0;
  for (let i = 1; i < steps.length; i++)
    if (Math.abs(steps[i] - step) < Math.abs(steps[best] - step)) best = i;
  return best;
}

let cursor = SPAN.steps;

// All charts show this step.
function pointAt(step, drawn = true) {
  cursor = Math.max(0, Math.min(SPAN.steps, step));
  for (const c of charts) {
    const at = c.series.map(s => nearest(s.step, cursor));
    const x = c.x(c.series[0].step[at[0]]);
    c.line.setAttribute('x1', x);
    c.line.setAttribute('x2', x);
    c.line.setAttribute('visibility', drawn ? 'visible' : 'hidden');
    c.read.replaceChildren(`step ${count(c.series[0].step[at[0]])}: `, ...c.series.map((s, k) =>
      make('b', ink(s, k), (s.name ? s.name + ' ' : '') + c.show(s.y[at[k]]))));
  }
}

