"use strict";
/* Teaching: classes that are named here, pictures of them, and what the server learns of these. It
   stands under page.js, whose at, ask, say, key and headers it uses. */
(() => {

let teaching = "";       // the id of the server's teaching; "": none yet
let lessons = [];        // {name, pictures: [{blob, name}], box}
let filming = null;      // the lesson that frames are taken for
let filling = null;      // the lesson that files are chosen for; null: the picture to try
let tried = null;        // the picture that was tried last
const AT_ONCE = 16;      // pictures of a request

const path = (rest) => "v1/teach" + (rest ? "/" + teaching + rest : "");
const percent = (share) => (100 * share).toFixed(1) + " %";

function tell(text, isBad) {
  at("learnt").textContent = text;
  at("learnt").classList.toggle("bad", Boolean(isBad));
}

/* The task as a handler of events: what it throws is shown. */
const doing = (task) => async (...values) => {
  busy++;
  try {
    await task(...values);
  } catch (error) {
    tell(error.message, true);
  }
  busy--;
};

async function begin() {
  if (teaching) return;
  const said = await ask(path(""), { method: "POST",
    body: JSON.stringify({ model: at("model").value || undefined }) }); // undefined: the first one
  teaching = said.id;
}

/* ---- lessons ---- */

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function addLesson(name) {
  const lesson = { name: name || "", pictures: [], box: document.createElement("div") };
  const label = document.createElement("label"), input = document.createElement("input");
  const shown = document.createElement("div");
  lesson.box.className = "lesson";
  label.textContent = "Class ";
  input.value = lesson.name;
  input.placeholder = "a name";
  input.addEventListener("input", () => { lesson.name = input.value.trim(); });
  label.append(input);
  lesson.box.append(label, button("Pictures", () => choose(lesson)),
    button("Camera", doing(() => film(lesson))), shown);
  lesson.show = (blob) => {
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    image.alt = lesson.name;
    image.onload = () => URL.revokeObjectURL(image.src);
    shown.append(image);
    input.disabled = true;    // the server knows the class by this name now
  };
  takesDrops(lesson.box, (files) => give(lesson, files));
  at("lessons").append(lesson.box);
  lessons.push(lesson);
  return lesson;
}

function lessonOf(name) {
  return lessons.find((lesson) => lesson.name === name) ||
    lessons.find((lesson) => !lesson.name && rename(lesson, name)) || addLesson(name);
}

function rename(lesson, name) {
  lesson.name = name;
  lesson.box.querySelector("input").value = name;
  return lesson;
}

/* Sends pictures, some at a time. */
async function give(lesson, files) {
  if (!lesson.name) throw new Error("Name the class first.");
  await begin();
  const failed = [];
  for (let i = 0; i < files.length; i += AT_ONCE) {
    const form = new FormData(), some = files.slice(i, i + AT_ONCE);
    some.forEach((file, k) => form.append("picture", file, file.name || "frame " + (i + k)));
    tell("looking at " + (i + some.length) + " of " + files.length + " pictures ...");
    const said = await ask(path("?class=" + encodeURIComponent(lesson.name)),
      { method: "POST", body: form });
    failed.push(...said.failed);
    for (const file of some) {
      lesson.pictures.push(file);
      lesson.show(file);
    }
  }
  tell(failed.length > 0 ? failed.map((f) => f.error).join("; ") :
    lesson.name + ": " + lesson.pictures.length + " pictures", failed.length > 0);
}

/* ---- where pictures come from ---- */

function takesDrops(element, take) {
  element.addEventListener("dragover", (event) => event.preventDefault());
  element.addEventListener("drop", doing(async (event) => {
    event.preventDefault();
    event.stopPropagation();
    await take(await dropped(event.dataTransfer));
  }));
}

/* The files of what is dropped, folders included. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  if (!entries.some((entry) => entry && entry.isDirectory)) return [...transfer.files];
  const files = [];
  const walk = async (entry) => {
    if (entry.isFile) {
      files.push(await new Promise((done, fail) => entry.file(done, fail)));
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (some.length === 0) break;
      for (const inner of some) await walk(inner);
    }
  };
  for (const entry of entries) if (entry) await walk(entry);
  return files.filter((file) => file.type.startsWith("image/"));
}

function choose(lesson) {
  filling = lesson;
  at("many").multiple = Boolean(lesson);
  at("many").click();
}

at("many").addEventListener("change", doing(async () => {
  const files = [...at("many").files];
  at("many").value = "";
  if (files.length > 0) await (filling ? give(filling, files) : tryIt(files[0]));
}));

/* A folder with a folder for each class. */
at("tree").addEventListener("change", doing(async () => {
  const byClass = new Map();
  for (const file of at("tree").files) {
    const parts = file.webkitRelativePath.split("/");
    if (!file.type.startsWith("image/") || parts.length < 3) continue;
    const name = parts[parts.length - 2];
    byClass.set(name, [...(byClass.get(name) || []), file]);
  }
  at("tree").value = "";
  if (byClass.size === 0) throw new Error("The folder has no folders with pictures in them.");
  for (const [name, files] of byClass) await give(lessonOf(name), files);
}));

async function film(lesson) {
  filming = lesson;
  at("film").srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
  at("frames").hidden = false;
  await at("film").play();
}

at("frame").addEventListener("click", doing(async () => {
  const canvas = document.createElement("canvas"), video = at("film");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  await give(filming, [new File([blob], "frame " + (filming.pictures.length + 1) + ".png",
    { type: "image/png" })]);
}));

at("unfilm").addEventListener("click", () => {
  for (const track of at("film").srcObject.getTracks()) track.stop();
  at("film").srcObject = null;
  at("frames").hidden = true;
});

/* ---- learning ---- */

function showLearnt(said) {
  const l = said.learnt, last = l.curve[l.curve.length - 2];
  let text = `Each picture answered without itself: ${percent(l.accuracy)} of ${l.pictures} right, ` +
    `in 19 of 20 cases between ${percent(l.interval[0])} and ${percent(l.interval[1])}.`;
  if (last) text += ` With ${last.pictures} of each class: ${percent(last.accuracy)}.`;
  if (l.with_twice_as_many !== null)
    text += ` With twice as many pictures about ${percent(l.with_twice_as_many)}.`;
  if (l.confusions > 0) text += ` Most confused: ${l.confused.join(" and ")}.`;
  tell(text);
  at("doubtful").replaceChildren(...l.suspects.slice(0, 5).map((s) => {
    const line = document.createElement("li");
    line.append(`${s.file}: said to be ${s.label}, looks like ${s.answer} (${percent(s.probability)}) `,
      button("It is " + s.answer, doing(() => correct(s.picture, s.answer))),
      button("Forget it", doing(() => drop(s.picture))));
    return line;
  }));
  at("taught").hidden = false;
}

async function learn() {
  if (!teaching) throw new Error("Give pictures of two classes first.");
  tell("learning ...");
  showLearnt(await ask(path("/learn"), { method: "POST" }));
  if (tried) await tryIt(tried);
}

async function correct(picture, name) {
  showLearnt(await ask(path(`/correct?picture=${picture}&class=${encodeURIComponent(name)}`),
    { method: "POST" }));
}

async function drop(picture) {
  showLearnt(await ask(path("/forget?picture=" + picture), { method: "POST" }));
}

/* ---- trying ---- */

async function tryIt(blob) {
  tried = blob;
  const said = await ask(path("/answer"), { method: "POST", body: blob });
  at("guesses").replaceChildren(...said.predictions.map((p) => {
    const line = document.createElement("li"), bar = document.createElement("meter");
    bar.value = p.probability;
    line.append(p.label + " ", bar, " " + percent(p.probability));
    return line;
  }));
  at("fix").replaceChildren("Wrong? It is ", ...said.predictions.slice(1).map((p) =>
    button(p.label, doing(async () => {
      const lesson = lessonOf(p.label);
      await give(lesson, [new File([blob], blob.name || "corrected.png", { type: blob.type })]);
      await learn();
    }))));
  at("looked").hidden = true;
  at("like").textContent = "Most like: " + said.neighbours.map((n) =>
    `${n.file} (${n.label}, ${n.cosine.toFixed(3)})`).join(", ");
  await look(blob);
}

/* What in the picture speaks for the first answer. */
async function look(blob) {
  const seen = await ask(path("/explain"), { method: "POST", body: blob });
  if (blob !== tried) return;
  paint(at("lookedAt"), seen, seen.map, null);
  at("lookedFor").textContent = "What speaks for " + seen.label;
  at("looked").hidden = false;
}

/* ---- saving ---- */

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

for (const save of document.querySelectorAll(".save"))
  save.addEventListener("click", doing(async () => {
    const what = save.dataset.what;
    const reply = await fetch(path("/" + what), { headers: headers(), cache: "no-store" });
    if (!reply.ok) throw new Error((await reply.json()).error);
    download(await reply.blob(), "taught." + { model: "safetensors", onnx: "onnx", pytorch: "tar" }[what]);
  }));

const dataUrl = (blob) => new Promise((done, fail) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => fail(reader.error);
  reader.readAsDataURL(blob);
});

at("keep").addEventListener("click", doing(async () => {
  const classes = {};
  for (const lesson of lessons)
    classes[lesson.name] = await Promise.all(lesson.pictures.map(async (picture) =>
      ({ name: picture.name, image: await dataUrl(picture) })));
  download(new Blob([JSON.stringify({ classes })], { type: "application/json" }), "taught.json");
}));

function blobOf(url) {
  const [head, text] = url.split(",");
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return [bytes, head.slice(5).split(";")[0]];
}

/* A model file: its head answers at once; its pictures are not in it. */
async function loadModel(file) {
  await forget();
  await begin();
  const said = await ask(path("/load"), { method: "POST", body: file });
  for (const { name } of said.classes) lessonOf(name).box.querySelector("input").disabled = true;
  showLearnt(said);
}

at("saved").addEventListener("change", doing(async () => {
  const file = at("saved").files[0];
  at("saved").value = "";
  if (!file.name.endsWith(".json")) return loadModel(file);
  const saved = JSON.parse(await file.text());
  for (const [name, pictures] of Object.entries(saved.classes)) {
    const files = pictures.map((picture) => {
      const [bytes, type] = blobOf(picture.image);
      return new File([bytes], picture.name, { type });
    });
    await give(lessonOf(name), files);
  }
  await learn();
}));

async function forget() {
  if (teaching) await ask(path("/").slice(0, -1), { method: "DELETE" });
  teaching = "";
  lessons = [];
  tried = null;
  at("lessons").replaceChildren();
  at("doubtful").replaceChildren();
  at("guesses").replaceChildren();
  at("looked").hidden = true;
  at("taught").hidden = true;
  addLesson();
  addLesson();
  tell("");
}

at("more").addEventListener("click", () => addLesson());
at("folders").addEventListener("click", () => at("tree").click());
at("learn").addEventListener("click", doing(learn));
at("choose").addEventListener("click", () => choose(null));
at("again").addEventListener("click", () => at("saved").click());
at("forget").addEventListener("click", doing(forget));
takesDrops(at("try"), (files) => files.length > 0 && tryIt(files[0]));

/* The section is there where the server teaches. */
async function offer() {
  const reply = await fetch(path(""), { headers: headers(), cache: "no-store" });
  if (!reply.ok) return;
  at("teach").hidden = false;
  addLesson();
  addLesson();
}
offer();
})();
