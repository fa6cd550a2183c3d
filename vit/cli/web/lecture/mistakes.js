"use strict";
/* Which mistake a wrong formula makes. The right formula is varied in every way that students get
   wrong, one, two and three at once; the variation that gives the student's own numbers has the
   names. So a mistake is found however the formula is spelled. */

/* What can be varied, each {option: [name, sentence]}; the sentence may use the setting s. */
const HEAD_OPTIONS = {
  scores: {
    qk: null,
    kq: ["Q and K swapped", () => "K Q^T is Q K^T transposed: row i has to belong to the query of token i. Write Q K^T."],
    qq: ["Q twice", () => "Q Q^T compares queries with queries. The keys are K: Q K^T."],
    kk: ["K twice", () => "K K^T compares keys with keys. The queries are Q: Q K^T."],
    xx: ["no projection", () => "X X^T compares the tokens themselves, without W^Q and W^K. Write Q K^T."],
    vk: ["V in place of Q", () => "V K^T compares values with keys. The queries are Q: Q K^T."],
    kv: ["roles of Q, K and V", () => "K V^T compares keys with values. Queries are compared with keys: Q K^T."],
    vq: ["roles of Q, K and V", () => "V Q^T compares values with queries. Queries are compared with keys: Q K^T."],
    qv: ["V in place of K", () => "Q V^T compares queries with values. The keys are K: Q K^T."],
  },
  norm: {
    rows: null,
    columns: ["wrong axis", () => "The softmax goes down the columns (axis 0). Each row has to sum to 1: axis 1, or -1."],
    all: ["wrong axis", () => "The softmax goes over the whole matrix. Each row has to sum to 1: axis 1, or -1."],
    none: ["softmax missing", () => "There is no softmax: the weights of a token have to be positive, and to sum to 1."],
    exp: ["not normalised", () => "The exponentials are not divided by the sum of their row, so that the weights do not sum to 1."],
    keep: ["wrong axis", () => "The sums of the rows are divided along the columns: keepdims=True is missing."],
    sigmoid: ["not softmax", () => "A sigmoid makes each weight for itself; they do not sum to 1. It is a softmax."],
    relu: ["not softmax", () => "This is a ReLU, whose weights do not sum to 1. It is a softmax."],
    ratio: ["not softmax", () => "The scores are divided by their sum. A softmax takes their exponentials first."],
    twice: ["softmax twice", () => "The softmax is taken twice, which makes the weights almost equal."],
    hard: ["not softmax", () => "This takes the largest score alone. A softmax weighs all of them."],
    log: ["not softmax", () => "This is the logarithm of the softmax."],
  },
  value: {
    v: null,
    none: ["V missing", () => "These are the weights, softmax(...). They still have to weigh the values: softmax(...) V."],
    k: ["K in place of V", () => "The weights weigh the keys K. What a token hands on are its values: V."],
    q: ["Q in place of V", () => "The weights weigh the queries Q. What a token hands on are its values: V."],
    x: ["X in place of V", () => "The weights weigh the tokens X, without W^V. The values are V."],
    inside: ["V inside the softmax", () => "V stands inside the softmax. It belongs behind the bracket: softmax(...) V."],
    left: ["weights transposed", () => "The weights are transposed: column i weighs the values, and it does not sum to 1. Write softmax(...) V."],
  },
  out: {
    same: null,
    mean: ["mean in place of sum", (s) => `The result is divided by the ${s.n} tokens. The weights sum to 1 already: it is a mean.`],
    turned: ["result transposed", () => "The result is transposed: a row has to belong to a token."],
    plus: ["sum too much", () => "V is added to the result."],
    plusQ: ["sum too much", () => "Q is added to the result."],
    normed: ["softmax at the end", () => "The result itself goes through a softmax."],
  },
};

const SCALES = [
  ["none", "scale missing", () => 1, (s) => `The scores are not divided by ${s.root}. Without it they are large, and the softmax is nearly one 1 and zeros.`],
  ["after", "scaled after the softmax", () => 1, (s) => `The result is divided by ${s.root}, after the softmax. The scores have to be, before it.`],
  ["afterTimes", "scaled after the softmax", () => 1, (s) => `The result is multiplied by ${s.root}, after the softmax. The scores have to be divided by it, before the softmax.`],
  ["head", "scale of a head", (s) => s.d_k ** -.5, (s) => `The scores are divided by sqrt(d_k) = ${round(s.d_k ** .5)}, as in the paper. The course's code, and this network, divide by sqrt(D) = ${round(s.D ** .5)}.`],
  ["dim", "scale of the whole width", (s) => s.D ** -.5, (s) => `The scores are divided by sqrt(D) = ${round(s.D ** .5)}, D being the width of all heads. The formula has the width of one head: sqrt(d_k) = ${round(s.d_k ** .5)}.`],
  ["square", "square root missing", (s) => 1 / s.width, (s) => `The scores are divided by ${s.width} itself. It is its square root: ${s.root}.`],
  ["squareHead", "square root missing", (s) => 1 / s.d_k, (s) => `The scores are divided by d_k = ${s.d_k} itself. It is the square root: ${s.root}.`],
  ["squareDim", "square root missing", (s) => 1 / s.D, (s) => `The scores are divided by D = ${s.D}. It is ${s.root}.`],
  ["times", "scale upside down", (s) => s.width ** .5, (s) => `The scores are multiplied by ${s.root}. They have to be divided by it.`],
  ["timesWidth", "scale upside down", (s) => s.width, (s) => `The scores are multiplied by ${s.width}. They have to be divided by ${s.root}.`],
  ["tokens", "scale of the tokens", (s) => s.n ** -.5, (s) => `The scores are divided by sqrt(n), the number of tokens. It is the width of a head: ${s.root}.`],
  ["count", "scale of the tokens", (s) => 1 / s.n, (s) => `The scores are divided by the number of tokens, ${s.n}. It is ${s.root}.`],
  ["heads", "scale of the heads", (s) => s.h ** -.5, (s) => `The scores are divided by the square root of the number of heads. It is ${s.root}.`],
  ["headCount", "scale of the heads", (s) => 1 / s.h, (s) => `The scores are divided by the number of heads, ${s.h}. It is ${s.root}.`],
  ["twice", "scaled twice", (s) => 1 / s.width ** 1.5, (s) => `The scores are divided by ${s.root} three times.`],
  ["fourth", "scale of the fourth root", (s) => s.width ** -.25, (s) => `The scores are divided by the fourth root. It is ${s.root}.`],
  ["negative", "wrong sign", (s) => -(s.width ** -.5), () => "The scores have the opposite sign: what suits best gets the smallest weight."],
  ["negativePlain", "wrong sign", () => -1, () => "The scores have the opposite sign, and are not scaled."],
];

const MASKS = {
  none: ["mask missing", () => "The mask is missing: a token sees those after it. Scores of later tokens have to be minus infinity before the softmax."],
  lower: ["mask too much", () => "There is a mask, but in an encoder every token sees all others."],
  upper: ["mask the wrong way", () => "The mask is the wrong way: a token sees itself and those after it. It has to see those before it."],
  strict: ["mask hides the token itself", () => "The mask hides the token itself as well, and the first token sees nothing: its softmax is 0 / 0."],
  inverse: ["mask the wrong way", () => "The mask is the wrong way: it hides what a token may see. mask is 1 where it may look."],
  zeros: ["mask of zeros", () => "Hidden scores are 0. exp(0) = 1, so that hidden tokens have a weight: it has to be minus infinity."],
  zerosUpper: ["mask the wrong way", () => "The upper triangle is kept: a token sees itself and those after it. And hidden scores are 0, where they have to be minus infinity."],
  after: ["mask after the softmax", () => "The mask comes after the softmax: the weights of a row no longer sum to 1. It belongs before it."],
  added: ["mask after the softmax", () => "Minus infinity is added after the softmax. It belongs before it, to the scores."],
  ones: ["mask of ones", () => "The mask is added as 1 and 0. What is added has to be 0 and minus infinity."],
};

const round = (x) => String(Number(x.toPrecision(4)));
const keeps = { lower: (i, j) => j <= i, upper: (i, j) => j >= i, strict: (i, j) => j < i,
  inverse: (i, j) => j > i };

/* ---- the formula of one head, varied ---- */

function scoresOf(choice, p) {
  const [a, b] = { qk: [p.Q, p.K], kq: [p.K, p.Q], qq: [p.Q, p.Q], kk: [p.K, p.K], xx: [p.X, p.X],
    qv: [p.Q, p.V], vk: [p.V, p.K], kv: [p.K, p.V], vq: [p.V, p.Q] }[choice];
  return multiply(a, transpose(b));
}

function maskScores(x, mask) {
  if (keeps[mask]) return matrix(x.rows, x.columns, (i, j) => keeps[mask](i, j) ? element(x, i, j) : -Infinity);
  if (mask === "zeros") return matrix(x.rows, x.columns, (i, j) => j <= i ? element(x, i, j) : 0);
  if (mask === "zerosUpper") return matrix(x.rows, x.columns, (i, j) => j >= i ? element(x, i, j) : 0);
  if (mask === "ones") return matrix(x.rows, x.columns, (i, j) => element(x, i, j) + (j <= i ? 1 : 0));
  return x;
}

function maskWeights(x, mask) {
  if (mask === "after") return matrix(x.rows, x.columns, (i, j) => j <= i ? element(x, i, j) : 0);
  if (mask === "added") return matrix(x.rows, x.columns, (i, j) => j <= i ? element(x, i, j) : -Infinity);
  return x;
}

const NORMS = {
  rows: (x) => softmax(x, 1),
  columns: (x) => softmax(x, 0),
  all: (x) => softmax(x, null),
  none: (x) => x,
  exp: (x) => map(x, Math.exp),
  keep: (x) => elementwise(map(x, Math.exp), reduce(map(x, Math.exp), 1, false, sum), (a, b) => a / b, "/"),
  sigmoid: (x) => map(x, (v) => 1 / (1 + Math.exp(-v))),
  relu: (x) => map(x, (v) => Math.max(0, v)),
  ratio: (x) => elementwise(x, reduce(x, 1, true, sum), (a, b) => a / b, "/"),
  twice: (x) => softmax(softmax(x, 1), 1),
  hard: (x) => elementwise(x, reduce(x, 1, true, (v) => Math.max(...v)), (a, b) => a === b ? 1 : 0, "="),
  log: (x) => map(softmax(x, 1), Math.log),
};

function headResult(choice, p, s) {
  let x = scoresOf(choice.scores, p);
  const before = SCALES.find(([name]) => name === choice.scale);
  const right = s.width ** -.5;
  x = map(x, (v) => v * (before ? before[2](s) : right));
  if (choice.value === "inside") {
    x = NORMS[choice.norm](multiply(maskScores(x, choice.mask), p.V));
  } else {
    x = maskWeights(NORMS[choice.norm](maskScores(x, choice.mask)), choice.mask);
    const value = { v: p.V, left: p.V, k: p.K, q: p.Q, x: p.X }[choice.value];
    if (value) x = multiply(choice.value === "left" ? transpose(x) : x, value);
  }
  if (choice.scale === "after") x = map(x, (v) => v * right);
  if (choice.scale === "afterTimes") x = map(x, (v) => v / right);
  if (choice.out === "mean") x = map(x, (v) => v / s.n);
  if (choice.out === "turned") x = transpose(x);
  if (choice.out === "plus" && hasShape(x, p.V)) x = elementwise(x, p.V, (a, b) => a + b, "+");
  if (choice.out === "plusQ" && hasShape(x, p.Q)) x = elementwise(x, p.Q, (a, b) => a + b, "+");
  return choice.out === "normed" ? softmax(x, 1) : x;
}

function headTarget(s) {
  const scale = { right: null }, rightName = s.whole ? "dim" : "head", mask = {};
  for (const [name, title, , text] of SCALES) if (name !== rightName) scale[name] = [title, text];
  const rightMask = s.causal ? "lower" : "none";
  mask[rightMask] = null;
  for (const [name, value] of Object.entries(MASKS)) if (name !== rightMask)
    mask[name] = s.causal ? value : MASKS.lower;
  return { options: { scale, norm: HEAD_OPTIONS.norm, mask, scores: HEAD_OPTIONS.scores,
    value: HEAD_OPTIONS.value, out: HEAD_OPTIONS.out }, result: headResult };
}

/* ---- the formula after the heads: cat(head_1, ..., head_h) W^O + b^O + z ---- */

const SUM_OPTIONS = {
  heads: {
    cat: null,
    reversed: ["order of the heads", () => "The heads stand side by side in the opposite order: head_1 comes first."],
    swapped: ["order of the heads", () => "Two heads have changed places: head_1 comes first, then head_2, ..."],
    turned: ["heads interleaved", () => "The columns of the heads are interleaved. Each head keeps its columns together."],
  },
  output: {
    w: null,
    none: ["W^O missing", () => "The heads still have to go through W^O: cat(...) W^O."],
    turned: ["W^O transposed", () => "W^O is transposed. Here it is [in][out], as the lecture writes it: cat(...) W^O."],
  },
  bias: {
    b: null,
    none: ["bias missing", () => "The layer has a bias: + b^O."],
    twice: ["bias twice", () => "The bias is added twice."],
  },
  residual: {
    z: null,
    none: ["residual missing", () => "The block adds its input: + z. Without it deep networks hardly train."],
    x: ["residual after the norm", () => "X is LN(z). What is added is the block's input itself, before the norm: + z."],
    minus: ["wrong sign", () => "z is subtracted. It has to be added."],
    twice: ["residual twice", () => "z is added twice."],
  },
  norm: {
    none: null,
    after: ["norm after the sum", () => "LN comes after the sum, as in the original Transformer. In this network it comes before: X = LN(z)."],
  },
};

function sumResult(choice, p) {
  const number = { cat: (k) => k, reversed: (k) => p.h - 1 - k,
    swapped: (k) => k < 2 ? 1 - k : k, turned: (k) => k }[choice.heads];
  const heads = Array.from({ length: p.h }, (_, k) => p["head_" + (number(k) + 1)]);
  const d = heads[0].columns;
  let x = matrix(heads[0].rows, d * p.h, (i, j) => choice.heads === "turned"
    ? element(heads[j % p.h], i, Math.floor(j / p.h)) : element(heads[Math.floor(j / d)], i, j % d));
  if (choice.output !== "none") x = multiply(x, choice.output === "w" ? p["W^O"] : transpose(p["W^O"]));
  const add = (y, sign = 1) => { x = elementwise(x, y, (a, b) => a + sign * b, "+"); };
  if (choice.bias !== "none") add(p["b^O"], choice.bias === "twice" ? 2 : 1);
  if (choice.residual !== "none")
    add(choice.residual === "x" ? p.X : p.z, { minus: -1, twice: 2 }[choice.residual] || 1);
  return choice.norm === "after" ? CALLS.layernorm({ list: [{ kind: "name", name: "x" }] }, { x }) : x;
}

const sumTarget = () => ({ options: SUM_OPTIONS, result: sumResult });

/* ---- searching ---- */

const rightChoice = (options) => Object.fromEntries(Object.entries(options)
  .map(([part, all]) => [part, Object.keys(all).find((name) => all[name] === null)]));

/* All choices with `count` mistakes, in the order of the tables; of each part the first `most`. */
function* choices(options, count, most, from = 0) {
  const parts = Object.keys(options);
  if (count === 0) {
    yield {};
    return;
  }
  for (let k = from; k < parts.length; k++)
    for (const name of Object.keys(options[parts[k]]).filter((one) => options[parts[k]][one]).slice(0, most))
      for (const rest of choices(options, count - 1, most, k + 1)) yield { [parts[k]]: name, ...rest };
}

/* The results of variations at a place, for the next formula that is compared there. */
const computed = new WeakMap();

function resultOf(target, choice, place, setting) {
  if (!computed.has(place)) computed.set(place, new Map());
  const results = computed.get(place);
  const key = Object.values(choice).join() + setting.whole + setting.causal;
  if (!results.has(key)) {
    try {
      results.set(key, target.result(choice, place.names, setting));
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      results.set(key, null); // sizes that do not fit
    }
  }
  return results.get(key);
}

/* The mistakes, at most `most` together, with which the right formula has these values at all
   places: [{name, text}]; null: none. values: [places]. */
function searchMistakes(target, places, values, setting, most = 3) {
  const right = rightChoice(target.options);
  if (values.some((x) => isNumber(x) || x.at.every(Number.isNaN))) return null;
  for (let count = 1; count <= most; count++)
    for (const wrong of choices(target.options, count, count < 3 ? Infinity : 4)) {
      const choice = { ...right, ...wrong };
      const fits = places.every((place, k) => {
        const result = resultOf(target, choice, place, setting);
        return result && isSame(values[k], result);
      });
      if (fits) return Object.entries(wrong).map(([part, name]) => {
        const [title, text] = target.options[part][name];
        return { name: title, text: text(setting) };
      });
    }
  return null;
}
