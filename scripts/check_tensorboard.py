"""What TensorBoard and tbparse read of a directory of event files, beside what is in them by the
strict reader of tests/support/event_files.py: scripts/check-tensorboard.

usage: check_tensorboard.py DIRECTORY SOURCE_DATE_EPOCH      the time of the last file's events
"""
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from event_files import read, scalars  # noqa: E402


def check(name, found, expected):
    print("ok  " if found == expected else "FAIL", name)
    if found != expected:
        print(f"     found    {str(found)[:200]}\n     expected {str(expected)[:200]}")
    return found == expected


def check_scalars(name, found, expected):
    """{tag: {step: value}}"""
    wrong = sorted(tag for tag in {*found, *expected} if found.get(tag) != expected.get(tag))
    points = [{tag: len(values.get(tag, ())) for tag in wrong} for values in (found, expected)]
    return check(f"{name}: {sum(map(len, expected.values()))} scalars", (wrong, points[0]),
                 ([], points[1]))


def contents(board):
    """{tag: {step: value}}, the pictures' tags, and the last file's times."""
    files = sorted(str(path) for path in Path(board).iterdir())
    images = {tag for path in files for event in read(path, whole=False) for tag in event.images}
    return scalars(files), images, {event.time for event in read(files[-1], whole=False)}


def accumulated(board, expected, epoch):
    a = EventAccumulator(board, size_guidance={"scalars": 0, "images": 0})
    a.Reload()
    found = {tag: {s.step: s.value for s in a.Scalars(tag)} for tag in a.Tags()["scalars"]}
    steps = [s.step for s in a.Scalars("loss/train")]
    return [check_scalars("EventAccumulator", found, expected[0]),
            check("EventAccumulator: steps in order", steps, sorted(set(steps))),
            check("EventAccumulator: images", set(a.Tags()["images"]), expected[1]),
            check("EventAccumulator: time", a.Scalars("loss/train")[-1].wall_time, epoch)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, path):
    where = f"http://127.0.0.1:{port}/data/plugin/{path}"
    with urllib.request.urlopen(where, timeout=10) as answer:
        return json.load(answer)


def read_by_server(port):
    """(tags and their points, tags of pictures); None: not yet all there."""
    tags = ask(port, "scalars/tags").get(".", {})
    points = {t: {step: value for _, step, value in
                  ask(port, f"scalars/scalars?run=.&tag={t.replace('/', '%2F')}")} for t in tags}
    return points, set(ask(port, "images/tags").get(".", {}))


def served(board, fast, expected):
    """What the web server answers, once it has read all; its fast loader is a program of its own,
    which reads while the server answers already."""
    port, found = free_port(), ({}, set())
    server = subprocess.Popen([str(Path(sys.executable).parent / "tensorboard"), "--logdir", board,
                               "--load_fast", fast, "--port", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(120):
            time.sleep(.5)
            try:
                found = read_by_server(port)
            except (urllib.error.URLError, ConnectionError):
                continue
            if found == expected[:2]:
                break
        return [check_scalars(f"--load_fast {fast}", found[0], expected[0]),
                check(f"--load_fast {fast}: images", found[1], expected[1])]
    finally:
        server.terminate()
        server.wait()


def parsed(board, expected):
    table = SummaryReader(board).scalars
    found = {tag: dict(zip(rows["step"], rows["value"])) for tag, rows in table.groupby("tag")}
    return [check_scalars("tbparse", found, expected[0])]


def main(board, epoch):
    expected = contents(board)
    passed = [check("the last file's times", expected[2], {float(epoch)})]
    passed += accumulated(board, expected, float(epoch)) + parsed(board, expected)
    passed += served(board, "true", expected) + served(board, "false", expected)
    return 0 if all(passed) else 1


sys.exit(main(*sys.argv[1:]))
