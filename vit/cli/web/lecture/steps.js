"use strict";
/* The page: what is shown, and what a student changes. All numbers come from the library (lecture.c),
   compiled to WebAssembly. */

const at = (id) => document.getElementById(id);
const SIDE = 28, SEED = 3;

/* ---- the library ---- */

class Library {
  async open(model, wasmBinary) {
    this.module = await createLecture({ wasmBinary });
    this.pixels = this.module._malloc(SIDE * SIDE);
    const bytes = this.module._malloc(model.length);
    this.module.HEAPU8.set(model, bytes);
    this.try(this.module._lecture_open(bytes, model.length));
    this.matrices = JSON.parse(this.module.UTF8ToString(this.module._lecture_describe()));
    this.matrices.forEach((matrix, index) => { matrix.index = index; });
    this.module._free(bytes);
  }

  try(failed) {
    if (failed) throw new Error(this.module.UTF8ToString(failed));
  }

  /* Digit `number` of the seed: {pixels, label}. */
  draw(number) {
    const label = this.module._lecture_draw(this.pixels, SEED, number);
    return { pixels: this.module.HEAPU8.slice(this.pixels, this.pixels + SIDE * SIDE), label };
  }

  show(pixels, label) {
    this.module.HEAPU8.set(pixels, this.pixels);
    this.module._lecture_show(this.pixels, label);
  }

  run() { this.module._lecture_run(); }
  step(rate) { this.module._lecture_step(rate); }
  reset() { this.module._lecture_reset(); }

  set(matrix, head, i, j, value) {
    this.try(this.module._lecture_set(matrix.index, head, i, j, value));
  }

  find(block, symbol, pass) {
    return this.matrices.find((m) => m.block === block && m.symbol === symbol && (!pass || m.pass === pass));
  }

  element(m, head, i, j) {
    return this.module.HEAPF32[m.at + head * m.head + i * m.row + j * m.column];
  }

  /* [rows * columns] of a head. */
  values(m, head) {
    const all = new Float32Array(m.rows * m.columns), heap = this.module.HEAPF32;
    const first = m.at + head * m.head;
    for (let i = 0, k = 0; i < m.rows; i++)
      for (let j = 0; j < m.columns; j++) all[k++] = heap[first + i * m.row + j * m.column];
    return all;
  }

  /* [heads * rows * columns], as vit_lecture_copy. */
  allValues(m) {
    const all = new Float32Array(m.heads * m.rows * m.columns);
    for (let h = 0; h < m.heads; h++) all.set(this.values(m, h), h * m.rows * m.columns);
    return all;
  }

  /* [tokens * D] */
  attend(block, whole, causal) {
    const first = this.module._lecture_attend(block, whole, causal) / 4, x = this.find(block, "X");
    return this.module.HEAPF32.slice(first, first + x.rows * x.columns);
  }
}

const library = new Library();
const page = { pass: "forward", block: 0, head: 0, current: null, cell: { i: 0, j: 0 }, of: null,
  pixels: new Uint8Array(SIDE * SIDE), label: 0, before: [], steps: 0, stepped: false, figures: [] };

/* ---- what changed ---- */

/* The numbers to compare with: those of the digit as it is, with the model's weights. */
function remember() {
  page.before = library.matrices.map((m) => m.pass === "step" ? null : library.allValues(m));
}

function isChanged(m) {
  const before = page.before[m.index];
  if (!before) return false;
  const now = library.allValues(m);
  return now.some((x, k) => x !== before[k] && !(Number.isNaN(x) && Number.isNaN(before[k])));
}

function noteChanges() {
  for (const m of library.matrices) m.changed = isChanged(m);
  const count = library.matrices.filter((m) => m.changed).length;
  at("changed").textContent = count > 0 ? `${count} of ${page.before.filter(Boolean).length} matrices differ from before` : "";
  at("forget").disabled = count === 0 && page.steps === 0;
}

/* ---- the digit ---- */

function drawPaper() {
  const pen = at("paper").getContext("2d"), image = pen.createImageData(SIDE, SIDE);
  page.pixels.forEach((v, k) => image.data.set([v, v, v, 255], 4 * k));
  pen.putImageData(image, 0, 0);
}

function showAnswer() {
  const last = library.matrices.find((m) => m.symbol === "p"), p = library.values(last, 0);
  const best = p.indexOf(Math.max(...p)), loss = library.element(library.find(last.block, "loss"), 0, 0, 0);
  at("answer").textContent = `The network says ${best}. Loss ${loss.toPrecision(4)}` +
    (page.startLoss !== undefined && page.startLoss !== loss ? `, before ${page.startLoss.toPrecision(4)}.` : ".");
  at("probabilities").replaceChildren(...Array.from(p, (share, k) => {
    const line = document.createElement("li"), meter = document.createElement("meter");
    meter.value = share;
    line.append(String(k), meter, `${(100 * share).toFixed(2)} %`);
    return line;
  }));
  return loss;
}

function run() {
  library.run();
  page.stepped = false;
  noteChanges();
  showAnswer();
  show();
}

/* A new picture: nothing is changed any longer. */
function showDigit(pixels, label) {
  page.pixels = pixels;
  page.label = label;
  at("label").value = String(label);
  drawPaper();
  library.reset();
  library.show(pixels, label);
  library.run();
  page.steps = 0;
  page.stepped = false;
  page.startLoss = undefined;
  remember();
  noteChanges();
  page.startLoss = showAnswer();
  if (page.pass === "step") page.pass = "forward";
  choosePass(page.pass);
}

function chooseDigits() {
  const found = new Map();
  for (let number = 0; found.size < 10; number++) {
    const { label } = library.draw(number);
    if (!found.has(label)) found.set(label, number);
  }
  for (let k = 0; k < 10; k++) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: String(k) });
    button.dataset.number = found.get(k);
    button.addEventListener("click", () => {
      const digit = library.draw(found.get(k));
      showDigit(digit.pixels, digit.label);
    });
    at("digits").append(button);
    at("label").append(new Option(String(k)));
  }
  at("digits").querySelectorAll("button")[7].click();
}

function paint(event) {
  const box = at("paper").getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * SIDE - .5, y = (event.clientY - box.top) / box.height * SIDE - .5;
  for (let i = 0; i < SIDE; i++)
    for (let j = 0; j < SIDE; j++) {
      const ink = Math.round(255 * Math.max(0, Math.min(1, 1.9 - Math.hypot(i - y, j - x))));
      page.pixels[i * SIDE + j] = Math.max(page.pixels[i * SIDE + j], ink);
    }
  drawPaper();
}

/* ---- the steps ---- */

const parts = () => [...new Set(library.matrices.map((m) => m.block))];
const matricesOf = (pass, block) => library.matrices.filter((m) => m.pass === pass && m.block === block &&
  (pass !== "step" || m.formula && m.operands.length === 4));
/* In the order in which they are computed. */
const allOf = (pass) => (pass === "backward" ? parts().reverse() : parts())
  .flatMap((block) => matricesOf(pass, block));

function partName(block) {
  const last = Math.max(...parts());
  return block === 0 ? "before the blocks" : block === last ? "after the blocks" : `block ${block} of ${last - 1}`;
}

function choosePass(pass) {
  if (pass === "step" && !page.stepped) {
    library.step(Number(at("rate").value));
    page.stepped = true;
    page.steps++;
    noteChanges();
  }
  page.pass = pass;
  for (const button of at("passes").children) button.setAttribute("aria-pressed", String(button.dataset.pass === pass));
  at("rate-bar").hidden = pass !== "step";
  at("steps-done").textContent = page.steps === 0 ? "" : `steps done: ${page.steps}`;
  const list = matricesOf(pass, page.block);
  choose(list.length > 0 ? list[0] : allOf(pass)[0]);
}

function choose(m) {
  page.current = m;
  page.block = m.block;
  page.of = null;
  page.cell = { i: 0, j: 0 };
  show();
}

function turn(by) {
  const all = allOf(page.pass), place = all.indexOf(page.current) + by;
  if (all[place]) return choose(all[place]);
  const passes = ["forward", "backward", "step"], next = passes[passes.indexOf(page.pass) + by];
  if (!next) return undefined;
  choosePass(next);
  const there = allOf(next);
  return choose(by > 0 ? there[0] : there.at(-1));
}

/* ---- showing ---- */

const viewOf = (m, turned) => ({ matrix: m, head: m.heads > 1 ? page.head : 0, turned,
  rows: turned ? m.columns : m.rows, columns: turned ? m.rows : m.columns });

function viewValues(view) {
  const m = view.matrix, difference = at("differences").checked && page.before[m.index];
  const values = library.values(m, view.head);
  if (difference)
    for (let k = 0; k < values.length; k++) values[k] -= difference[view.head * values.length + k];
  if (!view.turned) return values;
  return Float32Array.from(values, (_, k) => values[k % view.columns * m.columns + Math.floor(k / view.columns)]);
}

function figureOf(view, isResult) {
  const figure = document.createElement("figure"), canvas = document.createElement("canvas");
  const caption = document.createElement("figcaption"), m = view.matrix;
  const symbol = m.symbol + (view.turned ? "^T" : "");
  const shape = Object.assign(document.createElement("span"), { className: "shape",
    textContent: `${view.rows} × ${view.columns}` + (m.heads > 1 ? `, head ${view.head + 1}` : "") });
  figure.className = (isResult ? "result" : "") + (m.changed ? " changed" : "");
  caption.append(mathNodes(m.pass === "step" && m.formula && isResult ? symbol + ", new" : symbol), shape);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${symbol}, ${view.rows} rows, ${view.columns} columns; arrow keys move, Enter changes`);
  figure.append(canvas, caption);
  const entry = { figure, canvas, view, isResult };
  canvas.addEventListener("pointermove", (event) => pointAt(entry, event));
  canvas.addEventListener("pointerdown", (event) => { pointAt(entry, event); canvas.focus(); });
  canvas.addEventListener("keydown", (event) => moveCell(entry, event));
  canvas.addEventListener("focus", () => { page.of = entry; drawFigures(); });
  return entry;
}

/* The sign before the figure of an operand, or of the result. */
function withSign(m, entry, k) {
  const sign = entry.isResult ? "=" : k > 0 && k < 2 * m.products ? k % 2 === 1 ? "·" : "+" : null;
  if (!sign || m.pass === "step" && !entry.isResult) return [entry.figure];
  return [Object.assign(document.createElement("span"), { className: "sign", textContent: sign }), entry.figure];
}

function showList() {
  at("list").replaceChildren(...matricesOf(page.pass, page.block).map((m) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(mathNodes(m.symbol));
    if (m.changed) button.classList.add("changed");
    if (m === page.current) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => { choose(m); at("list").querySelector("[aria-current]").focus(); });
    return button;
  }));
}

function show() {
  const m = page.current;
  if (!m) return;
  showList();
  at("block").value = String(page.block);
  at("head").value = String(page.head);
  const hasHeads = m.heads > 1 || m.operands.some((o) => library.matrices[o.index].heads > 1);
  at("head-label").hidden = !hasHeads;
  at("formula").replaceChildren(mathNodes(`${m.symbol} = `), mathNodes(m.formula || ""));
  at("meaning").replaceChildren(`${partName(m.block)[0].toUpperCase()}${partName(m.block).slice(1)}. `,
    ...wordNodes(wordsFor(m.symbol, m.pass)));
  page.figures = [...m.operands.map((o) => figureOf(viewOf(library.matrices[o.index], o.turned), false)),
    figureOf(viewOf(m, false), true)];
  page.of = page.figures.at(-1);
  at("equation").replaceChildren(...page.figures.flatMap((entry, k) => withSign(m, entry, k)));
  at("previous").disabled = page.pass === "forward" && allOf("forward")[0] === m;
  drawFigures();
  showHash(m);
}

async function showHash(m) {
  if (!globalThis.crypto?.subtle) return;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", library.allValues(m).buffer));
  if (page.current === m) at("hash").textContent = Array.from(digest, (b) => b.toString(16).padStart(2, "0")).join("");
}

/* The row and the column that make the element which is pointed at. */
function drawFigures() {
  const { i, j } = page.cell, style = getComputedStyle(document.documentElement);
  const strong = style.getPropertyValue("--change"), m = page.current;
  page.figures.forEach((entry, k) => {
    entry.size = drawHeat(entry.canvas, entry.view, viewValues(entry.view));
    const { rows, columns } = entry.view;
    if (entry === page.of) frame(entry.canvas, entry.size, { row: i, column: j, rows: 1, columns: 1 }, strong);
    else if (page.of?.isResult && m.products > 0 && k < 2 * m.products)
      frame(entry.canvas, entry.size, k % 2 === 0 ? { row: Math.min(i, rows - 1), column: 0, rows: 1, columns }
        : { row: 0, column: Math.min(j, columns - 1), rows, columns: 1 }, strong);
  });
  showCell();
}

/* ---- numbers ---- */

/* The table of the figure that is pointed at, made anew only for another one. */
function showNumbers() {
  const box = at("numbers"), entry = page.of;
  box.hidden = !at("as-numbers").checked;
  at("of-which").replaceChildren("numbers of ", mathNodes(entry.view.matrix.symbol + (entry.view.turned ? "^T" : "")));
  if (box.hidden) return;
  const { rows, columns } = entry.view;
  if (page.tabled !== entry) {
    const table = tableOf(rows, columns, viewValues(entry.view));
    table.addEventListener("pointerdown", (event) => {
      const cell = event.target.closest("tbody td");
      if (!cell) return;
      page.cell = { i: cell.parentNode.rowIndex - 1, j: cell.cellIndex - 1 };
      drawFigures();
    });
    box.replaceChildren(table);
    page.tabled = entry;
  }
  box.querySelector(".here")?.classList.remove("here");
  const { i, j } = page.cell;
  if (i < rows && j < columns) box.querySelector("tbody").rows[i].cells[j + 1].classList.add("here");
}

function saveOne() {
  const { view } = page.of;
  saveFile(fileName(view), csvOf(view.rows, view.columns, viewValues(view)));
}

function saveAll() {
  saveFile(`lecture-${page.pass}.csv`, allAsText(allOf(page.pass), (m, head) => library.values(m, head)));
}

/* The element of the library that a cell of a view shows. */
function placeOf(entry) {
  const { i, j } = page.cell;
  return entry.view.turned ? [j, i] : [i, j];
}

function showCell() {
  const entry = page.of, m = entry?.view.matrix;
  at("cell").hidden = !entry;
  if (!entry) return;
  showNumbers();
  const [i, j] = placeOf(entry), value = library.element(m, entry.view.head, i, j);
  at("where").replaceChildren(mathNodes(m.symbol), ` row ${i + 1}, column ${j + 1}`);
  if (document.activeElement !== at("number")) at("number").value = shown(value);
  const isFixed = m.fixed || m.pass === "step";
  at("number").disabled = at("cell").querySelector("button").disabled = isFixed;
  at("how").textContent = howComputed(entry);
}

function howComputed(entry) {
  const m = page.current;
  const before = page.before[entry.view.matrix.index];
  const [i, j] = placeOf(entry), e = entry.view.matrix;
  const was = before && before[(entry.view.head * e.rows + i) * e.columns + j];
  const now = library.element(e, entry.view.head, i, j);
  const said = before && was !== now ? `It was ${shown(was)}. ` : "";
  if (!entry.isResult || m.products !== 1) return said;
  const [left, right] = page.figures, terms = [];
  const a = viewValues(left.view), b = viewValues(right.view), n = left.view.columns;
  for (let k = 0; k < Math.min(3, n); k++)
    terms.push(`${shown(a[i * n + k])} · ${shown(b[k * right.view.columns + j])}`);
  return `${said}The row times the column: ${terms.join(" + ")}${n > 3 ? ` + ... (${n} products)` : ""}`;
}

function pointAt(entry, event) {
  if (!entry.size || document.activeElement === at("number")) return;
  const box = entry.canvas.getBoundingClientRect();
  const inside = (x, count) => Math.max(0, Math.min(count - 1, Math.floor(x * count)));
  const cell = { i: inside((event.clientY - box.top) / box.height, entry.view.rows),
                 j: inside((event.clientX - box.left) / box.width, entry.view.columns) };
  if (page.of === entry && cell.i === page.cell.i && cell.j === page.cell.j) return;
  page.of = entry;
  page.cell = cell;
  drawFigures();
}

function moveCell(entry, event) {
  const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (event.key === "Enter" && !at("number").disabled) {
    event.preventDefault();
    at("number").focus();
    at("number").select();
  }
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  page.of = entry;
  page.cell = { i: Math.max(0, Math.min(entry.view.rows - 1, page.cell.i + by[0])),
                j: Math.max(0, Math.min(entry.view.columns - 1, page.cell.j + by[1])) };
  drawFigures();
}

/* ---- what a student does ---- */

function changeNumber(event) {
  event.preventDefault();
  const entry = page.of, value = Number(at("number").value.replace(",", ".")), [i, j] = placeOf(entry);
  if (at("number").value.trim() === "" || !Number.isFinite(value)) {
    at("how").textContent = `${at("number").value}: this is not a number, such as -0.25`;
    return;
  }
  const cell = { ...page.cell }, which = page.figures.indexOf(entry);
  library.set(entry.view.matrix, entry.view.head, i, j, value);
  library.run();
  page.stepped = false;
  noteChanges();
  showAnswer();
  show();
  page.cell = cell;
  page.figures[which].canvas.focus();
}

function fillChoices() {
  const heads = Math.max(...library.matrices.map((m) => m.heads));
  at("block").append(...parts().map((block) => new Option(partName(block), block)));
  at("head").append(...Array.from({ length: heads }, (_, h) => new Option(h + 1, h)));
}

function listen() {
  at("passes").addEventListener("click", (event) => event.target.dataset.pass && choosePass(event.target.dataset.pass));
  at("block").addEventListener("change", () => {
    page.block = Number(at("block").value);
    const list = matricesOf(page.pass, page.block);
    choose(list.find((m) => m.symbol === page.current.symbol) || list[0]);
  });
  at("head").addEventListener("change", () => { page.head = Number(at("head").value); show(); });
  at("previous").addEventListener("click", () => turn(-1));
  at("next").addEventListener("click", () => turn(1));
  at("again").addEventListener("click", () => { run(); page.block = 0; choosePass("forward"); });
  at("forget").addEventListener("click", () => showDigit(page.pixels, page.label));
  at("differences").addEventListener("change", show);
  at("as-numbers").addEventListener("change", showNumbers);
  at("save").addEventListener("click", saveOne);
  at("save-all").addEventListener("click", saveAll);
  at("cell").addEventListener("submit", changeNumber);
  at("label").addEventListener("change", () => showDigit(page.pixels, Number(at("label").value)));
  at("clear").addEventListener("click", () => showDigit(new Uint8Array(SIDE * SIDE), page.label));
  at("paper").addEventListener("pointerdown", (event) => {
    at("paper").setPointerCapture(event.pointerId);
    paint(event);
  });
  at("paper").addEventListener("pointermove", (event) => event.buttons > 0 && paint(event));
  at("paper").addEventListener("pointerup", () => showDigit(page.pixels, page.label));
  addEventListener("keydown", (event) => {
    const tag = event.target.tagName;
    if (["INPUT", "SELECT", "METER"].includes(tag) || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowRight") turn(1);
    if (event.key === "ArrowLeft") turn(-1);
  });
}

async function begin() {
  const bytesOf = (id) => Uint8Array.from(atob(at(id).textContent.trim()), (c) => c.charCodeAt(0));
  await library.open(bytesOf("model"), bytesOf("module"));
  fillChoices();
  listen();
  chooseDigits();
  listenToFormula();
  document.body.dataset.ready = "yes";
}
