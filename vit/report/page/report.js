'use strict';
// Draws the page from the data within it. Nothing is loaded, nothing is sent.
const label = i => D.labels ? D.labels[i] : String(i);
const brief = i => label(i).length > 28 ? label(i).slice(0, 27) + '…' : label(i); // in captions

// ---- head ----

function tile(name, value) {
  if (value) $('#tiles').append(make('div', {}, make('dt', {}, name), make('dd', {}, value)));
}

function head() {
  const t = D.title;
  if (D.measured) return void measuredHead();
  $('#title').textContent = document.title = `${t.preset} on ${t.data}`;
  const states = {
    done: `All ${count(t.step)} steps are done.`,
    stopped: `Stopped after step ${count(t.step)} of ${count(t.steps)}.`,
    running: `Still running: this is step ${count(t.step)} of ${count(t.steps)}; ` +
      'load the page again to see how it goes on.',
    log: `From the log of the training: step ${count(t.step)} of ${count(t.steps)}.`,
  };
  $('#subtitle').textContent = states[t.state];
  const last = D.epochs.step.length - 1, known = x => last >= 0 && D.epochs[x][last] != null;
  const tiles = [
    ['test pictures right', t.test_top1 != null && percent(t.test_top1)],
    ['validation accuracy', known('val_top1') && percent(D.epochs.val_top1[last])],
    ['training pictures right', known('train_top1') && percent(D.epochs.train_top1[last])],
    ['passes over the pictures', t.epochs > 0 && number(t.epochs * t.step / t.steps)],
    ['training pictures', t.train_images > 0 && count(t.train_images)],
    ['parameters', t.parameters > 0 && count(t.parameters)],
  ];
  for (const [name, value] of tiles) tile(name, value);
  $('#foot').textContent = 'Written by vit-train. All figures but the throughput are the same ' +
    'bytes for the same training, wherever it runs.';
}

// ---- an evaluation ----

function measuredHead() {
  const t = D.title, m = D.measured;
  $('#title').textContent = document.title = `${t.preset} on ${t.data}`;
  $('#subtitle').textContent = `Measured on ${D.answers.which} ${count(m.images)} pictures.` +
    (m.seen ? ' The model learnt from them: these figures say nothing of other pictures.' : '') +
    (m.unknown_images ? ` ${count(m.unknown_images)} pictures of classes that it does not know are` +
      ' left out.' : '');
  tile('right', percent(m.correct / m.images));
  tile('in 19 of 20 cases between', `${percent(m.interval[0], 1)} and ${percent(m.interval[1], 1)}`);
  tile('pictures', count(m.images));
  if (t.classes > 5) tile('right class among five', percent(m.top5));
  tile('calibration error (ECE)', percent(m.ece));
  tile('loss', number(m.loss));
  $('#foot').textContent = 'Written by vit-evaluate.';
}

// A chart of two shares: from 0 to `right` across, from 0 to `top` upwards.
function shares(title, help, names, right, top, draw) {
  const x = v => LEFT + (W - LEFT - 8) * v / right, y = v => H - BOTTOM - (H - BOTTOM - TOP) * v / top;
  const svg = make('svg', {viewBox: `0 0 ${W} ${H + 16}`, role: 'img', 'aria-label': title});
  for (const v of ticks(0, top))
    svg.append(make('line', {class: 'grid', x1: LEFT, x2: W - 8, y1: y(v), y2: y(v)}),
      make('text', {x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end'}, `${number(100 * v)} %`));
  for (const v of ticks(0, right))
    svg.append(make('text', {x: x(v), y: H - 8, 'text-anchor': v ? 'middle' : 'start'},
      `${number(100 * v)} %`));
  svg.append(make('text', {x: (LEFT + W) / 2, y: H + 10, 'text-anchor': 'middle'}, names));
  draw(svg, x, y);
  $('#trust .charts').append(make('div', {class: 'chart'}, make('h3', {}, title), svg,
    make('p', {class: 'read'}, help)));
}

function reliability(m) {
  shares('Reliability diagram', `A bar is as high as the share of answers of that probability that ` +
    `are right; calibrated, it ends at the line. Mean gap (ECE): ${percent(m.ece)}.`,
    'probability of the answer', 1, 1, (svg, x, y) => {
      const width = 1 / m.bins.length;
      m.bins.forEach((b, i) => b.images && svg.append(make('rect', {class: 's0',
        x: x(i * width) + 1, width: x(width) - x(0) - 2, y: y(b.accuracy),
        height: y(0) - y(b.accuracy)}, make('title', {}, `${count(b.images)} answers, ${
          percent(b.confidence, 1)} sure on average, ${percent(b.accuracy, 1)} right`))));
      svg.append(make('path', {class: 's1', d: `M${x(0)},${y(0)}L${x(1)},${y(1)}`}));
    });
}

function risk(r, n) {
  const wrong = r.answered.map((a, i) => 1 - r.right[i] / a);
  const say = share => {
    const i = r.answered.findIndex(a => a >= share * n);
    return i < 0 ? '' : `${percent(r.answered[i] / n, 1)} are answered with --abstain-below ${
      number(r.confidence[i])}, ${percent(wrong[i])} of the answers wrong. `;
  };
  shares('Risk and coverage', 'The model abstains where it is least sure: the fewer pictures it ' +
    'answers (coverage), the fewer answers are wrong (risk). ' + say(.8) + say(.9),
    'share of the pictures that is answered', 1, Math.max(.01, ...wrong) * 1.05, (svg, x, y) =>
      svg.append(make('path', {class: 's0', style: 'fill: none', d: 'M' + wrong.map((w, i) =>
        `${x(r.answered[i] / n).toFixed(1)},${y(w).toFixed(1)}`).join('L')})));
}

function classes(m) {
  const c = m.classes, share = (a, b) => b ? percent(a / b) : '';
  const f1 = i => 2 * c.right[i] / (c.images[i] + c.answers[i]);
  const rows = c.images.map((_, i) => i).filter(i => c.images[i] + c.answers[i]);
  rows.sort((a, b) => f1(a) - f1(b) || a - b);
  $('#classes table').append(make('thead', {}, make('tr', {}, ...['class', 'pictures', 'right',
    'recall', 'precision', 'f1'].map(x => make('th', {scope: 'col'}, x)))),
    make('tbody', {}, ...rows.map(i => make('tr', {}, make('td', {title: label(i)}, label(i)),
      ...[count(c.images[i]), count(c.right[i]), share(c.right[i], c.images[i]),
        share(c.right[i], c.answers[i]), percent(f1(i))].map(x => make('td', {}, x))))));
}

function issues(i) {
  if (!i) return;
  $('#issues').hidden = false;
  $('#issues .help').append(` ${count(i.count)} of ${count(D.answers.count)}` +
    (i.pictures.length < i.count ? `; here are the ${i.pictures.length} likeliest, the table has all.`
      : '.'));
  const selects = i.pictures.map((p, k) => D.pictures[p].file ? make('select',
    {'aria-label': 'what is right'}, ...[['', 'keep the label'], [label(i.likely[k]), 'relabel'],
      ['out', 'leave out']].map(([value, text]) => make('option', {value}, text))) : '');
  $('#issues .pictures').append(...i.pictures.map((p, k) => picture(p, make('figcaption', {},
    `labelled ${brief(D.pictures[p].truth)}, `, make('s', {}, `likely ${brief(i.likely[k])}`),
    selects[k]))));
  if (selects.some(x => x)) corrections(i, selects);
}

// What was chosen, as a list for vit-train --relabel: picture,label; no label leaves it out.
function corrections(i, selects) {
  const cell = text => /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  const save = make('button', {type: 'button'}, 'Save the list');
  save.addEventListener('click', () => {
    const lines = i.pictures.flatMap((p, k) => !selects[k] || selects[k].selectedIndex < 1 ? [] :
      [`${cell(D.pictures[p].file)},${selects[k].selectedIndex > 1 ? '' : cell(selects[k].value)}\n`]);
    const link = make('a', {download: 'corrections.csv', href: URL.createObjectURL(
      new Blob(['picture,label\n', ...lines], {type: 'text/csv'}))});
    link.click();
  });
  $('#issues').append(make('p', {class: 'help'}, save, ' corrections.csv: those that you relabel or ' +
    'leave out, for vit-train --data DATA --relabel corrections.csv. Nothing of yours is moved.'));
}

function copies(c) {
  if (!c || !c.count) return;
  $('#copies').hidden = false;
  $('#copies .help').append(` ${count(c.count)} pair${c.count > 1 ? 's' : ''}` +
    (c.pairs.length < c.count ? `; here are ${c.pairs.length}, --near-duplicates FILE.csv lists all.`
      : '.'));
  $('#copies .pictures').append(...c.pairs.map(x => picture(x.picture, make('figcaption', {},
    ...(x.png ? [make('img', {src: 'data:image/png;base64,' + x.png, alt: x.file,
      class: Math.max(...D.answers.size) < 96 ? 'pixels' : ''})] : []),
    `${x.alike}: ${x.file} (${x.split})`,
    ...(x.label === D.pictures[x.picture].truth ? [] :
      [' ', make('s', {}, `${brief(D.pictures[x.picture].truth)} and ${brief(x.label)}`)])))));
}

function list(id, items) {
  $(id).hidden = !items.length;
  $(`${id} ul`).append(...items.map(x => make('li', {}, x)));
}

function evaluation() {
  const m = D.measured;
  if (!m) return;
  $('#trust').hidden = $('#classes').hidden = false;
  reliability(m);
  risk(D.answers.risk, D.answers.count);
  classes(m);
  issues(D.answers.issues);
  copies(D.answers.copies);
  list('#notes', m.notes);
  list('#files', m.files);
}

function advice() {
  if (!D.advice.length) return void ($('#advice').hidden = true);
  for (const tip of D.advice)
    $('#advice div').append(make('div', {class: 'tip'}, make('h3', {}, tip.name),
      make('p', {}, tip.why), make('ul', {}, ...tip.try.map(x => make('li', {}, ...code(x))))));
}

// `words` within a text are code.
const code = text => text.split('`').map((part, i) => i % 2 ? make('code', {}, part) : part);

// ---- curves ----

function curves() {
  const p = D.points, e = D.epochs;
  chart('Loss', [{name: 'training', step: p.step, y: p.loss},
                 {name: 'validation', step: e.step, y: e.val_loss}], number);
  chart('Pictures right', [{name: 'training', step: e.step, y: e.train_top1},
    {name: 'validation', step: e.step, y: e.val_top1}], x => number(100 * x) + '\u00a0%');
  chart('Learning rate', [{name: '', step: p.step, y: p.lr}], number);
  chart('Norm of the gradient', [{name: '', step: p.step, y: p.grad_norm}], number);
  chart('Pictures a second', [{name: '', step: p.step, y: p.rate}], x => count(Math.round(x)));
  if (!charts.length) return void ($('#curves').hidden = true);
  pointAt(cursor, false);
}

// ---- pictures ----

function picture(i, caption = answered(D.pictures[i])) {
  const p = D.pictures[i];
  if (D.measured) caption.append(make('br'), make('code', {}, p.file ?? `index ${p.number}`));
  return make('figure', {}, make('img', {src: 'data:image/png;base64,' + p.png,
    class: Math.max(...D.answers.size) < 96 ? 'pixels' : '', title: `number ${count(p.number)}`,
    alt: `${label(p.truth)}, answered ${label(p.answer)}`}), caption);
}

function answered(p) {
  const caption = make('figcaption', {}, `${brief(p.truth)} `);
  if (p.answer !== p.truth)
    caption.append(make('s', {}, `taken for ${brief(p.answer)} `));
  caption.append(`(${percent(p.probability, 1)}`,
    p.answer === p.truth ? ')' : `; ${brief(p.truth)}: ${percent(p.truth_probability, 1)})`);
  return caption;
}

// ---- confusion ----

const FEW = 40; // classes of which a matrix can be read

function confusion() {
  if (!D.answers) return void ($('#confusion').hidden = true);
  const a = D.answers, n = D.title.classes, rows = new Array(n).fill(0);
  $('#confusion .help').append(` Of ${a.which} ${count(a.right)} of ${count(a.count)} are ` +
    `answered right, ${percent(a.right / a.count)}.`);
  for (const c of a.cells) rows[c.truth] += c.count;
  const button = (c, text) => {
    const b = make('button', {style: `--share:${(.12 + .78 * Math.sqrt(c.count / rows[c.truth]))
      .toFixed(3)}`, class: c.truth === c.answer ? 'right' : '', 'aria-pressed': 'false',
      'aria-label': `${label(c.truth)} answered ${label(c.answer)}: ${c.count}`}, text);
    b.addEventListener('click', () => choose(b, c));
    return b;
  };
  if (n <= FEW) matrix(a, n, button);
  else pairs(a, button);
}

function matrix(a, n, button) {
  const cells = new Map(a.cells.map(c => [c.truth * n + c.answer, c])), grid = [];
  const body = make('tbody');
  for (let i = 0; i < n; i++) {
    grid.push([]);
    const tr = make('tr', {}, make('th', {scope: 'row', title: label(i)}, label(i)));
    for (let j = 0; j < n; j++) {
      const c = cells.get(i * n + j);
      const b = c ? button(c, String(c.count)) : make('button', {class: 'none', style: '--share:0',
        'aria-disabled': 'true', 'aria-label': `${label(i)} answered ${label(j)}: 0`}, '·');
      b.tabIndex = i + j ? -1 : 0;
      b.dataset.row = i;
      b.dataset.column = j;
      grid[i].push(b);
      tr.append(make('td', {}, b));
    }
    body.append(tr);
  }
  // One stop of the Tab key; the arrow keys go on from there.
  body.addEventListener('keydown', e => {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[e.key];
    const from = e.target.closest('button');
    if (!move || !from) return;
    const to = (grid[+from.dataset.row + move[0]] || [])[+from.dataset.column + move[1]];
    e.preventDefault();
    if (to) focusOn(grid, to);
  });
  body.addEventListener('focusin', e => focusOn(grid, e.target.closest('button')));
  const tall = grid.some((_, i) => label(i).length > 3) ? 'tall' : '';
  $('.matrix').append(make('table', {}, make('thead', {class: tall}, make('tr', {}, make('th', {}, ''),
    ...grid.map((_, j) => make('th', {scope: 'col', title: label(j)}, label(j))))), body));
}

function focusOn(grid, to) {
  for (const b of grid.flat()) b.tabIndex = b === to ? 0 : -1;
  if (document.activeElement !== to) to.focus();
}

function pairs(a, button) {
  const wrong = a.cells.filter(c => c.truth !== c.answer).sort((x, y) => y.count - x.count);
  $('#confusion .help').append(' There are too many classes for a matrix: these are the pairs ' +
    `that are confused most often, ${Math.min(60, wrong.length)} of ${count(wrong.length)}.`);
  $('.matrix').append(make('div', {class: 'pairs'}, ...wrong.slice(0, 60).map(c =>
    button(c, `${label(c.truth)} → ${label(c.answer)}: ${c.count}`))));
}

function choose(b, c) {
  for (const old of document.querySelectorAll('.matrix [aria-pressed="true"]'))
    old.setAttribute('aria-pressed', 'false');
  b.setAttribute('aria-pressed', 'true');
  const right = c.truth === c.answer, shown = c.pictures.length;
  const what = right ? `${label(c.truth)}, answered right` : `${label(c.truth)}, taken for ${
    label(c.answer)}`;
  const which = shown === c.count ? '' : !shown ? ' (none of them is in this page, which would be too '
    + 'large)' : right ? `; the ${shown} least certain` : `; the ${shown} most certain`;
  $('#cell').replaceChildren(make('p', {}, make('b', {}, what), `: ${count(c.count)} of ${
    count(D.answers.count)} pictures${which}`), ...c.pictures.map(i => picture(i)));
}

function worst() {
  if (!D.answers || !D.answers.worst.length) return void ($('#worst').hidden = true);
  const wrong = D.answers.count - D.answers.right;
  $('#worst .help').append(` ${count(D.answers.worst.length)} of ${count(wrong)} wrong answers.`);
  $('#worst .pictures').append(...D.answers.worst.map(i => picture(i)));
}

// ---- weights ----

function filters() {
  const f = D.filters;
  if (!f) return void ($('#filters').hidden = true);
  $('#filters .help').textContent = `The first layer compares every place of the picture with ${
    count(f.of)} patterns of ${f.size} x ${f.size} pixels, its weights. ` + (f.of > f.count
      ? `Here are the ${f.count} largest. ` : 'Here they are, the largest first. ') +
    'Grey is no weight, bright adds, dark takes away. Edges, blobs and gradients say that it has ' +
    'learnt what pictures are made of; noise says that it has not, or need not.';
  const scale = Math.max(1, Math.min(6, Math.floor(900 / f.width)));
  $('#filters div').append(make('img', {class: 'pixels', src: 'data:image/png;base64,' + f.png,
    width: f.width * scale, alt: `${f.count} patterns of the first layer`}));
}

function positions() {
  const p = D.positions;
  if (!p) return void ($('#positions').hidden = true);
  const bytes = Uint8Array.from(atob(p.cosine), c => c.charCodeAt(0));
  const n = p.rows * p.columns, all = $('#all'), one = $('#one');
  // From the least to the most alike of two places: every place is all alike to itself.
  const others = bytes.filter((_, i) => Math.floor(i / n) !== i % n);
  const low = others.reduce((a, b) => Math.min(a, b), 254);
  const span = Math.max(1, others.reduce((a, b) => Math.max(a, b), 0) - low);
  // Dark blue over green to yellow, as bright as the value.
  const colour = b => {
    const t = Math.min(1, (b - low) / span);
    return [255 * Math.min(1, Math.max(.1, 1.9 * t - .8)), 255 * (.07 + .85 * t),
      255 * (.35 + .3 * Math.sin(3.1 * t) - .25 * t)];
  };
  const fill = (image, width, left, top, place) => {
    for (let i = 0; i < n; i++) {
      const at = 4 * ((top + Math.floor(i / p.columns)) * width + left + i % p.columns);
      image.data.set([...colour(bytes[place * n + i]), 255], at);
    }
  };
  const width = p.columns * (p.columns + 1) - 1, height = p.rows * (p.rows + 1) - 1;
  const draw = (canvas, w, h, scale, fillIt) => {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${w * scale}px`;
    const context = canvas.getContext('2d'), image = context.createImageData(w, h);
    fillIt(image);
    context.putImageData(image, 0, 0);
  };
  draw(all, width, height, Math.max(1, Math.min(16, Math.floor(560 / width))), image => {
    for (let i = 0; i < n; i++)
      fill(image, width, i % p.columns * (p.columns + 1), Math.floor(i / p.columns) * (p.rows + 1), i);
  });
  let place = Math.floor(p.rows / 2) * p.columns + Math.floor(p.columns / 2);
  const show = to => {
    place = to;
    draw(one, p.columns, p.rows, Math.floor(220 / p.columns), image =>
      fill(image, p.columns, 0, 0, place));
    const row = Math.floor(place / p.columns), column = place % p.columns;
    const other = bytes.slice(place * n, place * n + n).reduce((best, b, i, a) =>
      i !== place && (best < 0 || b > a[best]) ? i : best, -1);
    $('#positions figcaption').textContent = `Row ${row + 1}, column ${column + 1}: ` + (other < 0
      ? 'the only place' : `most alike to row ${Math.floor(other / p.columns) + 1}, column ${
        other % p.columns + 1} (cosine ${(bytes[place * n + other] / 127.5 - 1).toFixed(2)})`);
  };
  const point = e => {
    const box = all.getBoundingClientRect();
    const column = Math.floor((e.clientX - box.left) / box.width * p.columns);
    const row = Math.floor((e.clientY - box.top) / box.height * p.rows);
    if (row >= 0 && row < p.rows && column >= 0 && column < p.columns) show(row * p.columns + column);
  };
  all.addEventListener('pointermove', point);
  all.addEventListener('pointerdown', point);
  all.addEventListener('keydown', e => {
    const move = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -p.columns, ArrowDown: p.columns}[e.key];
    if (!move) return;
    e.preventDefault();
    if (place + move >= 0 && place + move < n) show(place + move);
  });
  show(place);
}

head();
evaluation();
advice();
curves();
confusion();
worst();
filters();
positions();
