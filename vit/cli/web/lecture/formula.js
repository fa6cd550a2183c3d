"use strict";
/* Reads a formula as students write it: "softmax(Q K^T / sqrt(d_k)) V", NumPy, PyTorch, LaTeX.
   The result is a list of statements {name, node}. A node is {kind, ...; from, to}, `from` and `to`
   being its place in the text that was read:
     number value | name name | text value | call name, list, named | binary sign, left, right
     negative of | not of | turned of | power of, exponent */

const FUNCTIONS = ["softmax", "sqrt", "exp", "log", "sum", "mean", "max", "transpose", "matmul", "dot",
  "cat", "masked_fill", "where", "tril", "triu", "causal", "sigmoid", "relu", "tanh", "abs", "float",
  "ones", "argmax", "log_softmax", "multiply", "layernorm"];
const MOST_LETTERS = 1000;
const SPELLINGS = { concat: "cat", concatenate: "cat", hstack: "cat", ln: "layernorm",
  layer_norm: "layernorm", mm: "matmul", bmm: "matmul", t: "transpose", permute: "transpose",
  swapaxes: "transpose", mul: "multiply", masked_fill_: "masked_fill", maskedfill: "masked_fill",
  average: "mean", logsoftmax: "log_softmax", softmax_: "softmax", row_softmax: "softmax" };
const CONSTANTS = { inf: Infinity, infty: Infinity, infinity: Infinity, true: 1, false: 0, none: null };

/* Signs and commands that mean the same as plain text. */
const PLAIN = [[/\\(left|right|big|Big|,|;|!|quad|displaystyle)(?![A-Za-z])/g, " "], [/\\_/g, "_"],
  [/\\(?:text|mathrm|mathbf|operatorname|mathit|bm|rm)\s*\{([^{}]*)\}/g, "$1"],
  [/\\(top|intercal)(?![A-Za-z])/g, "T"],
  [/\\(cdot|times)(?![A-Za-z])/g, "*"], [/\\odot(?![A-Za-z])/g, "⊙"], [/\\(infty)/g, "inf"],
  [/\\(ldots|dots|cdots)/g, "..."], [/…/g, "..."], [/\\softmax/g, "softmax"], [/\\exp/g, "exp"],
  [/\\sqrt/g, "sqrt"], [/√/g, "sqrt "], [/∞/g, "inf"], [/[·×∙]/g, "*"], [/[∘◦]|\.\*/g, "⊙"],
  [/[ᵀ⊤]/g, "^T"], [/[−–]/g, "-"], [/[’′]/g, "'"], [/²/g, "^2"], [/½/g, "0.5"], [/ₖ/g, "_k"],
  [/\b(?:torch\.nn\.functional|nn\.functional|scipy\.special|jax\.nn|tf\.nn|np|numpy|torch|F|math|nn|jnp|tf)\.(?=[A-Za-z])/g, ""]];

function fractions(text) {
  const pattern = /\\[dt]?frac\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}/;
  while (pattern.test(text)) text = text.replace(pattern, "(($1)/($2))");
  return text;
}

function plainText(text) {
  for (const [pattern, by] of PLAIN) text = text.replace(pattern, by);
  return fractions(text).replace(/\{/g, "(").replace(/\}/g, ")").replace(/\$/g, "");
}

/* ---- words ---- */

/* Names with an index, in any spelling: [pattern, name]. */
const INDEXED = [
  ["W(?:_i|_h|_\\([ih]\\))?[\\^_]?(?:\\(([QKVO])\\)|([QKVO]))(?:_[ih]|_\\([ih]\\))?", "i",
    (x) => "W^" + x.toUpperCase()],
  ["b[\\^_]?(?:\\((O)\\)|(O))", "i", () => "b^O"],
  ["d_?(?:\\((k|q|head)\\)|(k|q|head|h)(?:ead)?)|head_dim|dim_head", "", () => "d_k"],
  ["d_?(?:\\((v)\\)|(v))", "", () => "d_v"],
  ["d_?(?:\\(model\\)|model|embed|emb)|dim|embed_dim|emb_dim", "", () => "D"],
  ["num_heads|n_heads|nheads", "", () => "h"],
  ["(?:head|Z)_?(?:\\((\\d+|h|n)\\)|(\\d+|h|n))", "", (x) => "head_" + x],
  ["heads", "", () => "heads"],
].map(([pattern, flags, make]) => [new RegExp(`^(?:${pattern})(?![A-Za-z0-9_])`, flags), make]);

/* A plain word as the name that is meant, or null. */
function known(word, names) {
  if (names.has(word)) return word;
  const lower = word.toLowerCase().replace(/_[ihj]$/, "");
  const call = SPELLINGS[lower] || lower;
  if (FUNCTIONS.includes(call)) return call;
  if (lower in CONSTANTS) return lower;
  if (lower === "m" || /^(causal_)?mask$/.test(lower)) return names.has("mask") ? "mask" : null;
  const stripped = word.replace(/_[ih]$/, "");
  if (names.has(stripped)) return stripped;
  const upper = stripped.toUpperCase();
  return names.has(upper) && upper.length === 1 && stripped !== "d" ? upper : null;
}

/* "QK" as Q and K, where no single name is meant. */
function split(word, names) {
  if (word === "") return [];
  for (let n = word.length; n > 0; n--) {
    const first = known(word.slice(0, n), names);
    const rest = first && !FUNCTIONS.includes(first) && split(word.slice(n), names);
    if (rest) return [{ name: first, length: n }, ...rest];
  }
  return null;
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
    row = next;
  }
  return row[b.length];
}

function unknownName(word, names) {
  const before = /^(.+?)_?[Tt]$/.exec(word);
  if (before && split(before[1], names))
    return `${word}: there is no such name; for the transposed matrix write ${before[1]}^T`;
  const all = [...names, ...FUNCTIONS];
  const near = all.map((n) => [distance(word.toLowerCase(), n.toLowerCase()), n])
    .sort((a, b) => a[0] - b[0])[0];
  const hint = word.length > 2 && near[0] <= Math.max(1, word.length / 3) ? `; is ${near[1]} meant?`
    : `; there are ${[...names].filter((n) => !/^head_\d/.test(n)).join(", ")}`;
  return `${word}: there is no such name${hint}`;
}

/* ---- tokens: {kind: number | name | text | sign, value, from, to} ---- */

function readNames(text, at, names, tokens) {
  const rest = text.slice(at);
  for (const [pattern, make] of INDEXED) {
    const match = pattern.exec(rest);
    if (match && !names.has(/^\w+/.exec(rest)?.[0])) {
      const value = make(match[1] || match[2]);
      tokens.push({ kind: "name", value, from: at, to: at + match[0].length });
      return at + match[0].length;
    }
  }
  let word = /^[A-Za-z_]\w*/.exec(rest)[0];
  const w = word.slice(1).search(/W[\^_]?\(?[QKVO]?/); // XW^Q: the W has an index of its own
  if (w >= 0 && !known(word, names) && split(word.slice(0, w + 1), names)) word = word.slice(0, w + 1);
  const parts = known(word, names) ? [{ name: known(word, names), length: word.length }]
    : split(word, names);
  if (!parts) throw new FormulaError(unknownName(word, names), { from: at, to: at + word.length, unknown: true });
  for (const { name, length } of parts) {
    tokens.push({ kind: "name", value: name, from: at, to: at + length });
    at += length;
  }
  return at;
}

function tokenize(text, names) {
  const tokens = [];
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const space = /^\s+/.exec(rest), number = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(rest);
    const quoted = /^"([^"]*)"|^'([^']*inf[^']*)'/.exec(rest);
    const sign = /^(\*\*|\.\.\.|==|!=|<=|>=|[-+*\/@^()[\],.'=<>!~⊙:])/.exec(rest);
    if (space) {
      at += space[0].length;
    } else if (number) {
      tokens.push({ kind: "number", value: Number(number[0]), from: at, to: at + number[0].length });
      at += number[0].length;
    } else if (quoted) {
      tokens.push({ kind: "text", value: quoted[1] ?? quoted[2], from: at, to: at + quoted[0].length });
      at += quoted[0].length;
    } else if (/^\.\s*[A-Za-z]/.test(rest)) { // a method
      const word = /^\.\s*([A-Za-z_]+)/.exec(rest);
      tokens.push({ kind: "method", value: word[1], from: at, to: at + word[0].length });
      at += word[0].length;
    } else if (/^[A-Za-z_]/.test(rest)) {
      const argument = /^(axis|dim|keepdims?)\s*=(?!=)/.exec(rest);
      const before = tokens.at(tokens.at(-1)?.value === "(" ? -2 : -1)?.value;
      const isTurn = before === "^" && /^T(?!\w)/i.exec(rest);
      if (argument || isTurn) {
        const word = argument ? argument[1] : "T";
        tokens.push({ kind: "word", value: word, from: at, to: at + word.length });
        at += word.length;
      } else {
        at = readNames(text, at, names, tokens);
      }
    } else if (sign) {
      tokens.push({ kind: "sign", value: sign[0], from: at, to: at + sign[0].length });
      at += sign[0].length;
    } else {
      throw new FormulaError(`${rest[0]}: there is no such sign`, { from: at, to: at + 1 });
    }
  }
  return tokens;
}

/* ---- the parser ---- */

class Parser {
  constructor(text, names) {
    this.text = text;
    this.tokens = tokenize(text, names);
    this.at = 0;
  }

  get next() { return this.tokens[this.at]; }
  is(...signs) { return this.next?.kind === "sign" && signs.includes(this.next.value); }
  take() { return this.tokens[this.at++]; }
  accept(sign) { return this.is(sign) ? this.take() : null; }

  fail(message) {
    const from = this.next?.from ?? this.text.length;
    throw new FormulaError(message, { from, to: this.next?.to ?? from });
  }

  expect(sign, why) {
    const found = this.accept(sign);
    if (!found) this.fail(why);
    return found;
  }

  node(kind, from, fields) {
    return { kind, from, to: this.tokens[this.at - 1].to, ...fields };
  }

  comparison() {
    const left = this.sum(), from = left.from;
    if (!this.is("==", "!=", "<", ">", "<=", ">=")) return left;
    const sign = this.take().value, right = this.sum();
    return this.node("binary", from, { sign, left, right });
  }

  sum() {
    let left = this.product();
    while (this.is("+", "-")) {
      const sign = this.take().value, right = this.product();
      left = this.node("binary", left.from, { sign, left, right });
    }
    return left;
  }

  /* Whether a factor follows without a sign between. */
  beginsFactor() {
    const next = this.next;
    return next && (["number", "name"].includes(next.kind) || this.is("(", "["));
  }

  product() {
    let left = this.unary();
    for (;;) {
      const isSign = this.is("*", "/", "@", "⊙");
      if (!isSign && !this.beginsFactor()) return left;
      const sign = isSign ? this.take().value : "*", right = this.unary();
      left = this.node("binary", left.from, { sign, left, right });
    }
  }

  unary() {
    const from = this.next?.from;
    if (this.accept("-")) return this.node("negative", from, { of: this.unary() });
    if (this.accept("+")) return this.unary();
    if (this.is("~", "!")) {
      this.take();
      return this.node("not", from, { of: this.unary() });
    }
    return this.postfix(this.primary());
  }

  postfix(of) {
    for (;;) {
      if (this.accept("'")) {
        of = this.node("turned", of.from, { of });
      } else if (this.next?.kind === "method") {
        of = this.method(of);
      } else if (this.is("^", "**")) {
        of = this.power(of);
      } else {
        return of;
      }
    }
  }

  power(of) {
    this.take();
    const wrapped = this.is("(") && this.tokens[this.at + 1]?.kind === "word";
    if (wrapped) this.take();
    if (this.next?.kind === "word" && this.next.value === "T") {
      this.take();
      if (wrapped) this.expect(")", "a bracket is not closed");
      return this.node("turned", of.from, { of });
    }
    const from = this.next?.from, isNegative = this.accept("-");
    let exponent = this.primary();
    if (isNegative) exponent = this.node("negative", from, { of: exponent });
    return this.node("power", of.from, { of, exponent });
  }

  method(of) {
    const word = this.take().value, name = SPELLINGS[word.toLowerCase()] || word.toLowerCase();
    if ((word === "T" || word === "mT" || word === "H") && !this.is("("))
      return this.node("turned", of.from, { of });
    if (!FUNCTIONS.includes(name) && !["size", "shape"].includes(name))
      this.fail(`.${word}: there is no such function`);
    const call = this.arguments();
    if (name === "transpose") return this.node("turned", of.from, { of });
    return this.node("call", of.from, { name, list: [of, ...call.list], named: call.named });
  }

  arguments() {
    const list = [], named = {};
    this.expect("(", "an opening bracket is missing");
    while (!this.is(")")) {
      if (this.next?.kind === "word") {
        const name = this.take().value;
        this.expect("=", `= is missing after ${name}`);
        named[/^keep/.test(name) ? "keep" : "axis"] = this.comparison();
      } else if (this.is("...")) {
        list.push(this.node("dots", this.take().from, {}));
      } else {
        list.push(this.comparison());
      }
      if (!this.accept(",") && !this.is(")", "...")) this.unclosed();
    }
    this.take();
    return { list, named };
  }

  unclosed() {
    this.fail(this.next ? `${this.text.slice(this.next.from, this.next.to)} is not expected here`
      : "a bracket is not closed");
  }

  primary() {
    const token = this.next;
    if (!token) this.fail("something is missing at the end");
    if (token.kind === "number") return this.node("number", this.take().from, { value: token.value });
    if (token.kind === "text") return this.node("text", this.take().from, { value: token.value });
    if (token.kind === "name" && FUNCTIONS.includes(token.value)) return this.call();
    if (token.kind === "name") return this.node("name", this.take().from, { name: token.value });
    if (this.is("[")) return this.list();
    if (this.accept("(")) {
      const inside = this.comparison();
      if (!this.is(")")) this.unclosed();
      this.take();
      return { ...inside, from: token.from, to: this.tokens[this.at - 1].to };
    }
    return this.fail(`${token.value} is not expected here`);
  }

  /* [head_1, ..., head_h] or with semicolons: side by side. */
  list() {
    const from = this.take().from, list = [];
    while (!this.is("]")) {
      list.push(this.is("...") ? this.node("dots", this.take().from, {}) : this.comparison());
      if (!this.accept(",") && !this.is("]", "...")) this.unclosed();
    }
    this.take();
    return this.node("call", from, { name: "cat", list, named: {} });
  }

  call() {
    const { value: name, from } = this.take();
    if (name === "sqrt" && !this.is("("))
      return this.node("call", from, { name, list: [this.primary()], named: {} });
    if (!this.is("(")) this.fail(`${name} needs brackets: ${name}(...)`);
    const { list, named } = this.arguments();
    if (list.length === 0) this.fail(`${name}: nothing stands in its brackets`);
    if (name === "transpose") return this.node("turned", from, { of: list[0] });
    return this.node("call", from, { name, list, named });
  }
}

/* "S = Q K^T; softmax(S) V" -> [{name: "S", node}, {name: null, node}]; the last is the result.
   `names` are those that a formula may use. "Attention(Q, K, V) =" may stand before it. */
function parseFormula(source, names) {
  if (source.length > MOST_LETTERS)
    throw new FormulaError(`the formula has ${source.length} letters; ${MOST_LETTERS} are the most`);
  const statements = [], all = new Set(names);
  const text = plainText(source).replace(/;(?=[^[\]]*\])/g, ",");
  for (const line of text.split(/[;\n]/)) {
    if (line.trim() === "") continue;
    const given = /^\s*(?:return\s+)?(?:([A-Za-z_][\w^']*)\s*(?:\([^()=]*\))?\s*=(?!=))?/.exec(line);
    const parser = new Parser(line.slice(given[0].length), all);
    if (parser.tokens.length === 0) throw new FormulaError("there is nothing after the =");
    const node = parser.comparison();
    if (parser.next)
      parser.fail(parser.is(")") ? "a bracket is closed that was not opened"
        : `${parser.text.slice(parser.next.from, parser.next.to)} is not expected here`);
    statements.push({ name: given[1] || null, node, text: parser.text });
    if (given[1]) all.add(given[1]);
  }
  if (statements.length === 0) throw new FormulaError("there is no formula yet");
  return statements;
}
