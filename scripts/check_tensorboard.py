"""What TensorBoard and tbparse read of a directory of event files: scripts/check-tensorboard."""
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tbparse import SummaryReader
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

# Of 450 steps, two a point; answers after steps 200 (where the first part ends), 297 and 450.
SCALARS = {"loss/train": 225, "lr": 225, "gradient_norm": 225, "images_per_second": 225,
           "loss/val": 3, "accuracy/val": 3, "accuracy/train": 3, "loss/test": 2,
           "accuracy/test": 2}
IMAGES = {"filters", "most_wrong"}


def check(name, found, expected):
    print("ok  " if found == expected else "FAIL", name)
    if found != expected:
        print(f"     found    {found}\n     expected {expected}")
    return found == expected


def accumulator(board):
    a = EventAccumulator(board, size_guidance={"scalars": 0, "images": 0})
    a.Reload()
    steps = [s.step for s in a.Scalars("loss/train")]
    return [check("EventAccumulator: scalars", {t: len(a.Scalars(t)) for t in a.Tags()["scalars"]},
                  SCALARS),
            check("EventAccumulator: steps in order", steps, sorted(set(steps))),
            check("EventAccumulator: images", set(a.Tags()["images"]), IMAGES)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, path):
    where = f"http://127.0.0.1:{port}/data/plugin/{path}"
    with urllib.request.urlopen(where, timeout=10) as answer:
        return json.load(answer)


def served(board, fast):
    """What the web server answers; its fast loader is a program of its own."""
    port = free_port()
    server = subprocess.Popen([str(Path(sys.executable).parent / "tensorboard"), "--logdir", board,
                               "--load_fast", fast, "--port", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(120):
            time.sleep(.5)
            try:
                if "accuracy/test" in ask(port, "scalars/tags").get(".", {}):
                    break
            except (urllib.error.URLError, ConnectionError):
                pass
        tags = ask(port, "scalars/tags")["."]
        counts = {t: len(ask(port, f"scalars/scalars?run=.&tag={t.replace('/', '%2F')}"))
                  for t in tags}
        images = ask(port, "images/tags")["."]
        return [check(f"--load_fast {fast}: scalars", counts, SCALARS),
                check(f"--load_fast {fast}: images", set(images), IMAGES)]
    finally:
        server.terminate()
        server.wait()


def main(board):
    table = SummaryReader(board).scalars
    passed = accumulator(board) + served(board, "true") + served(board, "false")
    passed.append(check("tbparse: scalars", table.groupby("tag").size().to_dict(), SCALARS))
    return 0 if all(passed) else 1


sys.exit(main(sys.argv[1]))
