"""A vit-serve for tests, and what its clients need: with Python's standard library alone."""
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
SERVE = os.path.join(BUILD, "bin", "vit-serve")
CLASSIFY = os.path.join(BUILD, "bin", "vit-classify")
DRAW = os.path.join(BUILD, "examples", "draw_digit")

# For what a machine at rest does at once: a busy one, or one with a sanitizer, may take long.
SECONDS = int(os.environ.get("TEST_SECONDS", 60))

# make coverage: as it ends it writes what it has counted.
UNBOXED = ["--sandbox", "off"] if os.environ.get("UNBOXED") else []

count = failed = 0
lock = threading.Lock()


def check(name, holds, said=""):
    """One TAP line; any thread may call it."""
    global count, failed
    with lock:
        count += 1
        print("%s %d - %s" % ("ok" if holds else "not ok", count, name), flush=True)
        if not holds:
            failed += 1
            print("#  " + str(said)[:2000].replace("\n", "\n#  "), flush=True)


def until(condition):
    """Waits for it; returns whether it came to be."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def end():
    print("1..%d" % count)
    sys.exit(1 if failed else 0)


class Server:
    """Runs vit-serve with options; .url, .port; .stop() returns its exit status."""

    def __init__(self, *options, limits="", env=None, program=SERVE, cwd=None):
        self.err = tempfile.TemporaryFile("w+")
        command = ["sh", "-c", limits + ' exec "$@"', "sh", program, "--port", "0"] + list(options)
        command += UNBOXED
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.err,
                                        text=True, env=env, cwd=cwd)
        self.line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on (http://127\.0\.0\.1:(\d+))\n", self.line)
        if not found:
            self.process.wait()
            raise RuntimeError("vit-serve did not start: " + self.said())
        self.url, self.port = found[1], int(found[2])

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def send_signal(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def ask(self, method, path, body=None, headers=None, timeout=SECONDS):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, headers=None, timeout=SECONDS):
        status, _, text = self.ask(method, path, body, headers, timeout)
        return status, json.loads(text) if text else None

    def raw(self, data, timeout=SECONDS):
        """What comes back for bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as s:
            try:
                s.sendall(data)
            except OSError:
                pass
            return receive(s)

    def metrics(self):
        return parse_metrics(self.ask("GET", "/metrics")[2].decode())

    def settle(self, name, value):
        """Waits until a metric has a value."""
        return until(lambda: self.metrics().get(name) == value)

    def closes(self):
        """Waits until nobody is let in any more, as after SIGTERM."""
        def refused():
            try:
                socket.create_connection(("127.0.0.1", self.port), SECONDS).close()
            except ConnectionRefusedError:
                return True
            except ConnectionResetError:
                pass  # it came as the door was closed
            return False
        return until(refused)

    def memory(self):
        """Bytes that are in memory."""
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))


def refused(status, text, *options, program=SERVE, cwd=None):
    """Whether vit-serve with these options does not start, and says why."""
    got = subprocess.run([program, *options, *UNBOXED], capture_output=True, text=True, cwd=cwd,
                         timeout=SECONDS)
    check("vit-serve %s is refused" % " ".join(options)[:60],
          got.returncode == status and text in got.stderr and got.stdout == "", got)


def receive(s):
    parts = []
    while True:
        try:
            part = s.recv(65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def parse_metrics(text):
    """{'name{labels}': value}, as Prometheus' text format says; raises for what is none."""
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("counter", "gauge", "histogram") and name not in types, line
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = re.fullmatch(
                r'([a-zA-Z_:][a-zA-Z0-9_:]*)'
                r'(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)', line)
            assert match, line
            name = re.sub("_(bucket|sum|count)$", "", match[1])
            assert name in types or match[1] in types, line
            key = match[1] + (match[2] or "")
            assert key not in found, line
            found[key] = float(match[3])
    return found


def draw(directory, index):
    """A drawn digit, as a PNG file's path."""
    path = os.path.join(directory, "digit%d.png" % index)
    if not os.path.exists(path):
        subprocess.run([DRAW, path, str(index)], check=True, stdout=subprocess.DEVNULL)
    return path


def grey_png(width, height, pixels=None):
    """A PNG of these pixels, or of zeros: small as a file, however large its picture."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = zlib.compressobj(9)
    zeros = bytes(width)
    data = b"".join([rows.compress(b"\0" + (pixels[i * width:(i + 1) * width] if pixels else zeros))
                     for i in range(height)] + [rows.flush()])
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0,
                                                              0, 0)) +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


def classify(path, *options):
    """What vit-classify --json prints of a picture on its standard input."""
    with open(path, "rb") as picture:
        return subprocess.run([CLASSIFY, "--json", *options, "-"], stdin=picture,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True).stdout
