"use strict";
/* Compares a student's formula with the library's numbers at every place, and says what is wrong.
   A place is {block, head, names, want}: the matrices that the formula may use, and the result. */

const textOf = (statement, node) => statement.text.slice(node.from, node.to).trim();

/* ---- repairing: the smallest change that makes the formula right ---- */

const MOST_REPAIRS = 4000;
const isProduct = (node) => node.kind === "binary" && ["*", "@"].includes(node.sign);
const turnedNode = (node) => node.kind === "turned" ? node.of : { ...node, kind: "turned", of: node };
const withPower = (text) => /^\w+$/.test(text) ? `${text}^T` : `(${text})^T`;

function* productRepairs(node, statement) {
  const [left, right] = [textOf(statement, node.left), textOf(statement, node.right)];
  for (const side of ["right", "left"]) {
    const one = node[side], text = side === "left" ? left : right, isTurned = one.kind === "turned";
    yield { node: { ...node, [side]: turnedNode(one) },
            name: isTurned ? "transposed too much" : "transposition missing",
            text: isTurned ? `${text} must not be transposed.`
              : `Did you forget ^T? ${text} has to be transposed: ${withPower(text)}.` };
  }
  yield { node: { ...node, left: node.right, right: node.left }, name: "order of a product",
          text: `A product of matrices has an order: write ${right} before ${left}.` };
  for (const [kept, dropped] of [[node.left, right], [node.right, left]])
    yield { node: kept, name: "factor too much", text: `${dropped} is a factor too much.` };
  if (isProduct(node.left) && isProduct(node.left.left)) // a b c d as (a b) (c d)^T
    yield { node: { ...node, left: node.left.left, right: { ...node, kind: "turned", of: { ...node, left: node.left.right } } },
            name: "brackets missing", text: `Without brackets ${textOf(statement, node)} goes from left to right. Q and K are products of their own: (X W^Q)(X W^K)^T.` };
}

/* Signs and functions that do not belong there. */
function* otherRepairs(node, statement) {
  const text = textOf(statement, node);
  if (node.kind === "binary" && ["+", "-"].includes(node.sign))
    for (const [kept, dropped] of [[node.left, node.right], [node.right, node.left]])
      yield { node: kept, name: "summand too much", text: `${textOf(statement, dropped)} is a summand too much.` };
  if (node.kind === "binary" && ["+", "-", "/", "⊙"].includes(node.sign))
    yield { node: { ...node, sign: "@" }, name: "not a matrix product",
            text: `${text} goes element by element. It has to be a product of matrices: every row with every column.` };
  if (node.kind === "call" && node.list.length > 0 && node.name !== "cat")
    yield { node: node.list[0], name: `${node.name} too much`, text: `${node.name} is too much here.` };
}

/* Every formula that is one change away: [{node, name, text}]. */
function* repairs(node, statement) {
  if (isProduct(node)) yield* productRepairs(node, statement);
  else yield* otherRepairs(node, statement);
  for (const key of ["left", "right", "of"].filter((one) => node[one]))
    for (const one of repairs(node[key], statement)) yield { ...one, node: { ...node, [key]: one.node } };
  for (let i = 0; node.kind === "call" && i < node.list.length; i++)
    for (const one of repairs(node.list[i], statement))
      yield { ...one, node: { ...node, list: node.list.map((x, k) => k === i ? one.node : x) } };
}

function* repairedFormulas(statements) {
  for (let k = 0; k < statements.length; k++)
    for (const one of repairs(statements[k].node, statements[k]))
      yield { statements: statements.map((s, i) => i === k ? { ...s, node: one.node } : s),
              mistakes: [{ name: one.name, text: one.text }] };
}

/* One change; then, `twice`, two. */
function* allRepairs(statements, twice) {
  const once = [...repairedFormulas(statements)];
  yield* once;
  for (const one of twice ? once : [])
    for (const two of repairedFormulas(one.statements))
      yield { statements: two.statements, mistakes: [...one.mistakes, ...two.mistakes] };
}

function valuesOf(statements, places) {
  try {
    return places.map((place) => evaluateAll(statements, place.names));
  } catch (error) {
    if (error instanceof FormulaError) return null;
    throw error;
  }
}

/* The changes that make a formula right; where its sizes do not fit, two at once, or such that leave
   mistakes which have names. []: none. */
function repairFormula(statements, places, target, setting, isUnfit) {
  const fitting = [];
  let tried = 0;
  for (const one of allRepairs(statements, isUnfit)) {
    if (++tried > MOST_REPAIRS) break; // of a long formula
    const values = valuesOf(one.statements, places);
    if (!values || !places.every((place, k) => hasShape(values[k], place.want))) continue;
    if (places.every((place, k) => isSame(values[k], place.want))) return one.mistakes;
    if (isUnfit && one.mistakes.every((m) => !/^(?!transposed).* too much$/.test(m.name))) fitting.push({ ...one, values });
  }
  let best = null;
  for (const one of fitting.slice(0, 20)) {
    const others = searchMistakes(target, places, one.values, setting, 2);
    const cost = others && one.mistakes.length + 1.5 * others.length;
    if (others && (!best || cost < best.cost)) best = { cost, mistakes: [...one.mistakes, ...others] };
  }
  return best ? best.mistakes : fitting.length > 0 ? fitting[0].mistakes : [];
}

/* ---- what can be said of a formula whose numbers no known mistake gives ---- */

function* nodesOf(node) {
  yield node;
  for (const key of ["left", "right", "of"]) if (node[key]) yield* nodesOf(node[key]);
  for (const one of node.list || []) yield* nodesOf(one);
}

function valueOrNull(node, names) {
  try {
    return evaluate(node, names);
  } catch {
    return null;
  }
}

/* The names of a formula after each statement, at one place. */
function withAssigned(statements, names) {
  const all = { ...names };
  for (const { name, node } of statements) if (name) all[name] = valueOrNull(node, all);
  return all;
}

function describeParts(statements, place, setting) {
  const names = withAssigned(statements, place.names), p = place.names;
  const nodes = statements.flatMap((s) => [...nodesOf(s.node)]);
  const softmaxes = nodes.filter((node) => node.kind === "call" && node.name === "softmax");
  const uses = (name) => nodes.some((node) => node.kind === "name" && node.name === name);
  const found = [], scores = multiply(p.Q, transpose(p.K));
  if (softmaxes.length === 0 && !nodes.some((node) => node.name === "exp"))
    found.push({ name: "softmax missing", text: HEAD_OPTIONS.norm.none[1]() });
  for (const node of softmaxes) {
    const inside = valueOrNull(node.list[0], names), factor = inside && factorBetween(inside, scores);
    const right = setting.width ** -.5;
    if (factor && Math.abs(factor - right) > 1e-4 * right)
      found.push({ name: "wrong scale", text: `The scores are Q K^T times ${round(factor)}. It has to be ${round(right)}: divided by ${setting.root}.` });
    else if (inside && !factor && !setting.causal)
      found.push({ name: "wrong scores", text: `What stands in the softmax is not Q K^T / ${setting.root.replace(/ =.*/, "")}.` });
  }
  if (uses("W^Q") && !uses("X"))
    found.push({ name: "X missing", text: "W^Q alone is a weight, the same for every picture. The queries are Q = X W^Q." });
  if (!uses("V") && !uses("W^V")) found.push({ name: "V missing", text: HEAD_OPTIONS.value.none[1]() });
  if (setting.causal && !nodes.some((n) => ["mask", "causal", "tril", "triu"].includes(n.name)))
    found.push({ name: "mask missing", text: MASKS.none[1]() });
  if (found.length === 0)
    found.push({ name: "not known", text: "The numbers are others, and no mistake that this page knows gives them." });
  return found;
}

function describeSum(statements) {
  const nodes = statements.flatMap((s) => [...nodesOf(s.node)]), found = [];
  const uses = (name) => nodes.some((node) => node.name === name);
  if (!uses("cat"))
    found.push({ name: "heads not side by side", text: "The heads have to stand side by side: cat(head_1, ..., head_h)." });
  if (!uses("W^O")) found.push({ name: "W^O missing", text: SUM_OPTIONS.output.none[1]() });
  if (!uses("z")) found.push({ name: "residual missing", text: SUM_OPTIONS.residual.none[1]() });
  if (!uses("b^O")) found.push({ name: "bias missing", text: SUM_OPTIONS.bias.none[1]() });
  return found;
}

function describeNaN(statements) {
  const nodes = statements.flatMap((s) => [...nodesOf(s.node)]);
  if (nodes.some((node) => node.sign === "-" && node.right.name === "mask"))
    return { name: "wrong sign of the mask", text: "The mask is subtracted: minus minus infinity is plus infinity. Add it: + mask." };
  return { name: "not a number", text: "The result is not a number somewhere: 0 times infinity, 0 / 0, or the root of a negative number." };
}

/* Only where a hypothesis is compared: two places are enough to tell mistakes apart. */
const someOf = (places) => places.length > 1 ? [places[0], places[places.length - 1]] : places;

function explain(statements, places, setting) {
  const some = someOf(places), values = valuesOf(statements, some);
  const target = setting.target === "sum" ? sumTarget() : headTarget(setting);
  const mistakes = searchMistakes(target, some, values, setting);
  if (mistakes) return mistakes;
  const repaired = repairFormula(statements, some, target, setting, false);
  if (repaired.length > 0) return repaired;
  if (values.some((x) => !isNumber(x) && x.at.some(Number.isNaN))) return [describeNaN(statements)];
  return setting.target === "sum" ? describeSum(statements) : describeParts(statements, some[0], setting);
}

function describeError(error, statements, places, setting) {
  const mistakes = [], some = someOf(places);
  const target = setting.target === "sum" ? sumTarget() : headTarget(setting);
  const holder = statements?.find((s) => [...nodesOf(s.node)].includes(error.about));
  const about = holder ? textOf(holder, error.about) : "";
  const name = error.shapes ? "sizes" : error.unknown ? "unknown name" : error.axis ? "wrong axis" : "not readable";
  mistakes.push({ name, text: about && error.shapes ? `${about}: ${error.message}.` : `${error.message}.` });
  if (!error.shapes) return mistakes;
  const joins = statements.some((s) => [...nodesOf(s.node)].some((node) => node.name === "cat"));
  const repaired = setting.target === "sum" && !joins ? []
    : repairFormula(statements, some, target, setting, true);
  const rest = setting.target === "sum" ? describeSum(statements) : describeParts(statements, some[0], setting);
  return [...mistakes, ...(repaired.length > 0 ? repaired : rest)];
}

const unique = (mistakes) => mistakes.filter((m, k) => mistakes.findIndex((o) => o.text === m.text) === k);

/* setting: {target: "head" or "sum", whole, causal, n, d_k, D, h}. The result: {isRight, places:
   [whether each is right], first: {place, row, column, got, want}, mistakes: [{name, text}]}. */
function checkFormula(source, places, given) {
  const width = given.whole ? given.D : given.d_k;
  const setting = { ...given, width, root: `sqrt(${given.whole ? "D" : "d_k"}) = ${round(width ** .5)}` };
  let statements = null;
  try {
    statements = parseFormula(source, Object.keys(places[0].names));
    const values = places.map((place) => evaluateAll(statements, place.names));
    const shape = places.map((place, k) => hasShape(values[k], place.want));
    const differences = places.map((place, k) => shape[k] ? firstDifference(values[k], place.want) : {});
    const wrong = differences.findIndex((one) => one !== null);
    const result = { isRight: wrong < 0, places: differences.map((one) => one === null), mistakes: [] };
    if (wrong < 0) return result;
    if (shape[wrong]) result.first = { place: places[wrong], ...differences[wrong] };
    else result.shape = `The result is ${shapeOf(values[wrong])}; it has to be ${shapeOf(places[wrong].want)}.`;
    result.mistakes = unique(explain(statements, places, setting));
    return result;
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { isRight: false, places: places.map(() => false), error,
             mistakes: unique(describeError(error, statements, places, setting)) };
  }
}
