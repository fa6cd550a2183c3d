#!/usr/bin/env python3
"""The page of build/web in Chromium, compared with the programs of this machine; called by
scripts/test-wasm: on one thread, on two and on three, isolated by its host, by its service worker
and not. usage: tests/web/page.py [STEPS | speed]"""
import functools
import hashlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "tests/support")
from chromium import Browser, check, find  # noqa: E402

STEPS = sys.argv[1] if sys.argv[1:] else "50"
BIN = os.path.join(os.environ.get("BUILD", "build"), "bin")


class Files(http.server.SimpleHTTPRequestHandler):
    """A folder of static files, with the headers that isolate a page or without them; `before` is
    put before worker.js."""
    def __init__(self, *words, headers, before, **named):
        self.isolating, self.before = headers, before
        super().__init__(*words, **named)

    def do_GET(self):
        if not self.before or not self.path.startswith("/worker.js"):
            super().do_GET()
            return
        with open(os.path.join(self.directory, "worker.js"), "rb") as file:
            script = self.before + file.read()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(script)))
        self.end_headers()
        self.wfile.write(script)

    def end_headers(self):
        for header in self.isolating:
            self.send_header(*header)
        super().end_headers()

    def log_message(self, form, *values):
        pass


ISOLATING = (("Cross-Origin-Opener-Policy", "same-origin"),
             ("Cross-Origin-Embedder-Policy", "require-corp"))
# An engine that gives no memory to share.
REFUSING = b"WebAssembly.Memory = class { constructor() { throw new RangeError(); } };\n"


def serve(folder, headers, before=b""):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Files, directory=folder, headers=headers,
                                           before=before))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def wait_long(page, expression, seconds):
    """As page.wait, for longer than a call to the browser may take."""
    end = time.monotonic() + seconds
    while not page.get(f"Boolean({expression})"):
        if time.monotonic() > end:
            sys.exit(f"never true: {expression}")
        time.sleep(.5)


def here(*words):
    run = subprocess.run([f"{BIN}/{words[0]}", *words[1:]], capture_output=True, text=True)
    return run.stdout


def answers(page):
    """The page's own answer to pictures is that of vit-classify, to the last digit."""
    for name in ("image_rgb.png", "image_progressive.jpg", "image_exif_6.jpg"):
        path = f"tests/fixtures/{name}"
        native = json.loads(here("vit-classify", "--model", "mnist", "--json", "--logits", path))
        data = list(open(path, "rb").read())
        said = page.get(f"""fetch("predictions/mnist?logits=1&top=10", {{method: "POST",
            body: new Blob([new Uint8Array({data})])}}).then((r) => r.json())""")
        check(f"{name}: the logits of vit-classify", said["logits"] == native["logits"],
              (said, native))


def drawing(page):
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=200, y=200, button="left",
              clickCount=1)
    for y in range(200, 400, 10):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=200, y=y, button="left")
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=200, y=400, button="left")
    page.wait("document.querySelector('#answer').textContent === '1'")
    page.wait("!document.querySelector('#seeing').hidden")
    check("a line that is drawn is a one", True)
    page.wait("document.querySelector('#shown').textContent.includes('What speaks for 1')")
    check("what speaks for it is shown", True)


def teaching(page):
    said = page.get("""(async () => {
        const square = async (level) => {
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = 24;
            const pen = canvas.getContext("2d");
            for (let i = 0; i < 576; i++) {
                pen.fillStyle = `rgb(${Array(3).fill(level + (i * 37 + level) % 40).join(",")})`;
                pen.fillRect(i % 24, i / 24 | 0, 1, 1);
            }
            return new Promise((done) => canvas.toBlob(done, "image/png"));
        };
        const { id } = await (await fetch("v1/teach", { method: "POST",
            body: JSON.stringify({ model: "mnist" }) })).json();
        for (const [name, base] of [["light", 180], ["dark", 20]]) {
            const form = new FormData();
            for (let i = 0; i < 5; i++)
                form.append("picture", await square(base + 5 * i), i + ".png");
            await fetch(`v1/teach/${id}?class=${name}`, { method: "POST", body: form });
        }
        const { learnt } = await (await fetch(`v1/teach/${id}/learn`, { method: "POST" })).json();
        const answer = await (await fetch(`v1/teach/${id}/answer`, { method: "POST",
            body: await square(200) })).json();
        return [learnt.accuracy, answer.predictions[0].label];
    })()""")
    check("it is taught two classes", said == [1, "light"], said)


def trained(work, threads):
    """The SHA-256 of the model of vit-train."""
    model = os.path.join(work, "model")
    here("vit-train", "--data", "digits", "--preset", "digits", "--steps", STEPS, "--seed", "0",
         "--threads", str(threads), "--overwrite", "--out", model)
    return hashlib.sha256(open(model, "rb").read()).hexdigest()


def training(page, digest, threads):
    page.get(f"document.querySelector('#train-steps').value = {STEPS}")
    page.click("#train-start")
    wait_long(page, "document.querySelector('#trained').textContent.includes('loss')", 900)
    drew = page.get("performance.now()")
    page.get("new Promise((done) => requestAnimationFrame(done))")
    frame = page.get("performance.now()") - drew
    check("the page answers while it trains", frame < 2000, frame)
    wait_long(page, "document.querySelector('#trained').dataset.sha256", 1800)
    made = page.get("document.querySelector('#trained').dataset.sha256")
    check(f"{STEPS} steps, {threads}, give the model of vit-train, {digest[:16]}", made == digest,
          made)


def use(page):
    page.click("#train-use")
    page.wait("document.querySelector('#model').value === 'trained'")
    page.wait("document.querySelector('#answer').textContent.trim() !== ''")
    check("the model that was trained answers",
          page.get("fetch('v2/models').then((r) => r.json()).then((s) => s.models.length)") == 3)


def visit(page, url, threads):
    """The page says that it computes so."""
    page.go(url)
    wait_long(page, "document.querySelectorAll('#model option').length > 0", 300)
    found = page.get("document.querySelector('#threads').textContent")
    check(f"{url}: {threads}", found == threads, found)


def speed(browser, page, url):
    """Milliseconds of an answer, pictures a second of a training, on one thread and on two; the
    same of vit-bench."""
    data = list(open("tests/fixtures/image_rgb.png", "rb").read())
    print(browser.call("Browser.getVersion")["product"])
    for threads in (1, 2):
        visit(page, f"{url}?threads={threads}", f"{threads} thread{'s'[:threads - 1]}")
        print(page.get(f"""(async () => {{
            const body = new Blob([new Uint8Array({data})]), times = [];
            for (let i = 0; i < 200; i++) {{
                const start = performance.now();
                await (await fetch("predictions/mnist", {{ method: "POST", body }})).json();
                times.push(performance.now() - start);
            }}
            times.sort((a, b) => a - b);
            return `an answer of mnist: ${{times[100].toFixed(2)}} ms`;
        }})()"""))
        page.get("document.querySelector('#train-steps').value = 20")
        page.click("#train-start")
        wait_long(page, "document.querySelector('#trained').dataset.sha256", 300)
        print("training:", page.get("document.querySelector('#trained').textContent"))
        for words in (("train", "--preset", "digits"), ("infer", "--preset", "mnist")):
            print(here("vit-bench", *words, "--threads", str(threads)))


def compare(page, work, isolated, plain):
    digest = trained(work, 1)
    check("vit-train has the same bytes on two threads", trained(work, 2) == digest)
    visit(page, isolated + "?threads=2", "2 threads")
    answers(page)
    drawing(page)
    teaching(page)
    training(page, digest, "2 threads")
    use(page)
    page.shot("build/wasm/page.png", whole=True)
    visit(page, isolated + "?threads=3", "3 threads")
    training(page, digest, "3 threads")
    visit(page, plain + "?threads=1", "1 thread")
    answers(page)
    training(page, digest, "1 thread")
    visit(page, plain + "?threads=2", "2 threads") # the service worker isolates it
    answers(page)
    refusing = serve("build/web", ISOLATING, REFUSING)
    visit(page, refusing + "?threads=2", "1 thread")
    answers(page)
    urls = isolated, plain, refusing
    check("nothing was asked of another place",
          all(asked.startswith(urls) for asked in page.requests), page.requests)
    check("the console is silent", not page.console, page.console)


def main():
    if find() is None:
        print("ok 1 - the page in Chromium # SKIP no Chromium")
        return
    with Browser() as browser, tempfile.TemporaryDirectory() as work:
        isolated, plain = serve("build/web", ISOLATING), serve("build/web", ())
        page = browser.open(isolated + "?threads=1")
        if sys.argv[1:] == ["speed"]:
            speed(browser, page, isolated)
        else:
            compare(page, work, isolated, plain)


main()
