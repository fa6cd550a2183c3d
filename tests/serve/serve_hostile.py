"""vit-serve among clients that are many, slow, cut off or hostile; called by serve-hostile.sh.

    python3 tests/serve/serve_hostile.py REQUESTS     a soak: that many requests, and nothing leaks
"""
import base64
import concurrent.futures
import functools
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "tests/support")
import serving  # noqa: E402
from serving import SECONDS, Server, check, classify, grey_png, receive, until  # noqa: E402

work = tempfile.mkdtemp()
# Bars, each of another shape.
data = [grey_png(28, 28, b"".join(b"\xff" if 4 < y < 12 + i and 8 < x < 20 - i else b"\0"
                                  for y in range(28) for x in range(28))) for i in range(8)]
small = data[0]
pictures = []
for i, d in enumerate(data):
    pictures.append(os.path.join(work, "%d.png" % i))
    with open(pictures[i], "wb") as f:
        f.write(d)
limited = os.path.join(work, "limited")  # written while no other thread may begin a process
with open(limited, "w") as f:
    f.write("#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups prlimit "
            "--nproc=8 '%s' \"$@\"\n" % serving.SERVE)
os.chmod(limited, 0o755)
classify = functools.lru_cache(classify)
os.environ.pop("VIT_MODELS", None)
with open(serving.SERVE, "rb") as f:
    program = f.read()
sanitized = any(word in program for word in (b"__asan_init", b"__tsan_init"))


def parallel(count, work):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def request(body, path="/predictions/mnist"):
    return (b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" %
            (path.encode(), len(body))) + body


def together():
    """64 clients at once: each has the bytes it would have alone; they were computed together."""
    wanted = [classify(p) for p in pictures]
    wrong = []
    with Server("--delay", "10000", "--batch", "64", "--log", "json") as s:
        def client(i):
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=SECONDS)
            for k in range(3):
                c.request("POST", "/predictions/mnist", data[(i + k) % 8])
                if c.getresponse().read() != wanted[(i + k) % 8]:
                    wrong.append((i, k))
            c.close()
        parallel(64, client)
        check("64 parallel clients have the bytes of vit-classify", not wrong, wrong)
        m = s.metrics()
        batches = m['vit_batch_pictures_count{model="mnist"}']
        check("together in few batches", m['vit_batch_pictures_sum{model="mnist"}'] == 192 and
              batches < 20, batches)
        check("counted by stage", all(m['vit_stage_seconds_count{model="mnist",stage="%s"}' % n] ==
                                      192 for n in ("decode", "wait", "compute")), m)
        s.stop()
        lines = [json.loads(line) for line in s.said().splitlines()]
        posts = [line for line in lines if line["path"] == "/predictions/mnist"]
        check("a line of JSON for each request", len(posts) == 192 and all(
            line["status"] == 200 and line["model"] == "mnist" and line["pictures"] == 1 and
            line["client"] == "127.0.0.1" and line["received"] > 0 for line in posts), lines[:2])


def reloaded():
    """SIGHUP among requests: none is lost; a broken file keeps the old model."""
    model = os.path.join(work, "m.safetensors")
    shutil.copy("models/mnist.safetensors", model)
    with Server("--model", "m=" + model) as s:
        stop, wrong, done = threading.Event(), [], []

        def client(i):
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=SECONDS)
            while not stop.is_set():
                c.request("POST", "/predictions/m", data[i])
                got = c.getresponse().read()
                done.append(i)
                if b'"predictions"' not in got:
                    wrong.append(got)
            c.close()
        threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        names = ['vit_reloads_total{result="%s"}' % r for r in ("succeeded", "failed")]
        for i in range(3):
            s.send_signal(signal.SIGHUP)
            s.settle(names[0], i + 1)
        check("three reloads", s.metrics()[names[0]] == 3)
        with open(model, "r+b") as f:
            f.truncate(1000)
        s.send_signal(signal.SIGHUP)
        check("a model that cannot be read", s.settle(names[1], 1))
        stop.set()
        for t in threads:
            t.join()
        check("no request was lost among %d" % len(done), not wrong and done, wrong[:2])
        check("what cannot be read is said", "m stays as it was: " in s.said(), s.said())
        check("and the old one answers", s.ask("POST", "/predictions/m", data[0])[2] ==
              classify(pictures[0]))


def cut_while_read():
    """A model file that is cut off while it is loaded leaves the one in use."""
    path = os.path.join(work, "cut.safetensors")
    subprocess.run([os.path.join(serving.BUILD, "bin", "vit-bench"), "model", "--image", "28",
                    "--channels", "1", "--patch", "7", "--dim", "512", "--depth", "4", "--heads",
                    "8", "--mlp", "2048", "--model", path], check=True, capture_output=True)
    with open(path, "rb") as f:
        whole = f.read()
    with Server("--model", "m=" + path) as s:
        for i in range(8):
            s.send_signal(signal.SIGHUP)
            time.sleep(i * 0.003)  # at another moment of the loading each time
            os.truncate(path, len(whole) // 3)
            until(lambda: s.process.poll() is not None or s.said().count("\n") > i)
            with open(path, "r+b") as f:
                f.write(whole)
        check("a file that is cut while it is read: it lives", s.process.poll() is None, s.said())
        s.send_signal(signal.SIGHUP)
        check("and reads it when it is whole", until(lambda: s.said().endswith("read again\n")),
              s.said())
        check("and answers", s.ask("POST", "/predictions/m", small)[0] == 200)


def abuse(s, seed):
    """One client that does not behave."""
    r = random.Random(seed)
    kind = (seed + seed // 8) % 8
    body = data[seed % 8]
    try:
        with socket.create_connection(("127.0.0.1", s.port), SECONDS) as c:
            if kind == 0:  # killed in the middle of an upload
                whole = request(body)
                c.sendall(whole[:r.randrange(len(whole))])
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif kind == 1:  # does not take its answer
                c.sendall(request(body))
            elif kind == 2:  # half closed: still answered
                c.sendall(request(small))
                c.shutdown(socket.SHUT_WR)
                return receive(c)
            elif kind == 3:  # noise
                c.sendall(bytes(r.randrange(256) for _ in range(200)) + b"\r\n\r\n")
            elif kind == 4:  # a picture with flipped bits
                broken = bytearray(body)
                for _ in range(5):
                    broken[r.randrange(len(broken))] ^= 1 << r.randrange(8)
                c.sendall(request(bytes(broken)))
                c.recv(100)
            elif kind == 5:  # several at once, then away
                c.sendall(request(small) * 5)
                c.recv(10)
            elif kind == 6:  # nothing at all
                pass
            else:  # a chunk that lies, and a client that gives up on it
                c.settimeout(0.5)
                c.sendall(b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc")
                c.recv(100)
    except OSError:
        pass


def misbehaved(clients):
    wanted = classify(pictures[0])
    with Server("--max-per-address", "256") as s:
        descriptors = s.descriptors()
        parallel(8, lambda i: [abuse(s, seed) for seed in range(i, clients, 8)])
        half = abuse(s, 2)
        check("a half-closed client has its answer", half and b'"predictions"' in half, half)
        check("a good client goes on", s.ask("POST", "/predictions/mnist", data[0])[2] == wanted)
        check("all connections end", s.settle("vit_connections", 1.0), s.metrics())
        # Those that were refused while they sent linger for two seconds.
        check("no descriptor is lost", until(lambda: s.descriptors() <= descriptors),
              (descriptors, s.descriptors()))
        check("it ends as it should", s.stop() == 0, s.said())


def answered(s, picture):
    """Whether it is; a server that is full refuses, or is gone before it was asked."""
    try:
        return s.ask("POST", "/predictions/mnist", picture)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def few_descriptors():
    with Server("--timeout", "600", limits="ulimit -n 32;") as s:
        check("few descriptors: said at the start", "files may be open: 32" in s.said(), s.said())
        held = [socket.create_connection(("127.0.0.1", s.port), SECONDS) for _ in range(40)]
        got = s.raw(request(small))
        check("few descriptors: 503, not silence", got.startswith(b"HTTP/1.1 503 "), got)
        for c in held:
            c.close()
        check("few descriptors: goes on", until(lambda: answered(s, small)))


def few_processes():
    """Idle connections hold all threads but one or two when a picture comes: it lives."""
    model = os.path.abspath("models/mnist.safetensors")
    tried = os.geteuid() == 0 and subprocess.run(
        [limited, "--version"], cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not tried or tried.returncode != 0:
        check("few processes # SKIP it takes root, setpriv, and a user nobody who may read", True)
        return
    for idle in range(5):
        with Server("--model", "mnist=" + model, program=limited, cwd="/") as s:
            held = [socket.create_connection(("127.0.0.1", s.port), SECONDS) for _ in range(idle)]
            answered(s, grey_png(2000, 2000))
            if idle == 4:  # and now all of them
                more = [socket.create_connection(("127.0.0.1", s.port), SECONDS)
                        for _ in range(8)]
                for c in more:
                    c.settimeout(1)
                told = []
                for c in more:
                    try:
                        told.append(c.recv(4096))
                    except (socket.timeout, OSError):
                        pass
                check("few processes: no connection is closed without a word",
                      told and all(t.startswith(b"HTTP/1.1 503 ") for t in told), told)
                held += more
            check("few processes: it lives", s.process.poll() is None, (idle, s.said()))
            for c in held:
                c.close()
            check("few processes: it answers", until(lambda: answered(s, small)), s.said())


def little_memory():
    """Bodies and pictures for which there is no memory are refused, and the next ones answered."""
    if sanitized:
        check("little memory # SKIP sanitizers need terabytes of addresses", True)
        return
    with Server("--max-body", "60000000", "--max-pixels", "1000000000",
                limits="ulimit -v 400000;") as s:
        statuses = []
        big = grey_png(7000, 7000)

        def client(i):
            try:
                body = bytes(50000000) if i % 2 else big
                statuses.append(s.ask("POST", "/predictions/mnist", body, timeout=SECONDS)[0])
            except OSError as e:
                statuses.append(type(e).__name__)
        parallel(8, client)
        check("little memory: it lives", s.process.poll() is None, (statuses, s.said()))
        check("little memory: it refuses", any(x == 503 for x in statuses), statuses)
        check("little memory: it answers", s.ask("POST", "/predictions/mnist", data[0])[2] ==
              classify(pictures[0]))


def heavy_json():
    """A body of JSON never takes many times its size, and a long array of numbers is read."""
    def ask(s, text):
        return s.json("POST", "/v2/models/mnist/infer", text,
                      {"Content-Type": "application/json"})

    with Server() as s:
        answered(s, small)
        before = s.memory()
        size = 16 << 20
        bodies = {"numbers": '{"a": [' + "0," * (size // 2 - 8) + "0]}",
                  "brackets": "[" * size, "strings": '{"a": [' + '"",' * (size // 3 - 8) + '""]}',
                  "objects": '{"a": [' + "{}," * (size // 3 - 8) + "{}]}",
                  "broken numbers": '{"a": ' + "[0," * (size // 3 - 8)}
        for name, body in bodies.items():
            got = ask(s, body)
            check("heavy JSON, %s: refused" % name, got[0] in (400, 413), got)
            peak = 0
            with open("/proc/%d/status" % s.process.pid) as f:
                peak = [int(x.split()[1]) * 1024 for x in f if x.startswith("VmHWM")][0]
            check("heavy JSON, %s: less than six times the body" % name,
                  sanitized or peak - before < 6 * size, (peak - before) / size)
        level = [i * 7 % 256 for i in range(784)]

        def infer(data, kind="UINT8", key="pixels", shape=(1, 28, 28, 1)):
            return ask(s, json.dumps({"inputs": [{"name": key, "datatype": kind, "shape": shape,
                                                  "data": data}]}))
        flat = infer(level)
        nested = infer([[[[x] for x in level[i * 28:i * 28 + 28]] for i in range(28)]])
        short = infer([level[i:i + 28] for i in range(0, 784, 28)])
        check("numbers in one list or in nested ones", flat[0] == 200 and flat == nested == short,
              (flat, nested, short))
        for bad in (level[:-1], level + [0], level[:-1] + [256], level[:-1] + [1.5],
                    level[:-1] + [-1]):
            check("pixels %s..." % bad[-2:], infer(bad)[0] == 400)
        text = ", ".join(map(str, level))
        for bad in (text + ",", text.replace("7", "07", 1), text.replace(", ", " ", 1),
                    text + "]", text.replace("7", "[7", 1), text.replace("7", "+7", 1),
                    text.replace("7", "7.", 1), text.replace("7", "--7", 1),
                    text.replace("7", "7.0.7", 1), text.replace("7", "7-7", 1),
                    text.replace("7", ".7", 1), text.replace("7", "7e", 1), "," + text,
                    text.replace("7", "7" * 401, 1), text.replace("7", "[]", 1), text + "], [",
                    "[" + text, "[" * 9 + text + "]" * 9):
            got = ask(s, '{"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": '
                      '[1, 28, 28, 1], "data": [' + bad + ']}]}')
            check("malformed numbers are refused", got[0] == 400, got)
        check("heavy JSON: it goes on", answered(s, small))


def unread_log():
    """Nobody reads the log: requests are answered, and the server ends when it is told to."""
    read, write = os.pipe()
    process = subprocess.Popen([serving.SERVE, *serving.UNBOXED, "--port", "0", "--log", "json"],
                               text=True,
                               stdout=subprocess.PIPE, stderr=write)
    os.close(write)
    port = int(process.stdout.readline().rsplit(":", 1)[1])

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.request("GET", "/" + "x" * 400)
        status = connection.getresponse().status
        connection.close()
        return status
    check("unread log: all are answered", [ask() for _ in range(400)] == [404] * 400)
    os.set_blocking(read, False)
    try:
        while os.read(read, 65536):
            pass
    except BlockingIOError:
        pass
    ask()
    said = b""

    def line_came():
        nonlocal said
        try:
            said += os.read(read, 65536)
        except BlockingIOError:
            pass
        return b'"status"' in said
    check("unread log: what is lost is said", until(line_came) and b"lines are lost" in said, said)
    for _ in range(400):
        ask()
    process.send_signal(signal.SIGTERM)
    check("unread log: it ends", process.wait(SECONDS) == 0)
    os.close(read)
    process.stdout.close()


def full_queue():
    """What waits beyond the limit is told to come again; what waits is answered at the end."""
    with Server("--max-queue", "2", "--delay", "10000", "--batch", "64") as s:
        got = []
        clients = [threading.Thread(target=lambda: got.append(
            s.ask("POST", "/predictions/mnist", small))) for _ in range(8)]
        for c in clients:
            c.start()
        check("a full queue", until(lambda: len(got) == 6) and all(
            g[0] == 503 and g[1]["Retry-After"] == "1" for g in got), [g[0] for g in got])
        s.send_signal(signal.SIGTERM)
        for c in clients:
            c.join()
        check("those that waited are answered", [g[0] for g in got[6:]] == [200] * 2, got)


def mixed():
    """What waits for one turn is answered as it is alone, whatever it is."""
    def ask(s, kind):
        path, value = kind
        body = value if isinstance(value, bytes) else json.dumps(value)
        return s.ask("POST", path, body, timeout=SECONDS)[::2]
    pixels = {"instances": [[[9 * (i % 28) for i in range(28)] for _ in range(28)]]}
    coded = base64.b64encode(data[1]).decode()
    kinds = [("/predictions/mnist", data[0]), ("/predictions/fashion", data[1]),
             ("/v1/models/mnist:predict", pixels), ("/v1/embeddings", {"input": coded}),
             ("/v1/explain", data[2]), ("/v1/embeddings", {"input": [coded] * 3}),
             ("/predictions/mnist", data[3]), ("/v1/models/mnist:predict", pixels)]
    with Server("--batch", "4") as s:
        alone = [ask(s, kind) for kind in kinds]
    with Server("--delay", "500", "--batch", "4") as s, \
            concurrent.futures.ThreadPoolExecutor(24) as pool:
        got = list(pool.map(functools.partial(ask, s), kinds * 3))
    check("requests of many kinds together", got == alone * 3 and
          all(status == 200 for status, _ in alone), [g[0] for g in got])


def crowded_gate():
    """Who waits too long until a picture is decoded is told so."""
    large = grey_png(7000, 7000)
    sent = [large, json.dumps({"data": base64.b64encode(large).decode()})]
    one = "taskset -cp %d $$ >/dev/null;" % min(os.sched_getaffinity(0))
    with Server("--timeout", "0.5", limits=one) as s:
        got = []

        def client(i):
            try:
                got.append(s.json("POST", "/predictions/mnist", sent[i % 2]))
            except (OSError, http.client.HTTPException):
                got.append((408, None))
        parallel(24, client)
        late = [g for g in got if g[0] == 503]
        check("a crowded gate", late and all("had to wait too long" in g[1]["error"] for g in late)
              and {g[0] for g in got} <= {200, 408, 503}, got)
        check("and it goes on", until(lambda: answered(s, small)))


def slow_model():
    """One whose integrated gradients take half a minute and more, and its answer few ms."""
    path = os.path.join(work, "slow.safetensors")
    subprocess.run([os.path.join(serving.BUILD, "bin", "vit-bench"), "model", "--image", "28",
                    "--channels", "1", "--patch", "1", "--dim", "64", "--depth", "12", "--heads",
                    "2", "--mlp", "256", "--model", path], check=True, capture_output=True)
    return path


def ask_for_maps(s, count):
    """That many at once. Returns the list that their answers come into, and the threads."""
    got = []

    def client():
        try:
            got.append(s.ask("POST", "/v1/explain?method=integrated&steps=256", small,
                             timeout=600))
        except (OSError, http.client.HTTPException):
            pass  # the server is no more
    clients = [threading.Thread(target=client) for _ in range(count)]
    for c in clients:
        c.start()
    return got, clients


def long_maps():
    """One after the other, and answers go first; those under way are cancelled at the end."""
    path = slow_model()
    with Server("--model", "slow=" + path, "--timeout", "600") as s:
        got, clients = ask_for_maps(s, 6)
        check("beyond one that waits, maps are refused", until(
            lambda: len(got) >= 4 and s.metrics()["vit_connections"] == 7 - len(got)) and all(
                g[0] == 503 and g[1]["Retry-After"] == "1" for g in got), got)
        count = len(got)
        answers = [s.ask("POST", "/predictions/slow", small)[0] for _ in range(5)]
        check("pictures are answered while one is made", answers == [200] * 5 and
              len(got) == count < 6, (answers, got))
        s.send_signal(signal.SIGTERM)
        for c in clients:
            c.join()
        check("SIGTERM: they are cancelled, with a sentence", all(
            g[0] == 503 and b"the server ends" in g[2] for g in got[count:]), got)
        check("and the server ends", s.process.wait(SECONDS) == 0, s.said())
    with Server("--model", "slow=" + path, "--timeout", "1") as s:
        got, clients = ask_for_maps(s, 1)
        check("one is under way", until(lambda: s.metrics()["vit_connections"] == 2))
        check("SIGTERM cuts it off when twice the timeout has passed", s.stop() == 0, s.said())
        clients[0].join()
        check("without an answer", got == [], got)
    with Server("--model", "slow=" + path) as s:
        got, clients = ask_for_maps(s, 1)
        check("a map is being made", until(lambda: s.metrics()["vit_connections"] == 2))
        s.send_signal(signal.SIGTERM)
        s.closes()
        s.send_signal(signal.SIGTERM)
        check("a second SIGTERM ends at once", s.process.wait(SECONDS) == -signal.SIGTERM)


def soak(requests):
    """Answers, refusals and broken pictures on kept and new connections; memory stays."""
    bodies = [small, small[:40], b"", data[0]]
    paths = ["/predictions/mnist", "/models/mnist", "/health", "/nothing", "/v2/models/mnist/infer"]
    # Which threads share an arena of malloc is a matter of chance: here they all do.
    with Server(env={**os.environ, "MALLOC_ARENA_MAX": "1"}) as s:
        descriptors = s.descriptors()

        def run(count):
            def client(i):
                c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=SECONDS)
                for k in range(count // 4):
                    heavy = k % 100 == 99
                    path = paths[0] if heavy else paths[k % 5]
                    c.request("GET" if path == "/health" else "POST", path,
                              None if path == "/health" else bodies[3 if heavy else k % 3])
                    c.getresponse().read()
                    if k % 50 == 0:
                        c.close()
                c.close()
            parallel(4, client)
        run(max(400, requests // 10))
        s.settle("vit_connections", 1.0)
        before = s.memory()
        run(requests)
        s.settle("vit_connections", 1.0)
        grown = s.memory() - before
        check("%d requests: %d KB more memory" % (requests, grown // 1024),
              sanitized or grown < 2000000 + 4 * requests, grown)
        check("and no more descriptors", until(lambda: s.descriptors() <= descriptors),
              (descriptors, s.descriptors()))
        check("it ends as it should", s.stop() == 0, s.said())


if len(sys.argv) > 1:
    soak(int(sys.argv[1]))
else:
    # Each has a server of its own and mostly waits: side by side.
    lanes = [[together, reloaded, full_queue, cut_while_read],
             [lambda: misbehaved(80), few_descriptors, little_memory],
             [few_processes],
             [lambda: soak(1000), long_maps], [unread_log, heavy_json, mixed, crowded_gate]]
    with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
        for done in [pool.submit(lambda lane=lane: [part() for part in lane]) for lane in lanes]:
            done.result()
shutil.rmtree(work)
serving.end()
