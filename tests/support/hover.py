"""What pointing at a patch costs vit-explain's page, of a network as large as ViT-B/16: the page
given, with weights of that size in the place of its own. The processor's time in the page's thread
is counted, which other work on the machine does not stretch, and the clock's for comparison.

usage: tests/support/hover.py PAGE.html [MILLISECONDS, at most]     exits 77 without Chromium
"""
import base64
import json
import pathlib
import random
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from chromium import NO_CHROMIUM, Browser, find  # noqa: E402

SIDE, DEPTH, HEADS, HOVERS = 14, 12, 12, 30
PATTERN = r'(<script type="application/json" id="data">\n)(.*?)(\n</script>)'


def enlarged(page):
    """The page's text with 196 patches, a class token, 12 layers and 12 heads."""
    patches = SIDE * SIDE
    noise = random.Random(1)
    data = json.loads(re.search(PATTERN, page, re.S).group(2))

    def values(count):
        return base64.b64encode(noise.randbytes(count)).decode()

    half = patches * (patches + 1) // 2
    data |= dict(grid=[SIDE, SIDE], depth=DEPTH, layers=list(range(DEPTH)), prefix=["class token"],
                 heads=list(range(HEADS)), similar=data["similar"][:6], outliers=[3, 17],
                 first=dict(view="attention", layer=DEPTH - 1, head=-1, of=0),
                 attention=values(DEPTH * HEADS * (patches + 1)**2), positions=values(half),
                 rollout=values((patches + 1)**2), similarity=values(6 * half),
                 relevance=[r | dict(map=values(patches)) for r in data["relevance"]],
                 lens=[data["lens"][0]] * DEPTH)
    return re.sub(PATTERN, lambda m: m[1] + json.dumps(data) + m[3], page, flags=re.S)


def seconds_of_work(page):
    """Of the page's thread, all tasks: scripts, style, layout, painting."""
    metrics = page.call("Performance.getMetrics")["metrics"]
    return next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def places(page):
    """Middles of different patches, each far from the one before."""
    left, top, width = page.get("""(() => {
        document.querySelector("#picture").scrollIntoView({block: "center", behavior: "instant"});
        const r = document.querySelector("#picture").getBoundingClientRect();
        return [r.x, r.y, r.width]; })()""")
    return [{"x": left + (i * 5 % SIDE + .5) * width / SIDE,
             "y": top + ((i * 3 + i // SIDE) % SIDE + .5) * width / SIDE} for i in range(HOVERS)]


def main(path, most="50"):
    if find() is None:
        return NO_CHROMIUM
    with tempfile.TemporaryDirectory() as scratch, Browser() as browser:
        large = pathlib.Path(scratch) / "large.html"
        large.write_text(enlarged(pathlib.Path(path).read_text(encoding="utf-8")), encoding="utf-8")
        page = browser.open(str(large))
        page.call("Performance.enable", timeDomain="threadTicks")
        work, waits, said = [], [], set()
        for place in places(page):
            before, start = seconds_of_work(page), time.monotonic()
            page.mouse("mouseMoved", place)
            page.settle()
            waits.append(1000 * (time.monotonic() - start))
            work.append(1000 * (seconds_of_work(page) - before))
            said.add(page.get("document.querySelector('#say').textContent"))
        work.sort()
        waits.sort()
        print(f"a hover: {work[HOVERS // 2]:.1f} ms of work, at most {work[-1]:.1f}; "
              f"on the screen after {waits[HOVERS // 2]:.1f} ms, at most {waits[-1]:.1f}")
        assert len(said) == HOVERS, said
        assert work[HOVERS // 2] < float(most), f"expected less than {most} ms"
        assert not page.console and not page.strangers(), (page.console, page.strangers())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
