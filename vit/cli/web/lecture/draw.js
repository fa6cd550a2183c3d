"use strict";
/* Symbols and heat maps. A view is a matrix of the library for one head: {matrix, head, turned,
   rows, columns}; its numbers are read by Library (steps.js). */

const GREEK = { gamma: "γ", beta: "β", sqrt: "√", GELU: "GELU" };

/* "W^Q" or "X' W_1 + b_1" as nodes of the page, with letters raised and lowered. */
function mathNodes(text) {
  const whole = document.createElement("span");
  whole.className = "math";
  const pattern = /(d?)([A-Za-z]+)('?)(?:([_^])([A-Za-z0-9]+))?(\^T)?|[^A-Za-z]+/g;
  for (const [all, d, word, prime, sign, index, turned] of text.matchAll(pattern)) {
    if (!word) {
      whole.append(all);
      continue;
    }
    whole.append(d + (GREEK[word] || word) + (prime ? "′" : ""));
    if (sign) whole.append(Object.assign(document.createElement(sign === "^" ? "sup" : "sub"), { textContent: index }));
    if (turned) whole.append(Object.assign(document.createElement("sup"), { textContent: "⊤" }));
  }
  return whole;
}

/* A sentence whose symbols, "W^O" or "d_k", are written as such. */
const wordNodes = (text) => text.split(/(√?[A-Za-z]+'?[_^][A-Za-z0-9]+|√D)/)
  .map((part, k) => k % 2 === 1 ? mathNodes(part) : part);

const shown = (x) => x === null ? "" : Number.isFinite(x) ? String(Number(x.toPrecision(6))) : String(x);

/* ---- heat maps: white is 0, blue is positive, red is negative ---- */

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

function colour(x, most, dark) {
  if (!Number.isFinite(x)) return [90, 90, 90];
  const share = most > 0 ? Math.sqrt(Math.min(1, Math.abs(x) / most)) : 0;
  const [end, zero] = [x < 0 ? [190, 40, 30] : [20, 85, 170], dark ? [40, 43, 48] : [255, 255, 255]];
  const far = dark ? end.map((v) => Math.min(255, v + 60)) : end;
  return zero.map((v, c) => Math.round(v + (far[c] - v) * share));
}

/* Pixels of a cell: numbers are written into the cells of small matrices. */
function cellSize(rows, columns) {
  if (columns <= 10 && rows <= 10) return { w: 46, h: 24, written: true };
  const w = Math.max(2, Math.min(16, Math.floor(384 / columns)));
  const h = Math.max(2, Math.min(16, Math.floor(256 / rows)));
  return { w: Math.min(w, 6 * h), h: Math.min(h, 6 * w), written: false };
}

/* A canvas with a pixel for each number. */
function pixelsOf(view, values, most) {
  const small = document.createElement("canvas"), dark = isDark();
  small.width = view.columns;
  small.height = view.rows;
  const pen = small.getContext("2d"), image = pen.createImageData(view.columns, view.rows);
  for (let k = 0; k < values.length; k++) {
    const [r, g, b] = colour(values[k], most, dark);
    image.data.set([r, g, b, 255], 4 * k);
  }
  pen.putImageData(image, 0, 0);
  return small;
}

/* values: [rows * columns]. */
function drawHeat(canvas, view, values) {
  const size = cellSize(view.rows, view.columns), pen = canvas.getContext("2d");
  canvas.width = view.columns * size.w;
  canvas.height = view.rows * size.h;
  let most = 0;
  for (const v of values) if (Number.isFinite(v)) most = Math.max(most, Math.abs(v));
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixelsOf(view, values, most), 0, 0, canvas.width, canvas.height);
  if (size.written) writeNumbers(pen, view, values, size, most);
  return size;
}

function writeNumbers(pen, view, values, size, most) {
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let k = 0; k < values.length; k++) {
    const [r, g, b] = colour(values[k], most, isDark()), x = values[k];
    pen.fillStyle = r * .3 + g * .6 + b * .1 > 140 ? "#111" : "#fff";
    const text = Number.isFinite(x) ? (Math.abs(x) < .0005 && x !== 0 ? x.toExponential(0) : x.toFixed(3)) : "−∞";
    pen.fillText(text, (k % view.columns + .5) * size.w, (Math.floor(k / view.columns) + .5) * size.h);
  }
}

/* A frame around a cell, a row or a column. */
function frame(canvas, size, area, style) {
  const pen = canvas.getContext("2d");
  pen.strokeStyle = style;
  pen.lineWidth = 2;
  pen.strokeRect(area.column * size.w + 1, area.row * size.h + 1,
    Math.max(3, area.columns * size.w - 2), Math.max(3, area.rows * size.h - 2));
}
