/* Formulas of attention as students write them, with the mistakes that the page of the lecture has
   to name (vit/cli/web/lecture). usage: node tests/web/formulas.js; called by formulas.sh. */
"use strict";
const fs = require("fs");

const files = ["matrix", "formula", "evaluate", "mistakes", "check"];
const source = files.map((name) => fs.readFileSync(`vit/cli/web/lecture/${name}.js`, "utf8")
  .replace('"use strict";', "")).join("\n");
const { checkFormula, matrix, multiply, transpose, softmax, element, elementwise } =
  new Function(`"use strict"; ${source}
    return { checkFormula, matrix, multiply, transpose, softmax, element, elementwise };`)();

/* ---- one head, and what the heads become, from random numbers ---- */

const n = 5, D = 32, d = 8, h = 4;
let state = 1;
function random() {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 1073741824 - 1;
}
const drawn = (rows, columns) => matrix(rows, columns, random);

/* The right result, written here once more. */
function attention(Q, K, V, width, causal) {
  const scores = multiply(Q, transpose(K));
  const seen = matrix(n, n, (i, j) =>
    causal && j > i ? -Infinity : element(scores, i, j) / Math.sqrt(width));
  return multiply(softmax(seen, 1), V);
}

function headPlace(whole, causal) {
  const X = drawn(n, D), names = { X, d_k: d, d_v: d, d, D, n, N: n, h };
  for (const name of ["Q", "K", "V"]) {
    names["W^" + name] = drawn(D, d);
    names[name] = multiply(X, names["W^" + name]);
  }
  names.mask = { ...matrix(n, n, (i, j) => j <= i ? 1 : 0), isMask: true, adds: true };
  return { names, want: attention(names.Q, names.K, names.V, whole ? D : d, causal) };
}

function sumPlace() {
  const names = { X: drawn(n, D), z: drawn(n, D), "W^O": drawn(D, D), "b^O": drawn(1, D), d_k: d, D, n, h };
  const heads = Array.from({ length: h }, () => drawn(n, d));
  heads.forEach((head, k) => { names["head_" + (k + 1)] = head; });
  names.head_h = heads[h - 1];
  names.heads = heads;
  const joined = matrix(n, D, (i, j) => element(heads[Math.floor(j / d)], i, j % d));
  const plus = (a, b) => elementwise(a, b, (x, y) => x + y, "+");
  return { names, want: plus(plus(multiply(joined, names["W^O"]), names["b^O"]), names.z) };
}

const settings = {
  head: { target: "head" }, whole: { target: "head", whole: true },
  causal: { target: "head", causal: true }, sum: { target: "sum" },
};
const places = {};
for (const [name, s] of Object.entries(settings))
  places[name] = Array.from({ length: 3 }, () => s.target === "sum" ? sumPlace()
    : headPlace(Boolean(s.whole), Boolean(s.causal)));

/* ---- right in every spelling ---- */

const right = {
  head: [
    "softmax(Q K^T / sqrt(d_k)) V", "softmax(QK^T/sqrt(d_k))V", "softmax(Q*K'/sqrt(dk), axis=1) * V",
    "softmax(Q @ K.T / sqrt(d)) @ V", "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V",
    "\\text{softmax}\\left(\\frac{QK^\\top}{\\sqrt{d_k}}\\right)V",
    "$\\mathrm{softmax}\\left(\\frac{Q K^{T}}{\\sqrt{d_{k}}}\\right) V$",
    "softmax(QKᵀ/√d_k)·V", "np.matmul(softmax(np.matmul(Q, K.T) / np.sqrt(d_k), axis=-1), V)",
    "torch.softmax(Q @ K.transpose(-2, -1) / math.sqrt(d_k), dim=-1) @ V",
    "F.softmax(q @ k.mT * d_k ** -0.5, dim=-1) @ v", "softmax(Q / sqrt(d_k) K^T) V",
    "softmax(1/sqrt(d_k) Q K^T) V", "softmax(d_k^(-1/2) Q K^T) V", "softmax(Q K^T / d_k^0.5) V",
    "S = Q K^T / sqrt(d_k); P = softmax(S); P V", "scores = Q @ K.T / sqrt(d_k)\nsoftmax(scores) @ V",
    "exp(Q K^T / sqrt(d_k)) / sum(exp(Q K^T / sqrt(d_k)), axis=1, keepdims=True) @ V",
    "(Q @ K.T / sqrt(d_k)).softmax(dim=-1) @ V", "softmax((X W^Q)(X W^K)^T / sqrt(d_k)) X W^V",
    "softmax(X W_Q (X W_K)^T / sqrt(d_k)) (X W_V)", "softmax(XW^Q(XW^K)^T/sqrt(d_k))XW^V",
    "softmax(K Q^T / sqrt(d_k), axis=0)^T V", "softmax(Q_i K_i^T / sqrt(d_k)) V_i",
    "softmax((K Q^T)^T / sqrt(d_k)) V", "(V^T softmax(Q K^T / sqrt(d_k))^T)^T", "softmax(Q K^T / 2.8284271247) V",
    "Softmax(Q · K^T / √(d_k)) × V", "Q.dot(K.T) / sqrt(d_k); softmax(Q.dot(K.T) / sqrt(d_k)).dot(V)",
  ],
  whole: ["softmax(Q K^T / sqrt(D)) V", "softmax(Q K^T / sqrt(d_model)) V", "softmax(Q @ K.T * dim ** -0.5) @ V"],
  causal: [
    "softmax(Q K^T / sqrt(d_k) + M) V", "softmax(mask + Q K^T / sqrt(d_k)) V",
    "softmax((Q K^T / sqrt(d_k)).masked_fill(mask == 0, -inf)) V",
    'softmax((Q @ K.T / sqrt(d_k)).masked_fill(mask == 0, float("-inf")), dim=-1) @ V',
    "softmax(where(mask, Q K^T / sqrt(d_k), -inf)) V", "softmax(causal(Q K^T / sqrt(d_k))) V",
    "softmax(Q K^T / sqrt(d_k) - 1e9 * (1 - mask)) V", "softmax((Q K^T + M) / sqrt(d_k)) V",
    "softmax(where(tril(ones(n, n)), Q K^T / sqrt(d_k), -inf)) V",
    "S = Q K^T / sqrt(d_k); E = exp(S) * mask; E / sum(E, axis=1, keepdims=True) @ V",
    "softmax(masked_fill(Q K^T / sqrt(d_k), triu(ones(n, n), 1), -inf)) V",
  ],
  sum: [
    "cat(head_1, ..., head_h) W^O + b^O + z", "z + b_O + concat(head_1, head_2, head_3, head_4) @ W_O",
    "[head_1; ...; head_4] W^O + b^O + z", "Concat(heads) W^O + b^O + z", "MSA = cat(head_1, ..., head_4) W^O + b^O; z + MSA",
    "\\text{Concat}(head_1, \\ldots, head_h) W^O + b^O + z",
  ],
};

/* ---- wrong, and how ---- */

const wrong = {
  head: [
    ["softmax(Q K^T) V", "scale missing"],
    ["softmax(Q @ K.T) @ V", "scale missing"],
    ["softmax(Q K^T / d_k) V", "square root missing"],
    ["softmax(Q K^T / sqrt(D)) V", "scale of the whole width"],
    ["softmax(Q K^T / sqrt(d_model)) V", "scale of the whole width"],
    ["softmax(Q K^T / D) V", "square root missing"],
    ["softmax(Q K^T * sqrt(d_k)) V", "scale upside down"],
    ["softmax(Q K^T / sqrt(n)) V", "scale of the tokens"],
    ["softmax(Q K^T / sqrt(h)) V", "scale of the heads"],
    ["softmax(Q K^T) / sqrt(d_k) V", "scaled after the softmax"],
    ["softmax(Q K^T) V / sqrt(d_k)", "scaled after the softmax"],
    ["softmax(-Q K^T / sqrt(d_k)) V", "wrong sign"],
    ["softmax(Q K^T / 3) V", "wrong scale"],
    ["softmax(Q K^T / sqrt(d_k), axis=0) V", "wrong axis"],
    ["F.softmax(Q @ K.T / sqrt(d_k), dim=0) @ V", "wrong axis"],
    ["softmax(Q K^T / sqrt(d_k), axis=None) V", "wrong axis"],
    ["softmax(Q K^T / sqrt(d_k), axis=2) V", "wrong axis"],
    ["exp(Q K^T / sqrt(d_k)) / sum(exp(Q K^T / sqrt(d_k))) V", "wrong axis"],
    ["exp(Q K^T / sqrt(d_k)) / sum(exp(Q K^T / sqrt(d_k)), axis=1) V", "wrong axis"],
    ["exp(Q K^T / sqrt(d_k)) / sum(exp(Q K^T / sqrt(d_k)), axis=0) V", "wrong axis"],
    ["softmax(Q K^T / sqrt(d_k))", "V missing"],
    ["Q K^T / sqrt(d_k) V", "softmax missing"],
    ["exp(Q K^T / sqrt(d_k)) V", "not normalised"],
    ["sigmoid(Q K^T / sqrt(d_k)) V", "not softmax"],
    ["relu(Q K^T / sqrt(d_k)) V", "not softmax"],
    ["argmax(Q K^T / sqrt(d_k)) V", "not softmax"],
    ["softmax(softmax(Q K^T / sqrt(d_k))) V", "softmax twice"],
    ["softmax(Q K / sqrt(d_k)) V", "transposition missing"],
    ["softmax(Q*K/sqrt(d_k))*V", "transposition missing"],
    ["softmax(Q^T K / sqrt(d_k)) V", "transposition missing", "transposed too much"],
    ["softmax(K Q^T / sqrt(d_k)) V", "Q and K swapped"],
    ["softmax(Q Q^T / sqrt(d_k)) V", "Q twice"],
    ["softmax(K K^T / sqrt(d_k)) V", "K twice"],
    ["softmax(X X^T / sqrt(d_k)) V", "no projection"],
    ["softmax(Q V^T / sqrt(d_k)) V", "V in place of K"],
    ["softmax(Q K^T / sqrt(d_k)) K", "K in place of V"],
    ["softmax(Q K^T / sqrt(d_k)) Q", "Q in place of V"],
    ["softmax(Q K^T / sqrt(d_k)) X", "X in place of V"],
    ["softmax(Q K^T / sqrt(d_k) V)", "V inside the softmax"],
    ["softmax(Q K^T V / sqrt(d_k))", "V inside the softmax"],
    ["softmax(Q K^T / sqrt(d_k))^T V", "weights transposed"],
    ["V softmax(Q K^T / sqrt(d_k))", "order of a product"],
    ["(softmax(Q K^T / sqrt(d_k)) V)^T", "result transposed"],
    ["V^T softmax(Q K^T / sqrt(d_k))", "weights transposed", "result transposed"],
    ["softmax(Q K^T / sqrt(d_k)) V / n", "mean in place of sum"],
    ["softmax(Q K^T / sqrt(d_k)) V + V", "sum too much"],
    ["softmax(Q K^T / sqrt(d_k) + M) V", "mask too much"],
    ["softmax(Q K^T, axis=0) V", "scale missing", "wrong axis"],
    ["softmax(K Q^T) V", "scale missing", "Q and K swapped"],
    ["softmax(Q K) V", "transposition missing", "scale missing"],
    ["softmax(Q K^T, axis=0)", "scale missing", "wrong axis", "V missing"],
    ["Q K^T V / sqrt(d_k)", "softmax missing"],
    ["softmax(Q^T K) / sqrt(d_k) V", "scaled after the softmax", "transposed too much", "transposition missing"],
    ["softmax(V K^T / sqrt(d_k)) Q", "V in place of Q", "Q in place of V"],
    ["softmax(K V^T / sqrt(d_k)) Q", "roles of Q, K and V", "Q in place of V"],
    ["softmax(Q K^T) sqrt(d_k) V", "scaled after the softmax"],
    ["softmax(Q ⊙ K / sqrt(d_k)) V", "not a matrix product", "transposition missing"],
    ["softmax(Q - K) V", "not a matrix product", "transposition missing", "scale missing"],
    ["softmax(Q K^T / sqrt(d_k)) ⊙ V", "not a matrix product"],
    ["softmax(X W^Q X W^K / sqrt(d_k)) X W^V", "brackets missing"],
    ["softmax(Q K^T / sqrt(d_k)) X W^V + X", "summand too much"],
    ["softmax(Q K^T / sqrt(d_k)) (V W^V)", "factor too much"],
    ["mean(softmax(Q K^T / sqrt(d_k)) V, axis=0)", "mean too much"],
    ["softmax(exp(Q K^T / sqrt(d_k))) V", "exp too much"],
    ["softmax(sqrt(Q K^T) / d_k) V", "not a number"],
    ["softmax(W^Q (W^K)^T / sqrt(d_k)) W^V", "wrong scores", "X missing"],
    ["softmax(Q K^T / sqrt(d_k)) W", "unknown name"],
    ["softmax(QKT / sqrt(d_k)) V", "unknown name"],
    ["sofmax(Q K^T / sqrt(d_k)) V", "unknown name"],
    ["softmax(Q K^T / sqrt(d_k) V", "not readable"],
    ["softmax Q K^T V", "not readable"],
    ["ones(1e9, 1e9) V", "not readable"],
    ["(".repeat(2000), "not readable"],
    [`softmax(${"Q K^T ".repeat(100)}/ sqrt(d_k)) V`, "factor too much"],
    ["softmax(Q K^T / sqrt(d_k)) V)", "not readable"],
    ["softmax(Q K^T / sqrt()) V", "not readable"],
    ["softmax(Q K^T / ) V", "not readable"],
    ["% V", "not readable"],
    ["Q .foo() V", "not readable"],
    ["", "not readable"],
  ],
  whole: [
    ["softmax(Q K^T / sqrt(d_k)) V", "scale of a head"],
    ["softmax(Q K^T) V", "scale missing"],
    ["softmax(Q K^T / D) V", "square root missing"],
  ],
  causal: [
    ["softmax(Q K^T / sqrt(d_k)) V", "mask missing"],
    ["softmax(Q K^T) V", "scale missing", "mask missing"],
    ["softmax(Q K^T / sqrt(d_k) + M^T) V", "mask the wrong way"],
    ["softmax((Q K^T / sqrt(d_k)).masked_fill(mask, -inf)) V", "mask the wrong way"],
    ["softmax(triu(Q K^T / sqrt(d_k))) V", "mask the wrong way"],
    ["softmax(tril(Q K^T / sqrt(d_k))) V", "mask of zeros"],
    ["softmax(Q K^T / sqrt(d_k) * mask) V", "mask of zeros"],
    ["softmax(Q K^T / sqrt(d_k)) * mask V", "mask after the softmax"],
    ["(softmax(Q K^T / sqrt(d_k)) * mask) V", "mask after the softmax"],
    ["tril(softmax(Q K^T / sqrt(d_k))) V", "mask after the softmax"],
    ["softmax((Q K^T / sqrt(d_k)).masked_fill(tril(ones(n, n), -1) == 0, -inf)) V", "mask hides the token itself"],
    ["softmax(Q K^T / sqrt(d_k) - M) V", "wrong sign of the mask"],
    ["softmax(Q K^T / sqrt(d_k) + M, axis=0) V", "wrong axis"],
    ["softmax(Q K^T + M) V", "scale missing"],
    ["(softmax(Q K^T / sqrt(d_k)) + M) V", "mask after the softmax"],
    ["softmax(Q K^T / sqrt(d_k) + tril(ones(n, n))) V", "mask of ones"],
  ],
  sum: [
    ["cat(head_1, ..., head_h) W^O + b^O", "residual missing"],
    ["cat(head_1, ..., head_h) + b^O + z", "W^O missing"],
    ["cat(head_1, ..., head_h) W^O + z", "bias missing"],
    ["cat(head_h, ..., head_1) W^O + b^O + z", "order of the heads"],
    ["cat(head_2, head_1, head_3, head_4) W^O + b^O + z", "order of the heads"],
    ["cat(head_1, ..., head_h) W^O^T + b^O + z", "W^O transposed"],
    ["W^O cat(head_1, ..., head_h) + b^O + z", "order of a product"],
    ["cat(head_1, ..., head_h) W^O + b^O + X", "residual after the norm"],
    ["LN(cat(head_1, ..., head_h) W^O + b^O + z)", "norm after the sum"],
    ["(head_1 + head_2 + head_3 + head_4) W^O + b^O + z", "heads not side by side"],
    ["cat(head_1, ..., head_h)", "W^O missing", "bias missing", "residual missing"],
  ],
};

/* ---- comparing ---- */

let number = 0, failed = 0;
function report(what, isOk, found) {
  number++;
  if (!isOk) failed++;
  if (!isOk) console.log(`# ${what}: ${found}`);
}
const check = (formula, kind) => checkFormula(formula, places[kind], { whole: false, causal: false, n,
  d_k: d, D, h, ...settings[kind] });
const kindsOf = (result) => result.mistakes.map((m) => m.name).filter((name) => name !== "sizes").sort();

for (const [kind, formulas] of Object.entries(right))
  for (const formula of formulas) {
    const result = check(formula, kind);
    report(formula, result.isRight, JSON.stringify(result.mistakes));
  }
console.log(`${failed === 0 ? "ok" : "not ok"} 1 - ${number} spellings of right formulas`);
const before = failed, start = number, began = Date.now();
for (const [kind, formulas] of Object.entries(wrong))
  for (const [formula, ...expected] of formulas) {
    const result = check(formula, kind), found = kindsOf(result);
    report(`${kind}: ${formula}`, !result.isRight && String(found) === String(expected.sort()),
      `found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
  }
console.log(`${failed === before ? "ok" : "not ok"} 2 - ${number - start} wrong formulas, each mistake by its name`);
if (process.argv[2] === "time") console.log(`# ${Date.now() - began} ms`);
console.log("1..2");
process.exitCode = failed > 0 ? 1 : 0;
