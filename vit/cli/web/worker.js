"use strict";
/* A worker that computes, so that the page does not freeze. It answers requests as vit-serve would
   (web.c), or trains. Everything comes from the folder of this file. */

const text = new TextDecoder(), bytesOf = new TextEncoder();
let web = null, shared = null; // the module of web.c, and its memory if it has threads

/* Whether the engine has a fused multiply-add, and does not round the product: a module whose one
   function is f32x4.relaxed_madd of three numbers, in lane 0. */
function isFused() {
  const code = [0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 125, 125, 125, 1, 125, 3, 2, 1, 0, 7, 5, 1,
    1, 102, 0, 0, 10, 22, 1, 20, 0, 32, 0, 253, 19, 32, 1, 253, 19, 32, 2, 253, 19, 253, 133, 2, 253,
    31, 0, 11];
  try {
    const { f } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(code))).exports;
    const small = 2 ** -13;
    return f(1 + small, 1 - small, -1) === -(small ** 2);
  } catch {
    return false; // an engine that does not know the instruction
  }
}

async function download(path) {
  const reply = await fetch(path);
  if (!reply.ok) throw new Error(path + " cannot be read: " + reply.status);
  return new Uint8Array(await reply.arrayBuffer());
}

/* Memory for threads. Engines differ in how much they promise; null: none. */
function sharedMemory() {
  for (const gigabytes of [4, 2, 1, .5]) {
    try {
      return new WebAssembly.Memory({ initial: 256, maximum: gigabytes * 16384, shared: true });
    } catch { /* less, then */ }
  }
  return null;
}

function open(script, settings) {
  importScripts(script);
  return createVit({ mainScriptUrlOrBlob: script, ...settings });
}

/* Loads the module for this engine, with as many threads as the page wants if it can have them. */
async function load() {
  const kind = isFused() ? "vit-fused" : "vit";
  let threads = Number(new URLSearchParams(location.search).get("threads"));
  shared = threads > 1 ? sharedMemory() : null;
  try {
    if (shared) web = await open(kind + "-threads.js", { wasmMemory: shared, threads });
  } catch {
    shared = null;
  }
  if (!shared) {
    threads = 1;
    web = await open(kind + ".js");
  }
  postMessage({ threads });
}

/* The module's memory now: it grows, on any thread. */
function memory() {
  return shared ? new Uint8Array(shared.buffer) : web.HEAPU8;
}

/* A copy in the module's memory, ended by zero; to be freed. */
function put(bytes) {
  const at = web._malloc(bytes.length + 1);
  memory().set(bytes, at);
  memory()[at + bytes.length] = 0;
  return at;
}

async function start(models) {
  web.FS.mkdir("/models");
  const lines = [];
  for (const [name, bytes] of Object.entries(models)) {
    web.FS.writeFile("/models/" + name, bytes || await download("models/" + name + ".safetensors"));
    lines.push(name + "=/models/" + name);
  }
  const list = put(bytesOf.encode(lines.join("\n"))), failed = web._web_start(list);
  web._free(list);
  if (failed) throw new Error(web.UTF8ToString(failed));
}

/* What vit-serve would answer: {status, type, body}. */
function answer(asked) {
  const url = new URL(asked.path, "http://page/"), given = [];
  for (const [name, value] of url.searchParams)
    given.push(name + "=" + value.replace(/\n/g, " "));
  const parts = [asked.method, decodeURIComponent(url.pathname), given.join("\n"), asked.type]
    .map((part) => put(bytesOf.encode(part)));
  const body = asked.body.length > 0 ? put(asked.body) : 0;
  const status = web._web_ask(...parts, body, asked.body.length);
  const at = web._web_reply_text(), size = web._web_reply_size();
  const reply = { status, type: web.UTF8ToString(web._web_reply_type()),
                  body: memory().slice(at, at + size) };
  for (const part of [...parts, body]) if (part) web._free(part);
  return reply;
}

/* Trains; events are sent as they come (web.c), and at last the model. */
async function train({ preset, steps, seed }) {
  const out = "/trained.safetensors", name = put(bytesOf.encode(preset));
  const path = put(bytesOf.encode(out));
  const failed = web._web_train(name, steps, seed, path);
  if (failed) throw new Error(web.UTF8ToString(failed));
  const file = web.FS.readFile(out);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", file));
  postMessage({ file, sha256: Array.from(hash, (b) => b.toString(16).padStart(2, "0")).join("") });
}

let queue = Promise.resolve(); // in the order in which they came
onmessage = (event) => {
  queue = queue.then(async () => {
    const { id, models, ask, training } = event.data;
    try {
      if (!web) await load();
      if (models) await start(models);
      if (training) await train(training);
      const reply = ask ? answer(ask) : null;
      postMessage({ id, reply });
    } catch (error) {
      postMessage({ id, error: error.message || String(error) });
    }
  });
};
