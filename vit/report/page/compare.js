'use strict';
// Several trainings: a table by recipe, and their curves in one chart each.
const COLOURS = ['#1f77b4', '#d9730d', '#2a9d55', '#c23b4e', '#8a63c9', '#8c6a4f', '#d162a4', '#7a8288',
  '#a9a416', '#1aa3b5'];
const colour = run => COLOURS[run.group % COLOURS.length];
const FIGURES = [['best_val_top1', 'validation'], ['last_val_top1', 'at last'], ['test_top1', 'test']];

const title = i => D.groups[i] || `${D.runs[0].preset} on ${D.runs[0].data}`;
const mean = values => values.reduce((a, b) => a + b, 0) / values.length;
const deviation = values => Math.sqrt(values.reduce((a, b) => a + (b - mean(values)) ** 2, 0) /
  (values.length - 1));

// A row whose figures are made of those of all runs; one that a run lacks is left out.
function summary(name, runs, of) {
  const cells = FIGURES.map(([key]) => runs.some(r => r[key] == null) ? '-'
    : percent(of(runs.map(r => r[key]))));
  return make('tr', {class: 'summary'}, make('th', {scope: 'row', colspan: 3}, name),
    ...cells.map(text => make('td', {}, text)));
}

function group(i) {
  const runs = D.runs.filter(r => r.group === i), body = make('tbody');
  body.append(make('tr', {}, make('th', {scope: 'rowgroup', colspan: 3 + FIGURES.length,
    style: `color: ${COLOURS[i % COLOURS.length]}`}, title(i))));
  for (const r of runs)
    body.append(make('tr', {}, make('th', {scope: 'row'}, r.name),
      make('td', {}, r.seed == null ? '' : count(r.seed)),
      make('td', {}, `${count(r.done)} of ${count(r.steps)}`),
      ...FIGURES.map(([key]) => make('td', {}, r[key] == null ? '-' : percent(r[key])))));
  if (runs.length > 1) body.append(summary('mean', runs, mean), summary('deviation', runs, deviation));
  return body;
}

function figures() {
  $('#subtitle').textContent = `${count(D.runs.length)} trainings of ${count(D.groups.length)} ` +
    (D.groups.length === 1 ? 'recipe' : 'recipes');
  $('.runs').append(make('table', {}, make('thead', {}, make('tr', {},
    ...['log', 'seed', 'steps', ...FIGURES.map(([, name]) => name + ', right')].map(name =>
      make('th', {scope: 'col'}, name)))), ...D.groups.map((_, i) => group(i))));
}

function curves() {
  const series = (step, y) => D.runs.map(r => ({name: r.name, step: r[step], y: r[y],
    colour: colour(r)}));
  chart('Training loss', series('step', 'loss'), number);
  chart('Validation pictures right', series('epoch_step', 'val_top1'), x => number(100 * x) + '\u00a0%');
  chart('Held-back loss', series('epoch_step', 'val_loss'), number);
  chart('Learning rate', series('step', 'lr'), number);
  if (!charts.length) return void ($('#curves').hidden = true);
  pointAt(cursor, false);
}

figures();
curves();
