"use strict";
/* A page may share memory between threads if its host sends two headers. Where the host does not,
   this service worker of the page's folder adds them to what the host sends. */
oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => event.respondWith((async () => {
  const reply = await fetch(event.request);
  if (reply.status === 0) return reply; // the browser follows to another address
  const headers = new Headers(reply.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  return new Response(reply.body, { status: reply.status, statusText: reply.statusText, headers });
})());
