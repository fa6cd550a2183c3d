// What a program for node begins with: it has the environment of its process, and reads its code
// from a file, though node has a fetch for addresses of the network.
globalThis.fetch = undefined;
Module.threads = Math.min(require("os").availableParallelism(), 8);
Module.preRun = [].concat(Module.preRun || [], () => Object.assign(ENV, process.env));
