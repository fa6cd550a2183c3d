#!/usr/bin/env python3
"""Times one ViT-Ti/16 for a picture of 224 x 224 in Chromium: the module of build/web and ONNX
Runtime Web, in turns, in one browser, on one thread and on two, and compares their logits.

usage: scripts/bench_browser.py

Needs build/web (scripts/wasm), this machine's programs (make), Chromium and pip. ONNX Runtime Web
is on npm; here it is taken from a package of PyPI that ships it, open-webui 0.12.4 (106 MB, fetched
once into build/ort): its WebAssembly as it is, its JavaScript from the map of sources beside it."""
import base64
import functools
import http.server
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib

if sys.argv[1:]:
    sys.exit(__doc__)
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from chromium import Browser  # noqa: E402

PACKAGE = "open-webui==0.12.4"
ORT, SIZE, RUNS, TURNS = ROOT / "build/ort", 224, 15, 3
PRESET = {"model": {"patch": 16, "dim": 192, "depth": 12, "heads": 3, "mlp": 768,
                    "qkv_bias": True}, "train": {"batch": 2, "epochs": 1}}
MEAN, STD = (.485, .456, .406), (.229, .224, .225)


class Files(http.server.SimpleHTTPRequestHandler):
    """The folder build, with the headers that isolate a page."""
    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, form, *values):
        pass


def fetch_runtime():
    """ort.min.mjs and its WebAssembly into build/ort."""
    if (ORT / "ort.min.mjs").exists():
        return
    ORT.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(ORT),
                    PACKAGE], check=True)
    with zipfile.ZipFile(next(ORT.glob("*.whl"))) as wheel:
        for name in wheel.namelist():
            if "/wasm/ort-wasm-simd-threaded.jsep" in name:
                (ORT / pathlib.Path(name).name).write_bytes(wheel.read(name))
            elif "kokoro.worker" in name and name.endswith(".js.map"):
                sources = json.loads(wheel.read(name))
                here = [s.endswith("/dist/ort.min.mjs") for s in sources["sources"]].index(True)
                (ORT / "ort.min.mjs").write_text(sources["sourcesContent"][here])


def picture(number):
    """The values of a picture, rows of red, green and blue."""
    return bytes(int(127 + 120 * math.sin(number + x / 17 + y / (9 + number) + c))
                 for y in range(SIZE) for x in range(SIZE) for c in range(3))


def png(values):
    rows = b"".join(b"\0" + values[3 * SIZE * y:3 * SIZE * (y + 1)] for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        file += struct.pack(">I", len(data)) + kind + data
        file += struct.pack(">I", zlib.crc32(kind + data))
    return file


def make_model(work):
    """A ViT-Ti of two classes after one step: build/ort/ti.safetensors and ti.onnx."""
    for number, name in enumerate(("one", "other")):
        (work / "data" / name).mkdir(parents=True)
        for i in range(3):
            (work / "data" / name / f"{i}.png").write_bytes(png(picture(3 * number + i)))
    (work / "ti.json").write_text(json.dumps(PRESET))
    model = str(ORT / "ti.safetensors")
    (ORT / "ti.onnx").unlink(missing_ok=True)
    for words in (["vit-train", "--data", str(work / "data"), "--preset", str(work / "ti.json"),
                   "--size", str(SIZE), "--steps", "1", "--overwrite", "--out", model],
                  ["vit-convert", model, str(ORT / "ti.onnx"), "--layout", "onnx"]):
        done = subprocess.run([str(ROOT / "build/bin" / words[0]), *words[1:]], text=True,
                              capture_output=True)
        if done.returncode != 0:
            sys.exit(done.stderr)


PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module">
import * as ort from "/ort/ort.min.mjs";
const bytesAt = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
async function timed(runs, run) {
  const times = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return median(times);
}
window.startVit = async (threads) => {
  const worker = new Worker("/web/worker.js?threads=" + threads);
  const file = await bytesAt("/ort/ti.safetensors");
  let number = 0;
  const post = (message) => new Promise((done, fail) => {
    worker.onmessage = ({ data }) => data.threads ? window.threads = data.threads
      : data.error ? fail(new Error(data.error)) : done(data.reply);
    worker.postMessage({ id: ++number, ...message });
  });
  await post({ models: { ti: file } });
  window.askVit = (body) => post({ ask: { path: "predictions/ti?logits=1", method: "POST",
                                          type: "", body } });
};
window.timeVit = (runs, body) => timed(runs, () => window.askVit(body));
window.startOrt = async (threads) => {
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.wasm.numThreads = threads;
  window.session = await ort.InferenceSession.create("/ort/ti.onnx",
                                                     { executionProviders: ["wasm"] });
};
window.runOrt = async (values) => {
  const { session } = window, input = new ort.Tensor("float32", values, [1, 3, 224, 224]);
  const result = await session.run({ [session.inputNames[0]]: input });
  return Array.from(result[session.outputNames[0]].data);
};
window.timeOrt = (runs, values) => timed(runs, () => window.runOrt(values));
window.ready = true;
</script>
"""


def measure(browser, url, threads):
    values = picture(7)
    file = base64.b64encode(png(values)).decode()
    prepared = struct.pack(f"<{len(values)}f", *(
        (values[3 * i + c] / 255 - MEAN[c]) / STD[c] for c in range(3) for i in range(SIZE * SIZE)))
    page = browser.open(url)
    page.wait("window.ready && crossOriginIsolated")
    for name, data in (("file", file), ("values", base64.b64encode(prepared).decode())):
        page.get(f"window.{name} = Uint8Array.from(atob('{data}'), (c) => c.charCodeAt(0)), 0")
    page.get("window.values = new Float32Array(window.values.buffer), 0")
    page.get(f"startVit({threads})")
    page.get(f"startOrt({threads})")
    here = page.get("askVit(file).then((r) => JSON.parse(new TextDecoder().decode(r.body)).logits)")
    there = page.get("runOrt(values)")
    page.get("Promise.all([timeVit(3, file), timeOrt(3, values)])")
    times = [(page.get(f"timeVit({RUNS}, file)"), page.get(f"timeOrt({RUNS}, values)"))
             for _ in range(TURNS)]
    vit, ort = (sorted(column)[TURNS // 2] for column in zip(*times))
    apart = max(abs(a - b) for a, b in zip(here, there))
    print(f"{threads} thread{'s'[:threads - 1]}: this page {vit:.1f} ms, ONNX Runtime Web "
          f"{ort:.1f} ms; logits {apart:.1e} apart", flush=True)
    if apart > 1e-4 or page.get("window.threads") != threads:
        sys.exit(f"not the same network, or not {threads} threads: {here}, {there}")


def main():
    fetch_runtime()
    with tempfile.TemporaryDirectory() as work:
        make_model(pathlib.Path(work))
    (ORT / "index.html").write_text(PAGE)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Files, directory=ROOT / "build"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser() as browser:
        print(browser.call("Browser.getVersion")["product"])
        for threads in (1, 2):
            measure(browser, f"http://127.0.0.1:{server.server_port}/ort/index.html", threads)


main()
