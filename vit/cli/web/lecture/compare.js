"use strict";
/* The student's formula: its names, the places where it is compared, and what is said of it. */

const TASKS = {
  head: "Write attention for one head: what it makes of Q, K and V. It is compared with the library's numbers in every block and head.",
  causal: "Write masked attention, as a decoder has it: token i sees itself and the tokens before it. mask (or M) is 1 where a token may look; added to scores, it is 0 and minus infinity.",
  sum: "Write what a block makes of its heads, head_1 ... head_h, up to z', with W^O, b^O and the block's input z.",
};

/* A matrix of the library for the formulas. */
function matrixOf(m, head = 0) {
  const values = library.values(m, head);
  return { rows: m.rows, columns: m.columns, at: Float64Array.from(values) };
}

function sizes() {
  const q = library.find(1, "Q"), x = library.find(1, "X");
  return { n: q.rows, d_k: q.columns, D: x.columns, h: q.heads };
}

function headPlace(block, head, attended, size) {
  const names = { d: size.d_k, d_k: size.d_k, d_v: size.d_k, D: size.D, n: size.n, N: size.n, h: size.h };
  names.mask = { ...matrix(size.n, size.n, (i, j) => j <= i ? 1 : 0), isMask: true, adds: true };
  names.X = matrixOf(library.find(block, "X"));
  for (const name of ["Q", "K", "V", "W^Q", "W^K", "W^V"]) names[name] = matrixOf(library.find(block, name), head);
  const want = matrix(size.n, size.d_k, (i, j) => attended[i * size.D + head * size.d_k + j]);
  return { block, head, names, want };
}

function sumPlace(block, size) {
  const names = { d_k: size.d_k, D: size.D, n: size.n, h: size.h, X: matrixOf(library.find(block, "X")),
    z: matrixOf(library.find(block - 1, `z_${block - 1}`)), "W^O": matrixOf(library.find(block, "W^O")),
    "b^O": matrixOf(library.find(block, "b^O")) };
  names.heads = Array.from({ length: size.h }, (_, h) => matrixOf(library.find(block, "head"), h));
  names.heads.forEach((one, h) => { names[`head_${h + 1}`] = one; });
  names.head_h = names.heads.at(-1);
  return { block, head: null, names, want: matrixOf(library.find(block, `z'_${block}`)) };
}

function allPlaces(target, whole) {
  const size = sizes(), depth = Math.max(...parts()) - 1, places = [];
  for (let block = 1; block <= depth; block++) {
    if (target === "sum") {
      places.push(sumPlace(block, size));
      continue;
    }
    const attended = library.attend(block, whole, target === "causal");
    for (let head = 0; head < size.h; head++) places.push(headPlace(block, head, attended, size));
  }
  return places;
}

/* ---- saying it ---- */

const line = (tag, text, className = "") => Object.assign(document.createElement(tag), { textContent: text, className });

function differenceText({ place, row, column, got, want }) {
  const head = place.head === null ? "" : `, head ${place.head + 1}`;
  return `First difference: block ${place.block}${head}, token ${row + 1}, column ${column + 1}: yours is ` +
    `${shown(got)}, right is ${shown(want)}.`;
}

function showVerdict(result, places) {
  const parts = [];
  if (result.isRight) {
    parts.push(line("p", `Right, at all ${places.length} places.`, "right"));
  } else {
    const right = result.places.filter(Boolean).length;
    parts.push(line("p", result.mistakes.map((m) => m.name).join("; ").replace(/^./, (c) => c.toUpperCase()) + ".", "wrong"));
    const list = document.createElement("ul");
    list.append(...result.mistakes.map((m) => line("li", m.text)));
    parts.push(list);
    if (result.shape) parts.push(line("p", result.shape));
    if (result.first) parts.push(line("p", `${differenceText(result.first)} ${right} of ${places.length} places are right.`));
  }
  at("verdict").replaceChildren(...parts);
  at("verdict").dataset.mistakes = result.mistakes.map((m) => m.name).join("; ");
  at("verdict").dataset.right = String(result.isRight);
}

/* A square for each place, a line for each block. */
function showPlaces(result, places) {
  const blocks = [...new Set(places.map((place) => place.block))];
  at("places").replaceChildren(...blocks.map((block) => {
    const span = line("span", `block ${block} `);
    places.forEach((place, k) => {
      if (place.block === block) span.append(line("i", "", result.places[k] ? "right" : ""));
    });
    const count = places.filter((place, k) => place.block === block && result.places[k]).length;
    span.setAttribute("aria-label", `block ${block}: ${count} places right`);
    return span;
  }));
}

function compare(event) {
  event?.preventDefault();
  const target = at("target").value, whole = at("scale").value === "dim", places = allPlaces(target, whole);
  const result = checkFormula(at("source").value, places, { target: target === "sum" ? "sum" : "head",
    whole, causal: target === "causal", ...sizes() });
  showVerdict(result, places);
  showPlaces(result, places);
}

function describeTask() {
  const target = at("target").value, size = sizes();
  at("task").textContent = TASKS[target];
  at("scale").parentElement.hidden = target === "sum";
  at("names").textContent = target === "sum"
    ? `Names: head_1 ... head_h, heads (${size.n} x ${size.d_k} each), cat( ), W^O, b^O, z, X, LN( ).`
    : `Names: Q, K, V (${size.n} x ${size.d_k}), X (${size.n} x ${size.D}), W^Q, W^K, W^V (${size.D} x ${size.d_k}), ` +
      `d_k = ${size.d_k}, D = ${size.D}, n = ${size.n}${target === "causal" ? ", mask" : ""}. Signs: + - * / @ ^T, softmax( , axis= ), sqrt( ), exp( ), sum( ), ...`;
  at("verdict").replaceChildren();
  at("places").replaceChildren();
}

function listenToFormula() {
  at("compare").addEventListener("submit", compare);
  at("target").addEventListener("change", describeTask);
  at("scale").addEventListener("change", () => at("source").value && compare());
  describeTask();
}

begin().catch((error) => { at("answer").textContent = `The page cannot begin: ${error.message}`; });
