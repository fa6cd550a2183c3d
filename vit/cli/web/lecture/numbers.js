"use strict";
/* A matrix as a table of its numbers, on the page and as a file of comma-separated values: a line a
   row, which its number begins; the first line has the numbers of the columns. From 1, as on the page. */

/* The shortest digits that give the same float32 again. */
function digits(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
  for (let count = 1; count < 9; count++) {
    const text = x.toPrecision(count);
    if (Math.fround(Number(text)) === x) return String(Number(text));
  }
  return String(Number(x.toPrecision(9)));
}

const upTo = (n) => Array.from({ length: n }, (_, k) => k);

/* values: [rows * columns]. */
function csvOf(rows, columns, values) {
  const line = (first, cells) => `${[first, ...cells].join(",")}\n`;
  return line("", upTo(columns).map((j) => j + 1)) + upTo(rows).map((i) =>
    line(i + 1, upTo(columns).map((j) => digits(values[i * columns + j])))).join("");
}

function tableOf(rows, columns, values) {
  const table = document.createElement("table"), head = table.createTHead().insertRow();
  const body = table.createTBody(), name = (row, text, scope) =>
    row.append(Object.assign(document.createElement("th"), { textContent: text, scope }));
  head.append(document.createElement("td"));
  for (let j = 0; j < columns; j++) name(head, j + 1, "col");
  for (let i = 0; i < rows; i++) {
    const row = body.insertRow();
    name(row, i + 1, "row");
    for (let j = 0; j < columns; j++) row.insertCell().textContent = digits(values[i * columns + j]);
  }
  return table;
}

/* block3-forward-W^Q-head1.csv: signs that names of files cannot have everywhere are left out. */
function fileName(view) {
  const m = view.matrix, symbol = m.symbol.replace(/'/g, "-prime").replace(/[^A-Za-z0-9_-]/g, "");
  const head = m.heads > 1 ? `-head${view.head + 1}` : "";
  return `part${m.block}-${m.pass}-${symbol}${view.turned ? "-turned" : ""}${head}.csv`;
}

function saveFile(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name,
    href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* All matrices of a pass in one file, under a line "# NAME" each; an empty line follows. */
function allAsText(matrices, values) {
  return matrices.flatMap((m) => upTo(m.heads).map((head) => {
    const view = { matrix: m, head, turned: false };
    return `# ${fileName(view).slice(0, -4)}\n${csvOf(m.rows, m.columns, values(m, head))}\n`;
  })).join("");
}
