"use strict";
/* The page of vit-serve: what is drawn, dropped, pasted or photographed is sent to the server that the
   page came from, and its answer shown. Nothing else is asked of anybody. */

const at = (id) => document.getElementById(id);
const paper = at("paper"), pen = paper.getContext("2d", { willReadFrequently: true });
const SIDE = paper.width, INK = SIDE / 14, SHOWN = 10;

let key = "";              // for Authorization, where the server asks for one
let sent = null;           // a file that is shown instead of a drawing, as a Blob
let blank = true;          // nothing is on the paper
let undone = [];           // earlier papers
let picture = null;        // what was asked about last
let chosen = null;         // the class that was pressed; null: the answer
let seen = null;           // what the server explained last
let busy = 0;              // questions under way

function headers() {
  return key ? { Authorization: "Bearer " + key } : {};
}

function say(text, isBad) {
  at("note").textContent = text;
  at("note").classList.toggle("bad", Boolean(isBad));
}

/* ---- asking ---- */

/* What the server says, parsed; throws its sentence. */
async function ask(path, options) {
  const reply = await fetch(path, { ...options, headers: headers(), cache: "no-store" });
  at("unlock").hidden = reply.status !== 401;
  const said = await reply.json();
  if (!reply.ok) throw new Error(said.error || reply.statusText);
  return said;
}

/* The paper as PNG, at once: toBlob may wait until the browser has nothing else to do. */
function drawing() {
  const bytes = atob(paper.toDataURL("image/png").split(",")[1]);
  return new Blob([Uint8Array.from(bytes, (c) => c.charCodeAt(0))], { type: "image/png" });
}

/* A function that does the task, one at a time: what is asked meanwhile is done once, after it. */
function latest(task) {
  let isBusy = false, isDue = false, last;
  return async (...values) => {
    last = values;
    isDue = true;
    if (isBusy) return;
    isBusy = true;
    busy++;
    while (isDue) {
      isDue = false;
      try {
        await task(...last);
      } catch (error) {
        say(error.message, true);
      }
    }
    isBusy = false;
    busy--;
  };
}

const changed = latest(async () => {
  if (blank) return;
  const start = performance.now();
  picture = sent || drawing();
  const path = "predictions/" + encodeURIComponent(at("model").value);
  try {
    const said = await ask(path + "?top=" + SHOWN, { method: "POST", body: picture });
    if (blank) return;
    show(said.predictions);
    const time = Math.max(1, Math.round(performance.now() - start));
    say((said.below_threshold ? "It is not sure. " : "") + (said.warning || "answered in " + time + " ms"));
  } catch (error) {
    show([]);
    throw error;
  }
  look();
});

/* ---- the answer ---- */

function bar() {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  for (const name of ["name", "bar", "share"]) {
    const part = document.createElement("span");
    part.className = name;
    button.append(part);
  }
  button.children[1].append(document.createElement("span"));
  button.addEventListener("click", () => choose(Number(button.dataset.index)));
  item.append(button);
  return item;
}

const percent = (share) => (100 * share).toFixed(1) + " %";

function show(predictions) {
  const bars = at("bars");
  while (bars.children.length < predictions.length) bars.append(bar());
  while (bars.children.length > predictions.length) bars.lastChild.remove();
  predictions.forEach((p, i) => {
    const button = bars.children[i].firstChild, [name, strip, share] = button.children;
    button.dataset.index = p.index;
    name.textContent = name.title = p.label;
    strip.firstChild.style.width = 100 * p.probability + "%";
    share.textContent = percent(p.probability);
    button.setAttribute("aria-pressed", p.index === chosen);
  });
  at("answer").textContent = predictions.length ? predictions[0].label : "\u00a0";
}

/* ---- what it looked at ---- */

/* A map over the picture as the network saw it: a patch is the warmer the larger its value. said:
   what the server explained, with the picture. */
function paint(canvas, said, map, mark) {
  const side = canvas.getContext("2d");
  const [height, width, channels] = said.input.shape, [rows, columns] = said.grid;
  const bytes = Uint8Array.from(atob(said.input.data), (c) => c.charCodeAt(0));
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++)
      image.data[4 * i + c] = bytes[channels * i + (channels === 3 ? c : 0)];
    image.data[4 * i + 3] = 255;
  }
  const small = document.createElement("canvas");
  small.width = width;
  small.height = height;
  small.getContext("2d").putImageData(image, 0, 0);
  canvas.height = Math.round(canvas.width * height / width);
  side.imageSmoothingEnabled = false;
  side.drawImage(small, 0, 0, canvas.width, canvas.height);
  const w = canvas.width / columns, h = canvas.height / rows, most = Math.max(...map, 1e-12);
  map.forEach((value, i) => {
    const x = i % columns * w, y = Math.floor(i / columns) * h;
    side.fillStyle = "rgba(255, 122, 20, " + (.8 * Math.max(0, value) / most) + ")";
    side.fillRect(x, y, w, h);
    if (i !== mark) return;
    side.lineWidth = 3;
    side.strokeStyle = "#3f8cff";
    side.strokeRect(x + 1.5, y + 1.5, w - 3, h - 3);
  });
}

function explain(more) {
  const path = "v1/explain?model=" + encodeURIComponent(at("model").value) + "&" + more;
  return ask(path, { method: "POST", body: picture });
}

/* What speaks for the class that was pressed, or for the answer. */
const look = latest(async () => {
  if (blank || !picture) return;
  patch = null;
  const about = chosen === null ? "" : "&class=" + chosen;
  const said = await explain("method=relevance&pixels=1" + about);
  if (blank) return;
  seen = said;
  at("seeing").hidden = false;
  paint(at("seen"), seen, seen.map, null);
  at("shown").textContent = "What speaks for " + seen.label + " (" + percent(seen.probability) + ")";
});

/* Where a patch attends: the last layer, the mean of its heads. */
let patch = null; // the one that is pointed at
const attend = latest(async () => {
  if (!seen) return;
  if (patch === null) { look(); return; }
  const asked = patch;
  const said = await explain("method=attention&head=mean&query=" + asked);
  if (asked !== patch || !seen) return;
  paint(at("seen"), seen, said.map, asked);
  const columns = seen.grid[1];
  at("shown").textContent = "Where the patch in row " + (Math.floor(asked / columns) + 1) +
    ", column " + (asked % columns + 1) + " attends";
});

function point(to) {
  if (to === patch) return;
  patch = to;
  attend();
}

function choose(index) {
  chosen = chosen === index ? null : index;
  for (const button of document.querySelectorAll("#bars button"))
    button.setAttribute("aria-pressed", Number(button.dataset.index) === chosen);
  look();
}

for (const kind of ["pointermove", "pointerdown"]) at("seen").addEventListener(kind, (event) => {
  if (!seen) return;
  const box = at("seen").getBoundingClientRect(), [rows, columns] = seen.grid;
  const x = Math.floor((event.clientX - box.left) / box.width * columns);
  const y = Math.floor((event.clientY - box.top) / box.height * rows);
  if (x >= 0 && y >= 0 && x < columns && y < rows) point(y * columns + x);
});
at("seen").addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "touch") point(null); // a finger that is lifted still points
});
at("seen").addEventListener("blur", () => point(null));
at("seen").addEventListener("keydown", (event) => {
  if (!seen || !ARROWS[event.key]) return;
  event.preventDefault();
  const [rows, columns] = seen.grid, [x, y] = ARROWS[event.key];
  const now = patch === null ? 0 : patch;
  const column = Math.min(columns - 1, Math.max(0, now % columns + (patch === null ? 0 : x)));
  const row = Math.min(rows - 1, Math.max(0, Math.floor(now / columns) + (patch === null ? 0 : y)));
  point(row * columns + column);
});

function forget() {
  seen = picture = chosen = patch = null;
  at("seeing").hidden = true;
}

/* ---- the paper ---- */

function wipe() {
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, SIDE, SIDE);
  blank = true;
  sent = null;
  at("hint").hidden = false;
}

function clear() {
  remember();
  wipe();
  lift();
  show([]);
  forget();
  say("");
}

function remember() {
  undone.push({ pixels: pen.getImageData(0, 0, SIDE, SIDE), blank, sent });
  if (undone.length > 50) undone.shift();
}

function undo() {
  const last = undone.pop();
  if (!last) return;
  pen.putImageData(last.pixels, 0, 0);
  ({ blank, sent } = last);
  at("hint").hidden = !blank;
  if (blank) { show([]); forget(); say(""); }
  changed();
}

/* A line of ink; the first one on a file wipes it away. */
function ink(from, to, width) {
  if (sent) wipe();
  pen.strokeStyle = "#000";
  pen.lineCap = pen.lineJoin = "round";
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
  blank = false;
  at("hint").hidden = true;
  changed();
}

function place(event) {
  const box = paper.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width * SIDE,
           y: (event.clientY - box.top) / box.height * SIDE };
}

const strokes = new Map(); // of each pointer that is down: where it was last

function width(event) {
  return event.pointerType === "pen" && event.pressure ? INK * (.4 + 1.2 * event.pressure) : INK;
}

paper.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  paper.setPointerCapture(event.pointerId);
  if (strokes.size === 0) remember();
  strokes.set(event.pointerId, place(event));
  ink(place(event), place(event), width(event));
});
paper.addEventListener("pointermove", (event) => {
  if (!strokes.has(event.pointerId)) return;
  const points = event.getCoalescedEvents ? event.getCoalescedEvents() : [];
  for (const point of points.length ? points : [event]) {
    ink(strokes.get(event.pointerId), place(point), width(point));
    strokes.set(event.pointerId, place(point));
  }
});
for (const end of ["pointerup", "pointercancel"])
  paper.addEventListener(end, (event) => strokes.delete(event.pointerId));

/* ---- the keyboard's pen ---- */

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let tip = { x: SIDE / 2, y: SIDE / 4 }, isDown = false;

function mark(isShown) {
  const map = at("map").getContext("2d");
  map.clearRect(0, 0, SIDE, SIDE);
  if (!isShown) return;
  map.beginPath();
  map.arc(tip.x, tip.y, INK / 2, 0, 7);
  map.lineWidth = 3;
  map.strokeStyle = isDown ? "#d3580b" : "#2f6fde";
  map.stroke();
}

function lift() {
  isDown = false;
  mark(document.activeElement === paper && paper.matches(":focus-visible"));
}

paper.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") {
    isDown = !isDown;
    if (isDown) { remember(); ink(tip, tip, INK); }
  } else if (event.key === "Escape") {
    clear();
  } else if (ARROWS[event.key]) {
    const step = (event.shiftKey ? 3 : 1) * SIDE / 28, [x, y] = ARROWS[event.key];
    const to = { x: Math.min(SIDE, Math.max(0, tip.x + x * step)),
                 y: Math.min(SIDE, Math.max(0, tip.y + y * step)) };
    if (isDown) ink(tip, to, INK);
    tip = to;
  } else {
    return;
  }
  event.preventDefault();
  mark(true);
});
paper.addEventListener("focus", lift);
paper.addEventListener("blur", () => { isDown = false; mark(false); });

/* ---- pictures ---- */

/* Shows a picture whole on the paper, and asks about the file itself; what the server cannot read, a
   browser may: then it goes as PNG. */
async function take(blob) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob);
  } catch {
    say("this is no picture that the browser can show", true);
    return;
  }
  remember();
  wipe();
  const scale = SIDE / Math.max(bitmap.width, bitmap.height);
  const w = bitmap.width * scale, h = bitmap.height * scale;
  pen.drawImage(bitmap, (SIDE - w) / 2, (SIDE - h) / 2, w, h);
  sent = /^image\/(png|jpeg)$/.test(blob.type) ? blob : await asPng(bitmap);
  blank = false;
  at("hint").hidden = true;
  changed();
}

function asPng(bitmap) {
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function firstPicture(list) {
  return Array.from(list || []).find((file) => file.type.startsWith("image/"));
}

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = firstPicture(event.dataTransfer.files);
  if (file) take(file); else say("what was dropped is no picture", true);
});
addEventListener("paste", (event) => {
  const file = firstPicture(event.clipboardData.files);
  if (file) take(file);
});
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", () => {
  if (at("file").files[0]) take(at("file").files[0]);
  at("file").value = "";
});

/* ---- the camera ---- */

const video = at("video");

function stopCamera() {
  for (const track of video.srcObject ? video.srcObject.getTracks() : []) track.stop();
  video.srcObject = null;
  video.hidden = at("shoot").hidden = true;
  at("camera").textContent = "Camera";
}

async function startCamera() {
  at("camera").disabled = true; // while the browser asks whether it may
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia(
      { video: { facingMode: "environment" } });
    video.srcObject.getVideoTracks()[0].addEventListener("ended", stopCamera); // unplugged
    video.hidden = false;
    await video.play();
    at("shoot").hidden = false;
    at("camera").textContent = "Stop the camera";
    at("shoot").focus();
  } catch (error) {
    stopCamera();
    say("the camera cannot be used: " + error.message, true);
  }
  at("camera").disabled = false;
}

/* Browsers give the camera's pictures as they move to pages of this machine and of https alone; to
   others, as a phone opens, the photograph that its own camera takes. */
function photograph() {
  at("file").setAttribute("capture", "environment");
  at("file").click();
  at("file").removeAttribute("capture");
}

at("camera").addEventListener("click", () => {
  if (video.srcObject) stopCamera();
  else if (navigator.mediaDevices) startCamera();
  else photograph();
});
at("shoot").addEventListener("click", () => {
  const side = Math.min(video.videoWidth, video.videoHeight);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  canvas.getContext("2d").drawImage(video, (video.videoWidth - side) / 2,
    (video.videoHeight - side) / 2, side, side, 0, 0, side, side);
  canvas.toBlob((blob) => { stopCamera(); take(blob); }, "image/jpeg", .95);
});

/* ---- beginning ---- */

async function begin() {
  const { models } = await ask("v2/models");
  at("model").replaceChildren(...models.filter((m) => m.classes > 0).map((m) => {
    const option = document.createElement("option");
    option.value = option.textContent = m.name;
    return option;
  }));
}

at("clear").addEventListener("click", clear);
at("undo").addEventListener("click", undo);
at("model").addEventListener("change", () => { chosen = null; changed(); });
at("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  key = at("key").value.trim();
  start();
});

async function start() {
  try {
    await begin();
    say("");
    changed();
  } catch (error) {
    say(error.message, true);
    if (!at("unlock").hidden) at("key").focus();
  }
}
wipe();
start();
