"use strict";
/* A picture that is chosen or dropped is sent to the server that the page came from; what its index
   has that is similar is shown. */

const at = (id) => document.getElementById(id);
let sent = null;

async function ask(path, options) {
  const headers = at("key").value ? { Authorization: "Bearer " + at("key").value } : {};
  const reply = await fetch(path, { ...options, headers, cache: "no-store" });
  at("unlock").hidden = reply.status !== 401;
  if (!reply.ok) throw new Error((await reply.json()).error || reply.statusText);
  return reply;
}

async function show(hit) {
  const figure = document.createElement("figure"), picture = document.createElement("img");
  const text = document.createElement("figcaption");
  text.textContent = hit.score.toFixed(3) + " " + hit.file;
  picture.alt = "";
  figure.append(picture, text);
  at("found").append(figure);
  try {
    picture.src = URL.createObjectURL(await (await ask("v1/search/picture?row=" + hit.row)).blob());
  } catch (error) {
    picture.remove();
  }
}

/* file: a picture, or a string of words. */
async function search(file) {
  const words = typeof file === "string";
  const path = "v1/search?top=24" + (words ? "&text=" + encodeURIComponent(file) : "");
  sent = file;
  at("note").textContent = "";
  try {
    const answer = await (await ask(path, { method: "POST", body: words ? "" : file })).json();
    if (sent !== file) return;
    at("found").replaceChildren();
    answer.results.forEach(show);
  } catch (error) {
    at("note").textContent = error.message;
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (at("text").value) search(at("text").value);
});
at("file").addEventListener("change", () => at("file").files[0] && search(at("file").files[0]));
at("key").addEventListener("change", () => sent && search(sent));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) search(event.dataTransfer.files[0]);
});
