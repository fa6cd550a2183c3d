"use strict";
/* The value of a formula (formula.js) for given matrices: names is {name: number or matrix}. */

const NAMED = (node, key, names) => key in node.named ? evaluate(node.named[key], names) : undefined;

/* axis=1, -1 or dim=-1 goes along a row, 0 or -2 down a column. */
function axisOf(node, names, fallback, place = 1) {
  let axis = NAMED(node, "axis", names);
  if (axis === undefined && node.list.length > place) axis = evaluate(node.list[place], names);
  if (axis === undefined) return fallback;
  if (axis === null) return null;
  const known = { "-1": 1, 1: 1, 0: 0, "-2": 0 };
  if (!(axis in known))
    throw new FormulaError(`there is no axis ${axis}: a matrix has axis 0 (down a column) and ` +
      "axis 1 or -1 (along a row)", { about: node, axis: true });
  return known[axis];
}

function needMatrix(x, node) {
  if (isNumber(x) || x === null)
    throw new FormulaError(`${node.name} is of a matrix, and this is a number`, { about: node });
  return x;
}

/* head_1, ..., head_h: the dots are the heads between. */
function expandDots(list, names) {
  const number = (node) => node?.name === "head_h" || node?.name === "head_n" ? names.h
    : Number(/^head_(\d+)$/.exec(node?.name || "")?.[1] ?? NaN);
  return list.flatMap((node, i) => {
    if (node.kind !== "dots") return [node];
    const first = number(list[i - 1]), last = number(list[i + 1]);
    if (!(first > 0 && last > 0))
      throw new FormulaError("... stands between two heads: head_1, ..., head_h", { about: node });
    const step = Math.sign(last - first), between = [];
    for (let h = first + step; h !== last && step !== 0; h += step)
      between.push({ ...node, kind: "name", name: "head_" + h });
    return between;
  });
}

function cat(node, names) {
  const parts = expandDots(node.list, names).map((one) => evaluate(one, names))
    .flatMap((x) => Array.isArray(x) ? x : [x]);
  const axis = axisOf({ ...node, list: [] }, names, 1);
  if (parts.some(isNumber)) throw new FormulaError("cat is of matrices", { about: node });
  const sides = axis === 1 ? parts : parts.map(transpose);
  if (sides.some((x) => x.rows !== sides[0].rows))
    throw new FormulaError("matrices of different sizes cannot stand side by side",
      { about: node, shapes: true });
  const columns = sum(sides.map((x) => x.columns));
  const of = sides.flatMap((x) => Array.from({ length: x.columns }, (_, j) => [x, j]));
  const joined = matrix(sides[0].rows, columns, (i, j) => element(of[j][0], i, of[j][1]));
  return axis === 1 ? joined : transpose(joined);
}

const onScores = (x, f) => ({ ...matrix(x.rows, x.columns, f), isMask: x.isMask });

/* masked_fill(S, mask == 0, -inf), where(mask, S, -inf) */
function choose(condition, yes, no) {
  const pick = elementwise(condition, yes, (c, y) => c ? y : NaN, ",");
  return elementwise(elementwise(condition, pick, (c, y) => c ? y : 0, ","),
    elementwise(condition, no, (c, y) => c ? 0 : y, ","), (a, b) => a + b, ",");
}

const CALLS = {
  softmax: (node, names) => {
    const x = asAdded(needMatrix(evaluate(node.list[0], names), node));
    return softmax(x, axisOf(node, names, 1));
  },
  log_softmax: (node, names) => map(CALLS.softmax(node, names), Math.log),
  sum: (node, names) => reduced(node, names, sum),
  mean: (node, names) => reduced(node, names, mean),
  max: (node, names) => reduced(node, names, (values) => Math.max(...values)),
  argmax: (node, names) => {
    const x = needMatrix(evaluate(node.list[0], names), node), axis = axisOf(node, names, 1);
    const most = axis === 1 ? reduce(x, 1, true, (v) => Math.max(...v)) : reduce(x, axis, false, (v) => Math.max(...v));
    return elementwise(x, most, (a, b) => a === b ? 1 : 0, "==");
  },
  matmul: (node, names) => product(evaluate(node.list[0], names), second(node, names)),
  dot: (node, names) => product(evaluate(node.list[0], names), second(node, names)),
  multiply: (node, names) => elementwise(evaluate(node.list[0], names), second(node, names),
    (a, b) => a * b, "times"),
  cat,
  masked_fill: (node, names) => choose(second(node, names), third(node, names),
    evaluate(node.list[0], names)),
  where: (node, names) => choose(evaluate(node.list[0], names), second(node, names),
    third(node, names)),
  tril: (node, names) => triangle(node, names, (i, j, k) => j - i <= k),
  triu: (node, names) => triangle(node, names, (i, j, k) => j - i >= k),
  causal: (node, names) => {
    const x = needMatrix(evaluate(node.list[0], names), node);
    return onScores(x, (i, j) => j <= i ? element(x, i, j) : -Infinity);
  },
  ones: (node, names) => {
    const n = evaluate(node.list[0], names);
    if (!(n >= 1 && n <= 1000)) throw new FormulaError("ones has 1 to 1000 rows", { about: node });
    return { ...matrix(n, node.list.length > 1 ? Math.min(1000, evaluate(node.list[1], names)) : n, () => 1), isMask: true };
  },
  float: (node) => {
    const text = String(node.list[0].value ?? "").toLowerCase();
    if (/^-\s*inf/.test(text)) return -Infinity;
    if (/^\+?\s*inf/.test(text)) return Infinity;
    throw new FormulaError("float is known of \"-inf\" and \"inf\"", { about: node });
  },
  layernorm: (node, names) => {
    const x = needMatrix(evaluate(node.list[0], names), node);
    const centred = elementwise(x, reduce(x, 1, true, mean), (a, b) => a - b, "-");
    const variance = reduce(map(centred, (v) => v * v), 1, true, mean);
    return elementwise(centred, variance, (a, b) => a / Math.sqrt(b + 1e-5), "/");
  },
};
for (const [name, f] of [["sqrt", Math.sqrt], ["exp", Math.exp], ["log", Math.log], ["abs", Math.abs],
  ["tanh", Math.tanh], ["sigmoid", (x) => 1 / (1 + Math.exp(-x))], ["relu", (x) => Math.max(0, x)]])
  CALLS[name] = (node, names) => map(evaluate(node.list[0], names), f);

function second(node, names) {
  if (node.list.length < 2)
    throw new FormulaError(`${node.name} is of two things, with a comma between`, { about: node });
  return evaluate(node.list[1], names);
}

function third(node, names) {
  if (node.list.length < 3)
    throw new FormulaError(`${node.name} is of three things: the third is missing`, { about: node });
  return evaluate(node.list[2], names);
}

function reduced(node, names, f) {
  const x = needMatrix(evaluate(node.list[0], names), node);
  return reduce(x, axisOf(node, names, null), Boolean(NAMED(node, "keep", names)), f);
}

function triangle(node, names, keeps) {
  const x = needMatrix(evaluate(node.list[0], names), node);
  const k = node.list.length > 1 ? evaluate(node.list[1], names) : 0; // the diagonal
  return onScores(x, (i, j) => keeps(i, j, k) ? element(x, i, j) : 0);
}

const product = (a, b) => isNumber(a) || isNumber(b) ? elementwise(a, b, (x, y) => x * y, "times")
  : multiply(a, b);

const COMPARISONS = { "==": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b,
  ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b };

function binary(node, names) {
  const a = evaluate(node.left, names), b = evaluate(node.right, names), sign = node.sign;
  if (Array.isArray(a) || Array.isArray(b))
    throw new FormulaError("heads are several matrices: cat(heads) is one", { about: node });
  if (sign in COMPARISONS)
    return { ...elementwise(a, b, (x, y) => COMPARISONS[sign](x, y) ? 1 : 0, sign), isMask: true };
  if (sign === "*" && ((a.isMask || b.isMask) && hasShape(a, b)))
    return elementwise(a, b, (x, y) => x * y, "times"); // a mask of zeros and ones
  if (sign === "*" || sign === "@") return product(a, b);
  if (sign === "⊙") return elementwise(a, b, (x, y) => x * y, "⊙");
  if (sign === "/") return elementwise(a, b, (x, y) => x / y, "/");
  if (sign === "-" && isNumber(a)) return map(b, (y) => a - y); // (1 - mask)
  const [x, y] = [isNumber(b) ? a : asAdded(a), isNumber(a) ? b : asAdded(b)];
  return sign === "+" ? elementwise(x, y, (v, w) => v + w, "+")
    : elementwise(x, y, (v, w) => v - w, "-");
}

function nameOf(node, names) {
  if (node.name in names) return names[node.name];
  if (node.name in CONSTANTS) return CONSTANTS[node.name];
  throw new FormulaError(`${node.name}: there is no such name here`, { about: node, unknown: true });
}

const KINDS = {
  number: (node) => node.value,
  text: (node) => CALLS.float({ list: [node] }),
  name: nameOf,
  binary,
  negative: (node, names) => map(asAdded(evaluate(node.of, names)), (x) => -x),
  not: (node, names) => {
    const x = evaluate(node.of, names);
    return { ...map(x, (v) => v ? 0 : 1), isMask: true };
  },
  turned: (node, names) => transpose(evaluate(node.of, names)),
  call: (node, names) => CALLS[node.name] ? CALLS[node.name](node, names) : nameOf(node, names),
  power: (node, names) => {
    const x = evaluate(node.of, names), n = evaluate(node.exponent, names);
    if (!isNumber(n)) throw new FormulaError("an exponent is a number, or T", { about: node });
    if (!isNumber(x) && n === -1)
      throw new FormulaError("there is no inverse of a matrix in attention", { about: node });
    return map(x, (v) => v ** n);
  },
};

/* Throws a FormulaError whose `about` is the innermost node that has no value. */
function evaluate(node, names) {
  if (!KINDS[node.kind]) throw new FormulaError("... is not expected here", { about: node });
  try {
    return KINDS[node.kind](node, names);
  } catch (error) {
    if (error instanceof FormulaError && !error.about) error.about = node;
    throw error;
  }
}

/* The value of the last of several statements. */
function evaluateAll(statements, names) {
  const all = { ...names };
  let value;
  for (const { name, node } of statements) {
    value = evaluate(node, all);
    if (name) all[name] = value;
  }
  return value;
}
