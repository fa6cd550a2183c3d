"""Measures vit-serve and its rivals in turns; run by scripts/bench-serve."""
import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from PIL import Image

sys.path.insert(0, "tests/support")
from serving import BUILD, Server

LUA = """wrk.method = "POST"
wrk.body = io.open(os.getenv("PICTURE"), "rb"):read("*a")
local bad = 0
function response(status) if status ~= 200 then bad = bad + 1 end end
function done(summary, latency)
  io.write(string.format("FOUND %f %f %f %f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.connect + summary.errors.read + summary.errors.timeout + summary.errors.status))
end
"""


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Peer:
    def __init__(self, kind, what):
        port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "scripts/bench_peer_server.py", kind, what, str(port)])
        self.url = "http://127.0.0.1:%d" % port
        for _ in range(1200):
            time.sleep(0.1)
            try:
                c = http.client.HTTPConnection("127.0.0.1", port)
                c.request("GET", "/")
                c.getresponse()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("a rival did not start")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measure(url, connections, seconds, work, picture):
    got = subprocess.run(
        ["wrk", "-t1", "-c%d" % connections, "-d%gs" % seconds, "--timeout", "60s", "-s",
         work + "/ask.lua", url], env={**os.environ, "PICTURE": picture}, capture_output=True,
        text=True)
    found = re.search(r"FOUND (\S+) (\S+) (\S+) (\S+) (\d+)", got.stdout)
    if not found or int(found[5]):
        raise SystemExit("wrk: " + got.stdout + got.stderr)
    return [float(x) for x in found.groups()[:4]]


def measure_rounds(url, connections, rounds, picture):
    """As measure, where answers take seconds: each connection asks `rounds` times, and a
    request that is under way at the end is counted, too."""
    host, path = re.fullmatch(r"http://([^/]*)(/.*)", url).groups()
    with open(picture, "rb") as f:
        body = f.read()
    took = []

    def ask():
        c = http.client.HTTPConnection(host, timeout=600)
        for _ in range(rounds):
            start = time.monotonic()
            c.request("POST", path, body)
            answer = c.getresponse()
            answer.read()
            if answer.status != 200:
                return
            took.append(1000 * (time.monotonic() - start))
    clients = [threading.Thread(target=ask) for _ in range(connections)]
    start = time.monotonic()
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    seconds = time.monotonic() - start
    took.sort()
    if len(took) < connections * rounds:
        raise SystemExit("%s: not all was answered" % url)
    return [len(took) / seconds] + [took[int(share * (len(took) - 1))] for share in (.5, .95, .99)]


def models(work, vit_b):
    """Our model, the rivals' and the picture's path."""
    picture = os.path.join(work, "picture")
    data = os.environ.get("VIT_DATA", "../shared/data") + "/mnist/t10k-images-idx3-ubyte.gz"
    with gzip.open(data) as f:
        image = Image.frombytes("L", (28, 28), f.read(16 + 784)[16:])
    if not vit_b:
        image.save(picture, "PNG")
        subprocess.run([BUILD + "/bin/vit-convert", "mnist", work + "/mnist", "--layout",
                        "pytorch"], check=True)
        return "mnist", work + "/mnist", picture
    import timm
    import torch
    from safetensors.torch import save_file
    image.convert("RGB").resize((256, 256)).save(picture, "JPEG")
    torch.manual_seed(0)
    os.mkdir(work + "/vit-b")
    model = timm.create_model("vit_base_patch16_224")
    save_file(model.state_dict(), work + "/vit-b/model.safetensors")
    with open(work + "/vit-b/config.json", "w") as f:
        json.dump({"architecture": "vit_base_patch16_224", "num_classes": 1000,
                   "pretrained_cfg": model.pretrained_cfg}, f)
    return "vit-b=" + work + "/vit-b", "vit-b", picture


@contextlib.contextmanager
def asking_for_maps(s, name, picture):
    """One client asks for integrated gradients of 256 steps, again and again."""
    with open(picture, "rb") as f:
        body = f.read()
    ended = threading.Event()

    def ask():
        while not ended.is_set():
            s.ask("POST", "/v1/explain?method=integrated&steps=256&model=" + name, body,
                  timeout=600)
    client = threading.Thread(target=ask)
    client.start()
    try:
        yield
    finally:
        ended.set()
        client.join()


lines = []


def tell(line):
    lines.append(line)
    print(line, flush=True)


def processor():
    with open("/proc/cpuinfo") as f:
        return re.search(r"model name\s*: (.*)", f.read())[1]


def write(about):
    """Puts the table into docs/server.md."""
    begin, end = "<!-- bench-serve -->\n", "<!-- end of bench-serve -->"
    with open("docs/server.md", encoding="utf-8") as f:
        before, rest = f.read().split(begin)
    after = rest.split(end)[1]
    with open("docs/server.md", "w", encoding="utf-8") as f:
        f.write(before + begin + about + "\n\n" + "\n".join(lines) + "\n" + end + after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--vit-b", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("python")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        with open(work + "/ask.lua", "w") as f:
            f.write(LUA)
        ours, theirs, picture = models(work, options.vit_b)
        name = ours.split("=")[0]
        servers = {"vit-serve": Server("--model", ours),
                   "FastAPI + PyTorch": Peer("plain", theirs),
                   "the same, in batches": Peer("batch", theirs)}
        paths = {s: s.url + ("/predictions/" + name if s is servers["vit-serve"] else "/predict")
                 for s in servers.values()}

        def ask(s, connections):
            if options.vit_b:
                return measure_rounds(paths[s], connections, 4, picture)
            return measure(paths[s], connections, options.seconds, work, picture)
        tell("| server | connections | requests/s | p50 ms | p95 ms | p99 ms |")
        tell("|---|---|---|---|---|---|")
        try:
            for s in servers.values():
                measure(paths[s], 8, 1, work, picture)
            for connections in 1, 8, 64:
                for label, s in servers.items():
                    got = ask(s, connections)
                    tell("| %s | %d | %.1f | %.2f | %.2f | %.2f |" % (label, connections, *got))
            ours = servers["vit-serve"]
            with asking_for_maps(ours, name, picture):
                got = ask(ours, 8)
            tell("| vit-serve, while it makes long maps | 8 | %.1f | %.2f | %.2f | %.2f |" %
                 tuple(got))
        finally:
            for s in servers.values():
                s.stop()
        if options.vit_b:
            line = subprocess.run(
                [BUILD + "/bin/vit-bench", "infer", "--image", "224", "--channels", "3", "--patch",
                 "16", "--dim", "768", "--depth", "12", "--heads", "12", "--mlp", "3072",
                 "--classes", "1000", "--batch", "64", "--json"], capture_output=True, text=True)
            print("\nvit-bench infer, batches of 64: %.1f images/s" %
                  json.loads(line.stdout)["images_per_second"])
    if options.write:
        write("On %s, %d threads; %g s each." % (processor(), os.cpu_count(), options.seconds))


main()
