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
let asking = false, again = false;

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

function drawing() {
  return new Promise((done) => paper.toBlob(done, "image/png"));
}

async function answer() {
  const start = performance.now();
  const picture = sent || await drawing();
  const path = "predictions/" + encodeURIComponent(at("model").value);
  const said = await ask(path + "?top=" + SHOWN, { method: "POST", body: picture });
  if (blank) return;
  show(said.predictions);
  say(said.warning || "answered in " + Math.max(1, Math.round(performance.now() - start)) + " ms");
}

/* One question at a time: what changes meanwhile is asked for after it. */
async function changed() {
  again = true;
  if (asking) return;
  asking = true;
  while (again) {
    again = false;
    if (blank) continue;
    try {
      await answer();
    } catch (error) {
      show([]);
      say(error.message, true);
    }
  }
  asking = false;
}

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
  });
  at("answer").textContent = predictions.length ? predictions[0].label : "\u00a0";
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
  if (blank) { show([]); say(""); }
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

at("camera").addEventListener("click", async () => {
  if (video.srcObject) { stopCamera(); return; }
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia(
      { video: { facingMode: "environment" } });
  } catch (error) {
    say("the camera cannot be used: " + error.message, true);
    return;
  }
  video.hidden = at("shoot").hidden = false;
  at("camera").textContent = "Stop the camera";
  await video.play();
  at("shoot").focus();
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
at("model").addEventListener("change", changed);
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
  }
}
wipe();
start();
