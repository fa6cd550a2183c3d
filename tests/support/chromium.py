#!/usr/bin/env python3
"""Drives a page in real Chromium, without a window: opens it, does the steps in their order, and
says what the console complained of and what the page asked the network for.

usage: tests/support/chromium.py PAGE STEP...

PAGE is a file or a URL. Each STEP is one of
  size=390x844       the viewport, from here on
  dark   light       the preferred colours
  hover=SELECTOR     the mouse over the middle of the element, which is scrolled to first
  click=SELECTOR     the same, and a click
  touch=SELECTOR     a tap of a finger there
  key=NAME           Tab, Enter, Escape, Space, ArrowLeft, Shift+Tab, ... or one character
  type=TEXT          as if typed, into what has the focus
  wait=JS            until the expression is true, at most a minute
  is=JS              what a test asserts: it must be true
  get=JS             its value is printed, as JSON
  shot=FILE.png      a picture of the viewport; page=FILE.png: of the whole page
  allow=PREFIX       requests for what begins so are no error; others but PAGE's own are
A SELECTOR is CSS; the first element that it matches is meant.

Prints "get" values, and a line for each thing that went wrong; exits 0 when nothing did, 1 else,
77 where there is no Chromium (then a test says SKIP). $CHROMIUM names one. A test in Python imports
this:

    from chromium import Browser, find
    with Browser() as browser:
        page = browser.open("report.html")
        page.click("#confusion td")
        assert page.get("document.querySelectorAll('#cell img').length") > 0
        assert not page.console and page.requests == [page.url]

It needs Python's standard library alone: Chromium speaks its DevTools protocol, JSON messages ended
by a zero byte, over two pipes (--remote-debugging-pipe). As root it runs without its sandbox.
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NO_CHROMIUM = 77
SECONDS = 60  # for what a machine at rest does at once: a busy one may take long
KEYS = {"Space": (" ", 32), "Tab": ("", 9), "Enter": ("\r", 13), "Escape": ("", 27),
        "ArrowLeft": ("", 37), "ArrowUp": ("", 38), "ArrowRight": ("", 39), "ArrowDown": ("", 40),
        "Home": ("", 36), "End": ("", 35), "PageUp": ("", 33), "PageDown": ("", 34),
        "Backspace": ("", 8), "Delete": ("", 46)}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


def find():
    """The path of a Chromium, or None."""
    if "CHROMIUM" in os.environ:
        return shutil.which(os.environ["CHROMIUM"])
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class Failure(Exception):
    """A step that could not be done."""


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


def pipe(child_end):
    """A pipe, (reading end, writing end), whose end of the child is no descriptor below 20."""
    ends = list(os.pipe())
    low, ends[child_end] = ends[child_end], fcntl.fcntl(ends[child_end], fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(low)
    return ends


class Browser:
    """A running Chromium with a profile of its own; ends, and leaves nothing, with its block."""

    def __init__(self, *options):
        program = find()
        if program is None:
            raise Failure("no Chromium: scripts/setup --tests installs it")
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        to_child, self.writing = pipe(0)
        self.reading, from_child = pipe(1)
        command = [program, "--headless=new", "--remote-debugging-pipe", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--no-default-browser-check", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={self.profile}", *options]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        # The browser reads from descriptor 3 and writes to 4; a shell puts the pipes there.
        move = f'exec "$@" 3<&{to_child} 4>&{from_child} {to_child}<&- {from_child}>&-'
        self.log = open(os.path.join(self.profile, "log"), "w+b")
        self.process = subprocess.Popen(
            ["bash", "-c", move, "bash", *command, "about:blank"], pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.number, self.buffer, self.pages = 0, b"", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(SECONDS)
        except (Failure, OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.writing)
        os.close(self.reading)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, seconds):
        """One message, or None when none came in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.reading], [], [], left)[0]:
                return None
            part = os.read(self.reading, 1 << 20)
            if not part:
                self.log.seek(0)
                said = self.log.read()[-2000:].decode("utf-8", "replace")
                raise Failure(f"Chromium ended: {said}")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """The result of a command; events that come before it go to their pages."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        write_all(self.writing, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 2 * SECONDS
        while time.monotonic() < end:
            answer = self.receive(end - time.monotonic())
            if answer is None:
                break
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.take(answer)
        raise Failure(f"{method}: no answer in {2 * SECONDS} s")

    def take(self, event):
        page = self.pages.get(event.get("sessionId"))
        if page is not None:
            page.take(event["method"], event.get("params", {}))

    def open(self, where, width=1200, height=900, dark=False):
        """A new page at a URL or a file, loaded."""
        url = where if "://" in where else pathlib.Path(where).resolve().as_uri()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, url)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.size(width, height)
        page.colours(dark)
        page.go(url)
        return page


class Page:
    """console: complaints, strings; requests: URLs asked for, in order, with the page's own."""

    def __init__(self, browser, session, url):
        self.browser, self.session, self.url = browser, session, url
        self.console, self.requests, self.loaded = [], [], False

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take(self, method, p):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            url = p["request"]["url"]
            if not url.startswith(("data:", "blob:")):
                self.requests.append(url)
        elif method == "Network.webSocketCreated":
            self.requests.append(p["url"])
        elif method == "Runtime.exceptionThrown":
            details = p["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.console.append(f"{text} (line {details['lineNumber'] + 1})")
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(a.get("value", a.get("description")))
                                         for a in p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.console.append(f"{p['entry']['text']} {p['entry'].get('url', '')}".strip())

    def go(self, url):
        self.loaded = False
        answer = self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise Failure(f"{url}: {answer['errorText']}")
        self.until(lambda: self.loaded, f"{url} did not load")

    def until(self, condition, otherwise, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Failure(otherwise)
            event = self.browser.receive(0.05)
            if event is not None:
                self.browser.take(event)

    def get(self, expression):
        """The value of an expression (a promise's, once it is there)."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{expression}: " + details.get("exception", {}).get(
                "description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression, seconds=SECONDS):
        """Looks every few milliseconds, within the page."""
        if not self.get(f"""new Promise(done => {{
            const until = performance.now() + {1000 * seconds};
            const look = () => ({expression}) ? done(true) :
                performance.now() > until ? done(false) : setTimeout(look, 4);
            look();
        }})"""):
            raise Failure(f"never true: {expression}")

    def settle(self):
        """Two frames have been drawn: what an event changed is on the screen."""
        self.get("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setTouchEmulationEnabled", enabled=width < 600)

    def colours(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def middle(self, selector):
        place = self.get(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{block: "center", inline: "center", behavior: "instant"}});
            const r = e.getBoundingClientRect();
            return r.width && r.height ? [r.x + r.width / 2, r.y + r.height / 2] : [];
        }})()""")
        if not place:
            raise Failure(f"{selector}: " + ("no such element" if place is None else "not visible"))
        return {"x": place[0], "y": place[1]}

    def mouse(self, kind, place, **more):
        self.call("Input.dispatchMouseEvent", type=kind, **place, **more)

    def hover(self, selector):
        self.mouse("mouseMoved", self.middle(selector))
        self.settle()

    def click(self, selector):
        place = self.middle(selector)
        self.mouse("mouseMoved", place)
        self.mouse("mousePressed", place, button="left", clickCount=1)
        self.mouse("mouseReleased", place, button="left", clickCount=1)
        self.settle()

    def touch(self, selector):
        place = self.middle(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def key(self, name, settle=True):
        *modifiers, key = name.split("+") if len(name) > 1 else [name]
        text, code = KEYS.get(key, (key, ord(key.upper()) if len(key) == 1 else None))
        if code is None:
            raise Failure(f"key={name}: unknown")
        parameters = {"key": text if key == "Space" else key, "windowsVirtualKeyCode": code,
                      "code": key, "modifiers": sum(MODIFIERS[m] for m in modifiers)}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown",
                  text=text, **parameters)
        self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)
        if settle:
            self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def shot(self, path, whole=False):
        self.settle()
        more = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        picture = self.call("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def strangers(self, allowed=()):
        """Requests for anything but the page itself."""
        return [r for r in self.requests if r != self.url and not r.startswith(tuple(allowed))]


checks = 0


def check(what, holds, found=""):
    """A line of TAP; the program ends at the first that does not hold."""
    global checks
    checks += 1
    print(f"{'ok' if holds else 'not ok'} {checks} - {what}" + ("" if holds else f": {found}"),
          flush=True)
    if not holds:
        sys.exit(1)


def step(page, name, value, wrong):
    if name == "size":
        page.size(*map(int, value.split("x")))
    elif name in ("dark", "light"):
        page.colours(name == "dark")
    elif name in ("hover", "click", "touch", "key", "type", "wait"):
        getattr(page, name)(value)
    elif name == "is":
        if page.get(value) is not True:
            wrong.append(f"not true: {value}")
    elif name == "get":
        print(json.dumps(page.get(value), ensure_ascii=False))
    elif name in ("shot", "page"):
        page.shot(value, name == "page")
    else:
        raise Failure(f"unknown step {name}={value}")


def main(where, *steps):
    if find() is None:
        print("no Chromium: scripts/setup --tests installs it", file=sys.stderr)
        return NO_CHROMIUM
    parts = [s.partition("=")[::2] for s in steps]
    allowed = [value for name, value in parts if name == "allow"]
    wrong = []
    with Browser() as browser:
        try:
            page = browser.open(where)
        except Failure as failure:
            print(failure)
            return 1
        try:
            for name, value in parts:
                if name != "allow":
                    step(page, name, value, wrong)
            page.settle()
        except Failure as failure:
            wrong.append(str(failure))
        wrong += [f"console: {c}" for c in page.console]
        wrong += [f"request: {r}" for r in page.strangers(allowed)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    sys.exit(main(*sys.argv[1:]))
