"""scripts/reliability: what is written there. Each part returns rows (what, tries, what came of it)
and raises Broken where a promise was."""
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRAIN = os.path.join(os.path.abspath(os.environ.get("BUILD", ROOT + "/build")), "bin", "vit-train")
DATA = os.path.abspath(os.environ.get("VIT_DATA", ROOT + "/data"))
DOCUMENT = ROOT + "/docs/reliability.md"
SMALL = '{"model": {"patch": 14, "dim": 16, "depth": 2, "heads": 2, "mlp": 16}, ' \
        '"train": {"batch": 16, "lr": 0.001, "shift": 2, "cutmix": 1, "ema": 0.9}}'
share = 1.0


class Broken(Exception):
    pass


def check(holds, what, run=None):
    if not holds:
        raise Broken(what + ("" if run is None else ":\n" + run.stderr[-2000:]))


def count(tries):
    return max(2, round(tries * share))


def command(arguments):
    return [TRAIN] + [str(a) for a in arguments]


def train(*arguments):
    return subprocess.run(command(arguments), capture_output=True, text=True,
                          env=dict(os.environ, VIT_DATA=DATA))


def begin(*arguments):
    return subprocess.Popen(command(arguments), stdout=subprocess.DEVNULL,
                            stderr=open("err", "w"), env=dict(os.environ, VIT_DATA=DATA))


def remove(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        if os.path.lexists(name) and not os.path.isdir(name):
            os.remove(name)


def same(a, b):
    return os.path.exists(a) and filecmp.cmp(a, b, shallow=False)


def checkpoints(directory):
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return sorted(directory + "/" + n for n in names if n.startswith("checkpoint-"))


def leftovers(*directories):
    return [n for d in directories for n in os.listdir(d) if ".tmp" in n or n == "checkpoint.new"]


# ---- kills ----

def kills(data, options, longest, tries, called=""):
    """Trainings of `options`, killed at random moments of up to `longest` seconds after each start,
    and resumed with other threads, until that number of kills is survived."""
    run = train("--data", data, *options, "--out", "whole", "--threads", 2, "--overwrite")
    check(run.returncode == 0, "a training on " + data, run)
    killed = finished = 0
    while killed < tries or finished == 0:
        remove("c", "model")
        ended = False
        while not ended:
            process = begin("--data", data, *options, "--out", "model", "--checkpoint", "c",
                            "--resume", "--save-every", .001, "--threads", random.randint(1, 3),
                            *random.choice([[], ["--activation-checkpointing"]]))
            try:
                process.wait(random.uniform(0, longest) if killed < tries else None)
                ended = True
                check(process.returncode == 0, "a resumed training: " + open("err").read()[-500:])
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
        check(same("model", "whole"), "%s: %d kills, another model" % (data, killed))
        check(not leftovers(".", "c"), "temporary files are left")
        finished += 1
    return [("SIGKILL at a random moment of a training on %s%s, resumed with 1 to 3 threads" %
             (data, called), killed,
             "%d trainings, all with the bytes of one that was not killed" % finished)]


def mnist():
    return kills("mnist", ["--batch", 32, "--steps", 400, "--val", 200], 3, count(50))


def cifar10():
    return kills("cifar10", ["--batch", 16, "--steps", 60, "--val", 100], 4, count(50))


def best():
    return kills("grey", ["--preset", "./small.json", "--steps", 3000, "--keep", "best"], 2,
                 count(10), ", 250 epochs with --keep best")


def texts():
    """Trainings whose answers are texts: the number in words, from one language into another."""
    return kills("numbers:en-de", ["--batch", 16, "--steps", 60, "--val", 20], 3, count(10))


# ---- damage, of a small training that starts at once ----

def small(*arguments):
    return train("--data", "grey", "--preset", "./small.json", "--threads", 1, *arguments)


def make_small():
    """200 and 50 grey pictures of 28 x 28 in IDX files, the shade of each says its class."""
    os.mkdir("grey")
    for part, n in (("train", 200), ("t10k", 50)):
        with open("grey/%s-labels-idx1-ubyte" % part, "wb") as f:
            f.write(bytes([0, 0, 8, 1, 0, 0, 0, n]) + bytes(i % 10 for i in range(n)))
        with open("grey/%s-images-idx3-ubyte" % part, "wb") as f:
            f.write(bytes([0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 28, 0, 0, 0, 28]) +
                    b"".join(bytes([25 * (i % 10)]) * 784 for i in range(n)))
    open("small.json", "w").write(SMALL)
    check(small("--steps", 60, "--out", "small").returncode == 0, "a small training")


def damaged_directory():
    """One with a best state and two late ones, to break copies of."""
    if os.path.isdir("pristine"):
        return
    run = small("--steps", "50/60", "--out", "part", "--checkpoint", "pristine")
    check(run.returncode == 0 and len(checkpoints("pristine")) >= 2, "checkpoints", run)


def resume_damaged(outcome):
    """Resumes from c; counts what came of it."""
    remove("model")
    run = small("--steps", 60, "--out", "model", "--checkpoint", "c", "--resume")
    if run.returncode != 0:
        check(not os.path.exists("model"), "a model in spite of a refusal", run)
        outcome["refused"] += 1
    else:
        check(same("model", "small"), "another model from a damaged directory", run)
        outcome["skipped" if "skipped: " in run.stderr else "not needed"] += 1


def damage(what, tries, break_file):
    damaged_directory()
    outcome = {"refused": 0, "skipped": 0, "not needed": 0}
    for _ in range(tries):
        remove("c")
        shutil.copytree("pristine", "c")
        break_file()
        resume_damaged(outcome)
    return [(what, tries, "%(skipped)d skipped for an older one, %(refused)d refused, "
             "%(not needed)d in files that were not needed; no other model" % outcome)]


def turn_bit(name):
    with open(name, "r+b") as f:
        at = random.randrange(os.path.getsize(name))
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1 << random.randrange(8)]))


def bits():
    def one():
        turn_bit(random.choice(checkpoints("c")))

    def each():
        for name in checkpoints("c"):
            turn_bit(name)
    return damage("a bit turned in one file of a checkpoint directory", count(1800), one) + \
        damage("a bit turned in each of its files", count(200), each)


def lengths():
    def cut():
        name = checkpoints("c")[-1]
        os.truncate(name, random.randrange(os.path.getsize(name)))
    return damage("the newest checkpoint cut at a random length", count(500), cut)


# ---- disks ----

def disk(size):
    subprocess.run(["umount", "disk"], stderr=subprocess.DEVNULL)
    os.makedirs("disk", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "none", "disk"], check=True)


def ended_well(code, stderr):
    """0 and the model where it should be; or not 0, and the message says where it is."""
    place = re.search(r"the model is in (\S+) instead", stderr)
    if code == 0 or "the model is complete" in stderr:
        check(same("disk/model", "small"), "another model")
        return "finished" if code == 0 else "finished, without its last checkpoint: exit status 1"
    if place:
        check(same(place.group(1), "small"), "another model elsewhere")
        remove(place.group(1))
        return "finished, with the model elsewhere: exit status 1"
    check("it needs" in stderr or "No space" in stderr, stderr)
    return "refused at the start"


def resumes(options):
    """Whatever happened, with room it goes on, to the same bytes."""
    run = small("--steps", 60, *options, "--resume", "--overwrite")
    check(run.returncode == 0 and "skipped" not in run.stderr and same("disk/model", "small"),
          "it did not go on when there was room", run)


def disks():
    if subprocess.run("mkdir -p disk; mount -t tmpfs none disk && umount disk", shell=True,
                      capture_output=True).returncode != 0:
        return [("small disks", 0, "not tried: no file systems can be mounted here")]
    rows = []
    options = ["--out", "disk/model", "--checkpoint", "disk/c", "--save-every", .00001]
    for fill in (False, True):
        outcome = {}
        tries = count(100)
        for i in range(tries):
            disk(2000000 if fill else 4096 * (i * 240 // tries + 1))
            remove("err")
            process = begin("--data", "grey", "--preset", "./small.json", "--threads", 1, "--steps",
                            60, *options)
            time.sleep(random.uniform(0, .15))
            if fill:
                with open("disk/filler", "wb", buffering=0) as f:
                    try:
                        while f.write(bytes(4096)):
                            pass
                    except OSError:
                        pass
            process.wait()
            came = ended_well(process.returncode, open("err").read())
            outcome[came] = outcome.get(came, 0) + 1
            remove("disk/filler")
            subprocess.run(["mount", "-o", "remount,size=4000000", "disk"], check=True)
            check(not leftovers("disk", "disk/c") if os.path.isdir("disk/c") else True, "leftovers")
            resumes(options)
        rows.append(("a disk that gets full at a random moment" if fill else
                     "a disk of 4 KB to 960 KB", tries,
                     "; ".join("%d %s" % (n, o) for o, n in sorted(outcome.items())) +
                     "; all went on when there was room, to the same bytes"))
    subprocess.run(["umount", "disk"])
    return rows


# ---- company, places ----

def pairs():
    refused = tries = count(20)
    for _ in range(tries):
        remove("c", "model", "other")
        arguments = ["--data", "grey", "--preset", "./small.json", "--steps", 1000, "--checkpoint",
                     "c", "--out"]
        both = [begin(*arguments, name) for name in ("model", "other")]
        codes = sorted(p.wait() for p in both)
        check(codes == [0, 1], "two at once ended with %s" % codes)
    return [("two trainings begun at once in one directory", tries,
             "%d times one of them was refused, and the other finished" % refused)]


def places():
    rows = []
    bind = subprocess.run("mkdir -p place; mount --bind place place && umount place", shell=True,
                          capture_output=True).returncode == 0
    for what in ("vanishes", "becomes read-only"):
        tries = count(20)
        if what != "vanishes" and not bind:
            continue
        for _ in range(tries):
            subprocess.run("umount place", shell=True, stderr=subprocess.DEVNULL)
            remove("place", "model")
            os.mkdir("place")
            process = begin("--data", "grey", "--preset", "./small.json", "--threads", 1, "--steps",
                            60, "--out", "model", "--checkpoint", "place/c", "--save-every", .00001)
            time.sleep(random.uniform(.02, .08))
            if what == "vanishes":
                remove("place")
            else:
                process.send_signal(signal.SIGSTOP)  # nothing is opened in between
                subprocess.run("mount --bind place place; mount -o remount,bind,ro place",
                               shell=True, check=True)
                process.send_signal(signal.SIGCONT)
            process.wait()
            said = open("err").read()
            check(same("model", "small") or "place" in said, said)
            check(process.returncode == 0 or "place" in said, said)
            check(process.returncode in (0, 1), "exit status %d" % process.returncode)
        subprocess.run("umount place", shell=True, stderr=subprocess.DEVNULL)
        rows.append(("a checkpoint directory that %s while it is trained" % what, tries,
                     "all said so and wrote the model, or were refused at the start"))
    return rows


def rates():
    rows = []
    for lr in (.002, .1, 1, 10, 100):
        remove("model", "c")
        run = train("--data", "mnist", "--steps", count(500), "--val", 500, "--lr", lr,
                    "--out", "model", "--checkpoint", "c")
        said = run.stdout.split(";")[0].strip()
        if run.returncode:
            said = run.stderr.strip().split("\n")[-1].replace("vit-train: ", "")
        check(run.returncode in (0, 1) and (run.returncode == 1 or lr < 1 or share < 1), said, run)
        rows.append(("MNIST with --lr %g" % lr, 1, "exit status %d: %s" % (run.returncode, said)))
    return rows


PARTS = {f.__name__: f for f in (mnist, best, cifar10, texts, bits, lengths, disks, pairs, places,
                                 rates)}


def write(table):
    text = open(DOCUMENT, encoding="utf-8").read()
    begin_mark, end_mark = "<!-- figures -->\n", "<!-- end of figures -->"
    before, rest = text.split(begin_mark)
    after = rest.split(end_mark)[1]
    open(DOCUMENT, "w", encoding="utf-8").write(before + begin_mark + table + end_mark + after)


def main():
    global share
    wanted = [a for a in sys.argv[1:] if not a.startswith("--")]
    unknown = [a for a in sys.argv[1:] if a not in PARTS and a not in ("--quick", "--write")]
    if unknown:
        sys.exit("reliability: %s: expected --quick, --write or %s" %
                 (unknown[0], ", ".join(PARTS)))
    share = .05 if "--quick" in sys.argv else 1.0
    seed = int(time.time())
    random.seed(seed)
    lines = ["| what happens | times | what comes of it |", "|---|---:|---|"]
    broken = False
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory(prefix="vit-reliability-") as place:
        os.chdir(place)
        make_small()
        for name in wanted or PARTS:
            try:
                for row in PARTS[name]():
                    lines.append("| %s | %d | %s |" % row)
                    print(lines[-1], flush=True)
            except Broken as why:
                print("reliability: %s (random numbers of seed %d): BROKEN: %s" % (name, seed, why),
                      file=sys.stderr)
                broken = True
        os.chdir("/")
    if "--write" in sys.argv and not broken:
        write("\n".join(lines) + "\n")
    sys.exit(1 if broken else 0)


main()
