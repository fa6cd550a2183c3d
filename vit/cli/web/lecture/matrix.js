"use strict";
/* Matrices of numbers for the formulas of students: {rows, columns, at}, row after row. A number is a
   JavaScript number. isMask: of zeros and ones, 1 where a token may look; a product with it is
   element by element. adds: a sum with it adds 0 and minus infinity. */

/* What a formula does wrong: `about` is the node of the formula, `shapes` that sizes do not fit. */
class FormulaError extends Error {
  constructor(message, details = {}) {
    super(message);
    Object.assign(this, details);
  }
}

const isNumber = (x) => typeof x === "number";
const shapeOf = (x) => isNumber(x) ? "a number" : `${x.rows} x ${x.columns}`;

function matrix(rows, columns, element) {
  const at = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) at[i * columns + j] = element(i, j);
  return { rows, columns, at };
}

const element = (m, i, j) => m.at[i * m.columns + j];

function map(x, f) {
  if (isNumber(x)) return f(x);
  return { rows: x.rows, columns: x.columns, at: x.at.map(f) };
}

function transpose(x) {
  if (isNumber(x)) return x;
  return { ...matrix(x.columns, x.rows, (i, j) => element(x, j, i)), isMask: x.isMask, adds: x.adds };
}

function multiply(a, b) {
  if (a.columns !== b.rows)
    throw new FormulaError(`${shapeOf(a)} times ${shapeOf(b)} does not fit`, { shapes: true });
  const c = matrix(a.rows, b.columns, () => 0);
  for (let i = 0; i < a.rows; i++)
    for (let k = 0; k < a.columns; k++)
      for (let j = 0; j < b.columns; j++)
        c.at[i * b.columns + j] += element(a, i, k) * element(b, k, j);
  return c;
}

/* f of two numbers, element by element; a row or a column is repeated. */
function elementwise(a, b, f, sign) {
  if (isNumber(a) && isNumber(b)) return f(a, b);
  if (isNumber(a)) return map(b, (y) => f(a, y));
  if (isNumber(b)) return map(a, (x) => f(x, b));
  const fits = (x, y) => x === y || x === 1 || y === 1;
  if (!fits(a.rows, b.rows) || !fits(a.columns, b.columns))
    throw new FormulaError(`${shapeOf(a)} ${sign} ${shapeOf(b)} does not fit`, { shapes: true });
  const of = (m, i, j) => element(m, m.rows === 1 ? 0 : i, m.columns === 1 ? 0 : j);
  return matrix(Math.max(a.rows, b.rows), Math.max(a.columns, b.columns),
    (i, j) => f(of(a, i, j), of(b, i, j)));
}

/* The mask as what is added to scores: 0 and minus infinity. */
const asAdded = (x) => x.adds ? map(x, (keep) => keep ? 0 : -Infinity) : x;

/* ---- sums and softmax: axis 1 goes along a row, 0 down a column, null over all ---- */

/* Rows of numbers that belong together; `put` writes them back. */
function lines(x, axis) {
  if (axis === null) return [Array.from(x.at, (_, k) => k)];
  const [count, length] = axis === 1 ? [x.rows, x.columns] : [x.columns, x.rows];
  const place = (i, k) => axis === 1 ? i * x.columns + k : k * x.columns + i;
  return Array.from({ length: count }, (_, i) => Array.from({ length }, (_, k) => place(i, k)));
}

function reduce(x, axis, keeps, f) {
  const values = lines(x, axis).map((line) => f(line.map((k) => x.at[k])));
  if (axis === null) return values[0];
  /* without keepdims it is a row again, as in NumPy */
  const isColumn = axis === 1 && keeps;
  return isColumn ? matrix(values.length, 1, (i) => values[i])
    : matrix(1, values.length, (i, j) => values[j]);
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;

function softmax(x, axis) {
  const y = map(x, (v) => v);
  for (const line of lines(x, axis)) {
    const largest = Math.max(...line.map((k) => x.at[k]));
    const total = sum(line.map((k) => Math.exp(x.at[k] - largest)));
    for (const k of line) y.at[k] = Math.exp(x.at[k] - largest) / total;
  }
  return y;
}

/* ---- comparing ---- */

function largest(x) {
  let most = 0;
  for (const v of x.at) if (Number.isFinite(v)) most = Math.max(most, Math.abs(v));
  return most;
}

/* The first place at which two matrices of one shape differ by more than float32 explains. */
function firstDifference(got, want, tolerance = 2e-5) {
  want.largest ??= largest(want);
  const bound = tolerance * want.largest + 1e-9;
  for (let k = 0; k < want.at.length; k++)
    if (!(Math.abs(got.at[k] - want.at[k]) <= bound) && !Object.is(got.at[k], want.at[k]))
      return { row: Math.floor(k / want.columns), column: k % want.columns, got: got.at[k],
               want: want.at[k] };
  return null;
}

const hasShape = (x, y) => !isNumber(x) && x.rows === y.rows && x.columns === y.columns;
const isSame = (got, want) => hasShape(got, want) && firstDifference(got, want) === null;

/* c if a = c b, else null. */
function factorBetween(a, b) {
  if (!hasShape(a, b)) return null;
  let k = 0;
  for (let i = 0; i < b.at.length; i++) if (Math.abs(b.at[i]) > Math.abs(b.at[k])) k = i;
  const c = a.at[k] / b.at[k];
  return Number.isFinite(c) && c !== 0 && isSame(a, map(b, (v) => c * v)) ? c : null;
}
