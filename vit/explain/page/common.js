const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const make = (name, text) => Object.assign(document.createElement(name), text ? {textContent: text} : {});
const stops = [[68,1,84],[71,44,122],[59,81,139],[44,113,142],[33,144,141],[39,173,129],[92,200,99],
               [170,220,50],[253,231,37]];
const colours = Array.from({length: 256}, (unused, i) => {
  const at = i / 255 * 8, k = Math.min(7, Math.floor(at));
  return stops[k].map((a, c) => Math.round(a + (stops[k + 1][c] - a) * (at - k)));
});

function short(x) {
  return x === 0 ? "0" : Math.abs(x) >= 0.01 ? x.toFixed(2) : x.toExponential(0);
}

function press(parent, test) {
  for (const b of parent.querySelectorAll("button")) b.setAttribute("aria-pressed", test(b));
}
