"""The page of vit-serve, used by mouse, touch and keyboard; called by serve-page.sh.

With a directory as its argument it leaves screenshots there.
"""
import base64
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, "tests/support")
import serving  # noqa: E402
from chromium import Browser, find  # noqa: E402
from serving import Server, check, draw  # noqa: E402

shots = sys.argv[1] if len(sys.argv) > 1 else None
ANSWER = "document.getElementById('answer').textContent.trim()"
QUIET = "busy === 0"
MAP = "document.getElementById('seen').toDataURL()"
SHOWN = "document.getElementById('shown').textContent"


def ellipse(x, y, across, down, start=0.0, turn=1.0, steps=12):
    """From `start`, in turns from the top, clockwise."""
    return [(x + across * math.sin(2 * math.pi * (start + turn * i / steps)),
             y - down * math.cos(2 * math.pi * (start + turn * i / steps)))
            for i in range(steps + 1)]


# Ten digits as a hand writes them, on a paper of side 1.
HAND = [
    [ellipse(.5, .5, .19, .3, 0, -1)],
    [[(.42, .3), (.52, .2), (.51, .5), (.5, .8)]],
    [ellipse(.5, .36, .17, .16, -.25, .62) + [(.36, .78), (.5, .76), (.7, .78)]],
    [ellipse(.48, .34, .16, .14, -.2, .7) + ellipse(.48, .64, .19, .17, 0, .7)],
    [[(.4, .2), (.34, .4), (.3, .55), (.5, .55), (.72, .53)], [(.62, .34), (.6, .6), (.58, .82)]],
    [[(.66, .22), (.42, .22), (.39, .42), (.38, .47)] + ellipse(.48, .62, .18, .18, -.15, .75)],
    [[(.6, .19), (.46, .34), (.38, .52), (.36, .64)] + ellipse(.51, .66, .15, .15, -.25, -1)],
    [[(.28, .26), (.5, .25), (.72, .24), (.6, .45), (.5, .65), (.45, .82)]],
    [ellipse(.5, .35, .14, .15, .12, -.62) + ellipse(.5, .66, .17, .16, 0, 1) +
     ellipse(.5, .35, .14, .15, .5, -.38)],
    [ellipse(.5, .36, .16, .16, .2, -1) + [(.65, .5), (.62, .68), (.56, .84)]],
]


def seven(steps=6):
    """A written 7 on a paper of side 1: strokes of points."""
    bar = [(0.25 + 0.5 * i / steps, 0.25) for i in range(steps + 1)]
    leg = [(0.75 - 0.32 * i / steps, 0.25 + 0.55 * i / steps) for i in range(1, steps + 1)]
    return [bar + leg]


def zero(steps=12):
    return [[(0.5 + 0.2 * math.sin(2 * math.pi * i / steps),
              0.5 - 0.3 * math.cos(2 * math.pi * i / steps)) for i in range(steps + 1)]]


def on_paper(page):
    box = page.get("(() => { const r = paper.getBoundingClientRect();"
                   " return [r.x, r.y, r.width, r.height]; })()")
    return lambda p: {"x": box[0] + p[0] * box[2], "y": box[1] + p[1] * box[3]}


def with_mouse(page, strokes, seen=None):
    place = on_paper(page)
    for stroke in strokes:
        page.mouse("mousePressed", place(stroke[0]), button="left", clickCount=1)
        for i, point in enumerate(stroke[1:]):
            page.mouse("mouseMoved", place(point), button="left")
            if seen is not None and i % 3 == 2:
                page.wait(QUIET)
                seen.append(page.get("document.getElementById('bars').textContent"))
        page.mouse("mouseReleased", place(stroke[-1]), button="left", clickCount=1)
    page.wait(QUIET)


def with_finger(page, strokes):
    place = on_paper(page)
    for stroke in strokes:
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place(stroke[0])])
        for point in stroke[1:]:
            page.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[place(point)])
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.wait(QUIET)


def with_keys(page):
    """A 1: from the top, in the middle, down."""
    page.get("paper.focus()")
    page.key("Space")
    for _ in range(14):
        page.key("ArrowDown", settle=False)
    page.key("Space")
    page.wait(QUIET)


def give(page, path, how):
    """Drops or pastes a file."""
    data = base64.b64encode(open(path, "rb").read()).decode()
    page.get("""(() => {
        const bytes = Uint8Array.from(atob(%s), c => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], "digit.png", {type: "image/png"}));
        window.before = sent;
        dispatchEvent(%s);
    })()""" % (json.dumps(data),
               "new DragEvent('drop', {dataTransfer: data})" if how == "drop" else
               "new ClipboardEvent('paste', {clipboardData: data})"))
    page.wait("sent !== before && " + QUIET)


def shot(page, name):
    if shots:
        page.shot(os.path.join(shots, name + ".png"))


def drawn(s, browser, work):
    page = browser.open(s.url + "/")
    page.wait("document.querySelectorAll('#model option').length > 0")
    seen = []
    with_mouse(page, seven(), seen)
    check("a 7 drawn with the mouse", page.get(ANSWER) == "7", page.get(ANSWER))
    check("the answer moves while it is drawn", len(set(seen)) >= 3, seen)
    shares = page.get("Array.from(document.querySelectorAll('.share'), e => parseFloat(e."
                      "textContent))")
    check("ten bars, the highest first",
          len(shares) == 10 and shares == sorted(shares, reverse=True) and
          abs(sum(shares) - 100) < 1, shares)
    check("the first bar is as long as its share",
          abs(page.get("parseFloat(document.querySelector('.bar span').style.width)") -
              shares[0]) < .1)
    shot(page, "wide-light")
    page.colours(True)
    shot(page, "wide-dark")
    page.colours(False)
    page.click("#clear")
    check("Clear leaves no answer", page.get(ANSWER) == "")
    with_mouse(page, zero())
    check("a 0", page.get(ANSWER) == "0", page.get(ANSWER))
    page.click("#undo")
    page.click("#undo")
    page.wait(QUIET)
    check("Undo brings the 7 back", page.get(ANSWER) == "7", page.get(ANSWER))
    page.key("Escape")
    page.click("#clear")
    with_keys(page)
    check("a 1 drawn by keyboard", page.get(ANSWER) == "1", page.get(ANSWER))
    page.key("Escape")
    check("Escape clears", page.get(ANSWER) == "")
    for how in "drop", "paste":
        for index in 0, 3:
            path = draw(work, index)
            label = json.loads(serving.classify(path))["predictions"][0]["label"]
            give(page, path, how)
            check("a picture by %s: the server's answer of the file" % how,
                  page.get(ANSWER) == label, page.get(ANSWER))
    with_mouse(page, seven())
    check("drawing wipes a picture away", page.get(ANSWER) == "7", page.get(ANSWER))
    return page


def ten_digits(page):
    """Each of them, drawn by that hand, is what it was meant to be."""
    found = []
    for strokes in HAND:
        page.click("#clear")
        with_mouse(page, strokes)
        found.append(page.get(ANSWER))
    check("ten digits drawn by a hand", found == list("0123456789"), found)


def patch_at(page, row, column):
    box = page.get("(() => { const e = document.getElementById('seen');"
                   " e.scrollIntoView({block: 'center', behavior: 'instant'});"
                   " const r = e.getBoundingClientRect();"
                   " return [r.x, r.y, r.width, r.height]; })()")
    return {"x": box[0] + (column + .5) * box[2] / 7, "y": box[1] + (row + .5) * box[3] / 7}


def explained(page):
    """Attention of a patch that is pointed at, relevance of a class that is pressed."""
    page.click("#clear")
    check("nothing to explain on an empty paper",
          page.get("document.getElementById('seeing').hidden"))
    with_mouse(page, seven())
    maps = [page.get(MAP)]
    check("relevance of the answer", page.get(SHOWN).startswith("What speaks for 7 ("),
          page.get(SHOWN))
    for row, column in (1, 1), (2, 3):
        page.mouse("mouseMoved", patch_at(page, row, column))
        page.wait(QUIET)
        maps.append(page.get(MAP))
        check("attention of the patch under the mouse", page.get(SHOWN) ==
              "Where the patch in row %d, column %d attends" % (row + 1, column + 1),
              page.get(SHOWN))
    shot(page, "attention")
    page.mouse("mouseMoved", {"x": 1, "y": 1})
    page.wait(QUIET)
    check("and relevance again without it", page.get(MAP) == maps[0])
    page.click("#bars li:nth-child(3) button")
    page.wait(QUIET)
    label = page.get("document.querySelector('#bars li:nth-child(3) .name').textContent")
    maps.append(page.get(MAP))
    check("relevance of a class that is clicked",
          page.get(SHOWN).startswith("What speaks for %s (" % label), page.get(SHOWN))
    check("each another map", len(set(maps)) == len(maps))
    page.get("document.getElementById('seen').focus()")
    page.key("ArrowRight")
    page.key("ArrowRight")
    page.wait(QUIET)
    check("attention by keyboard", "row 1, column 2" in page.get(SHOWN), page.get(SHOWN))
    page.get("document.querySelector('#bars li:nth-child(3) button').focus()")
    page.key("Enter")
    page.wait(QUIET)
    check("a class pressed again is let go", page.get(SHOWN).startswith("What speaks for 7 ("),
          page.get(SHOWN))


def by_tab(page):
    """Everything that can be done is reached by Tab, in the order in which it is seen."""
    page.get("document.activeElement.blur()")
    wanted = ["model", "paper", "clear", "undo", "open", "camera"]
    found = []
    while len(found) < 40 and "camera" not in found:
        page.key("Tab", settle=False)
        found.append(page.get("document.activeElement.id || document.activeElement.tagName"))
    check("Tab reaches all that is there", [f for f in found if f in wanted] == wanted, found)


def photographed(page):
    """The camera, which is Chromium's own: a picture that moves."""
    page.click("#clear")
    page.get("document.getElementById('camera').focus()")
    page.key("Enter")
    page.wait("document.activeElement.id === 'shoot'")
    check("the camera's picture moves", page.get(
        "video.videoWidth > 0 && !video.paused && getComputedStyle(video).display !== 'none'"))
    check("nothing stands over it", page.get(
        "getComputedStyle(document.getElementById('hint')).display === 'none'"))
    shot(page, "camera")
    page.key("Enter")
    page.wait("sent !== null && busy === 0")
    kind, size = page.get("[sent.type, sent.size]")
    check("a picture is taken", kind == "image/jpeg" and size > 1000, (kind, size))
    check("and answered", page.get(ANSWER) in list("0123456789"), page.get(ANSWER))
    check("and explained", page.get(SHOWN).startswith("What speaks for "), page.get(SHOWN))
    check("then the camera rests", page.get(
        "video.srcObject === null && document.getElementById('shoot').hidden"))
    page.click("#camera")
    page.wait("video.srcObject !== null && !document.getElementById('camera').disabled")
    page.click("#camera")
    check("it can be stopped", page.get("video.srcObject === null"))
    said = page.get("""(() => {
        Object.defineProperty(navigator, "mediaDevices", {value: undefined, configurable: true});
        let capture = null;
        const file = document.getElementById("file");
        file.addEventListener("click", e => { capture = file.getAttribute("capture");
                                              e.preventDefault(); }, {once: true});
        document.getElementById("camera").click();
        delete navigator.mediaDevices;
        return [capture, file.hasAttribute("capture"), Boolean(navigator.mediaDevices)];
    })()""")
    check("where a page may have no camera, the phone's own takes the picture",
          said == ["environment", False, True], said)
    page.get("""navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException("Permission denied", "NotAllowedError"))""")
    page.click("#camera")
    page.wait("!document.getElementById('camera').disabled")
    check("a camera that is denied is said", page.get("document.getElementById('note')."
          "textContent") == "the camera cannot be used: Permission denied")


def phone(s, browser):
    page = browser.open(s.url + "/", 390, 844)
    page.wait("document.querySelectorAll('#model option').length > 0")
    with_finger(page, seven())
    check("a 7 drawn with a finger", page.get(ANSWER) == "7", page.get(ANSWER))
    check("nothing is wider than a phone",
          page.get("document.documentElement.scrollWidth <= innerWidth"))
    check("paper and answer are seen together",
          page.get("document.getElementById('answer').getBoundingClientRect().bottom <= "
                   "innerHeight"))
    shot(page, "phone-light")
    page.colours(True)
    shot(page, "phone-dark")
    return page


def locked(browser, work):
    path = os.path.join(work, "keys")
    with open(path, "w") as f:
        f.write("0123456789abcdef\n")
    with Server("--key-file", path) as s:
        page = browser.open(s.url + "/")
        page.wait("document.activeElement.id === 'key'")
        check("a key is asked for", page.get("document.getElementById('note').textContent") ==
              "a key is needed: Authorization: Bearer KEY")
        page.type("0123456789abcdef")
        page.wait("document.getElementById('key').value.length == 16")
        page.key("Enter")
        page.wait("document.querySelectorAll('#model option').length > 0")
        with_mouse(page, seven())
        check("with a key", page.get(ANSWER) == "7", page.get(ANSWER))


def stays_at_home(s, page, name):
    check(name + ": the console is silent", page.console == [], page.console)
    check(name + ": no request leaves the server",
          page.requests and all(r.startswith(s.url + "/") for r in page.requests), page.requests)
    got = page.get("""(async () => {
        const said = [];
        document.addEventListener("securitypolicyviolation",
                                  e => said.push(e.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.evil = 1";
        document.head.append(script);
        const image = new Image();
        image.src = "http://127.0.0.2:9/x.png";
        try { await fetch("http://127.0.0.2:9/"); } catch {}
        for (let i = 0; i < 600 && said.length < 3; i++)
            await new Promise(done => setTimeout(done, 100));
        return [window.evil || 0, said.sort()];
    })()""")
    check(name + ": the policy lets nothing in",
          got[0] == 0 and {"connect-src", "img-src", "script-src-elem"} <= set(got[1]), got)


if find() is None:
    print("ok 1 - the page of vit-serve # SKIP no Chromium: scripts/setup --tests installs it")
    sys.exit(0)
os.environ.pop("VIT_MODELS", None)
with tempfile.TemporaryDirectory() as directory, Server() as server, \
        Browser("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream") as chromium:
    wide = drawn(server, chromium, directory)
    ten_digits(wide)
    explained(wide)
    by_tab(wide)
    photographed(wide)
    stays_at_home(server, wide, "wide")
    narrow = phone(server, chromium)
    stays_at_home(server, narrow, "phone")
    locked(chromium, directory)
serving.end()
