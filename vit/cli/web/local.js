"use strict";
/* The page of vit-serve without a server: what it would send is answered by a worker, here. */
(() => {
/* ---- threads: where the page is isolated, at most as many ---- */

const MOST_THREADS = 8;
const wanted = Number(new URLSearchParams(location.search).get("threads")) ||
  navigator.hardwareConcurrency || 1;

/* Lets a service worker add the headers that the host does not send, and loads the page again. Once
   in a session: where that does not help, there is one thread. */
async function isolate() {
  if (self.crossOriginIsolated || wanted === 1 || sessionStorage.getItem("isolated")) return;
  sessionStorage.setItem("isolated", "once");
  await navigator.serviceWorker.register("isolate.js");
  await navigator.serviceWorker.ready;
  location.reload();
  await new Promise(() => {});
}

function startWorker() {
  const threads = self.crossOriginIsolated ? Math.min(wanted, MOST_THREADS) : 1;
  return new Worker("worker.js?threads=" + threads);
}

function showThreads(count) {
  const isAsked = self.crossOriginIsolated || wanted === 1;
  at("threads").textContent = count > 1 ? count + " threads"
    : isAsked ? "1 thread" : "1 thread, as this page is not isolated";
}

/* ---- requests ---- */

const at = (id) => document.getElementById(id);
const waiting = new Map();
let worker, ready, number = 0;

function post(message) {
  return new Promise((done, fail) => {
    waiting.set(++number, { done, fail });
    worker.postMessage({ id: number, ...message });
  });
}

function begin(models) {
  if (worker) worker.terminate();
  worker = startWorker();
  worker.onmessage = ({ data }) => {
    if (data.threads) { showThreads(data.threads); return; }
    const { done, fail } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) fail(new Error(data.error)); else done(data.reply);
  };
  worker.onerror = (event) => {
    for (const { fail } of waiting.values()) fail(new Error(event.message));
    waiting.clear();
  };
  ready = post({ models });
  return ready;
}

/* NAME: null for a model of this folder, or the bytes of one. */
const models = {};
for (const name of document.currentScript.dataset.models.split(" ")) models[name] = null;
ready = isolate().catch(() => {}).then(() => begin(models));

window.fetch = async (path, options = {}) => {
  const asked = new Request(new URL(path, "http://page/"), { ...options, cache: "default" });
  await ready;
  const body = new Uint8Array(await asked.arrayBuffer());
  const reply = await post({ ask: { path, method: asked.method, body,
                                    type: asked.headers.get("Content-Type") || "" } });
  return new Response(reply.body, { status: reply.status,
                                    headers: { "Content-Type": reply.type } });
};

/* ---- training ---- */

let trainer = null, trained = null, losses = [], shown = "";

function tell(text, isBad) {
  at("trained").textContent = text;
  at("trained").classList.toggle("bad", Boolean(isBad));
}

/* The loss of every event, over the steps; the scale is logarithmic. */
function drawLosses() {
  const canvas = at("losses"), pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (losses.length < 2) return;
  const high = Math.log(Math.max(...losses.map((l) => l.loss))), last = losses.at(-1).steps;
  const low = Math.min(Math.log(Math.min(...losses.map((l) => l.loss))), high - .1);
  pen.strokeStyle = style.getPropertyValue("--bar");
  pen.lineWidth = 2;
  pen.beginPath();
  for (const { step, loss } of losses)
    pen.lineTo(step / last * canvas.width,
      4 + (high - Math.log(loss)) / (high - low) * (canvas.height - 8));
  pen.stroke();
}

function onEvent(event) {
  if (event.loss !== null && event.step > 0) {
    losses.push(event);
    drawLosses();
    shown = `step ${event.step} of ${event.steps}, loss ${event.loss.toFixed(4)}`;
  }
  if (event.images_per_second && !shown.includes("images/s")) shown += `, ${Math.round(event.images_per_second)} images/s`;
  if (event.test_top1 !== null)
    shown += `; ${(100 * event.test_top1).toFixed(2)} % of the test pictures right`;
  tell(shown || "drawing digits ...");
}

function stop() {
  if (trainer) trainer.terminate();
  trainer = null;
  at("train-stop").disabled = true;
  at("train-start").disabled = false;
}

function train() {
  stop();
  losses = [];
  drawLosses();
  at("train-use").disabled = at("train-save").disabled = true;
  at("train-stop").disabled = false;
  at("train-start").disabled = true;
  tell("starting ...");
  trainer = startWorker();
  trainer.onmessage = ({ data }) => {
    if (data.event) onEvent(data.event);
    if (data.error) { stop(); tell(data.error, true); }
    if (!data.file) return;
    stop();
    trained = data;
    at("train-use").disabled = at("train-save").disabled = false;
    tell(shown + ". SHA-256 of the model: " + data.sha256);
    at("trained").dataset.sha256 = data.sha256;
  };
  trainer.onerror = (event) => { stop(); tell(event.message, true); };
  trainer.postMessage({ training: { preset: at("train-preset").value,
    steps: Number(at("train-steps").value), seed: Number(at("train-seed").value) } });
}

async function use() {
  await begin({ ...models, trained: trained.file });
  if (!document.querySelector("#model option[value=trained]"))
    at("model").append(new Option("trained", "trained"));
  at("model").value = "trained";
  at("model").dispatchEvent(new Event("change"));
}

at("train-start").addEventListener("click", train);
at("train-stop").addEventListener("click", () => { stop(); tell(shown + "; stopped"); });
at("train-use").addEventListener("click", () => use().catch((error) => tell(error.message, true)));
at("train-save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([trained.file]));
  link.download = "trained.safetensors";
  link.click();
});
function showCommand() {
  at("train-command").textContent = `vit-train --data digits --preset ${at("train-preset").value} ` +
    `--steps ${at("train-steps").value} --seed ${at("train-seed").value}`;
}
for (const id of ["train-preset", "train-steps", "train-seed"])
  at(id).addEventListener("input", showCommand);
showCommand();
})();
