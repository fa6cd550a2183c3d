"""Checks the definitions of docs/reliance.md against other programs, and measures them.

usage: scripts/check-reliance mapie          1,000 random cases against MAPIE (LAC; its APS is
                                             randomised)
       scripts/check-reliance torchcp        1,000 random cases against torchcp (LAC, APS, RAPS)
       scripts/check-reliance splits [--splits N] [--logits DIR]
                                             coverage and size over random halves of the test
                                             pictures of MNIST, Fashion-MNIST and CIFAR-10
       scripts/check-reliance drift [--runs N] [--logits DIR]
                                             the martingale of vit-serve: false alarms over runs of
                                             100,000 pictures, and how soon blurred ones are found
       scripts/check-reliance labels         precision and recall of label issues, with 5 % of the
                                             labels of CIFAR-10's test pictures turned

The definitions are those of tests/fixtures/make_conformal.py, with which tests/reliance compares
the library element by element. Needs NumPy, and for the first two a Python that has the other
program. Data: $VIT_DATA or data/. --logits: keeps NAME.npy of `vit-evaluate --logits` there, or
finds them.
"""
import argparse
import csv
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin"
DATA = pathlib.Path(os.environ.get("VIT_DATA", ROOT / "data"))
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
from make_conformal import quantile, scores, sets  # noqa: E402

RULES = ("lac", "aps", "raps")
COVERAGES = (.9, .95, .99)


def random_case(random):
    """Probabilities of calibration and test pictures, and labels that mostly follow them."""
    classes, pictures = int(random.integers(3, 12)), int(random.integers(120, 300))
    p = random.dirichlet(np.full(classes, random.choice([.1, .3, 1.])), pictures + 20)
    p = p.astype(np.float32).astype(float)
    p /= p.sum(1, keepdims=True)
    labels = np.array([random.choice(classes, p=row) for row in p[:pictures]])
    labels[:classes] = np.arange(classes)
    return p[:pictures], labels, p[pictures:], float(random.choice(COVERAGES))


def ours(rule, p, labels, test, coverage):
    values, _ = scores(p)
    threshold = quantile(values[rule][np.arange(len(p)), labels], coverage)
    values, order = scores(test)
    return threshold, sets(rule, values[rule], order, np.full(p.shape[1], threshold))


def as_sets(mask, test):
    order = np.argsort(-test, axis=1, kind="stable")
    return [[int(k) for k in ranked if row[k]] for row, ranked in zip(mask, order)]


# ---- MAPIE ----

class Given:
    """A classifier whose inputs are its probabilities."""
    def __init__(self, classes=2):
        self.classes = classes
        self.classes_ = np.arange(classes)
        self.n_features_in_ = classes

    def fit(self, x, y):
        return self

    def predict(self, x):
        return np.argmax(x, axis=1)

    def predict_proba(self, x):
        return x

    def __sklearn_is_fitted__(self):
        return True


def mapie(cases):
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Prefit(Given, ClassifierMixin, BaseEstimator):
        pass

    random, differ, compared = np.random.default_rng(1), 0, 0
    for _ in range(cases):
        p, labels, test, coverage = random_case(random)
        other = SplitConformalClassifier(Prefit(p.shape[1]), confidence_level=coverage,
                                         conformity_score="lac", prefit=True)
        other.conformalize(p, labels)
        mask = other.predict_set(test)[1][:, :, 0]
        threshold, own = ours("lac", p, labels, test, coverage)
        near = abs(1 - test - threshold) < 1e-7  # MAPIE adds 1e-8 to thresholds
        for kept, chosen, tied in zip(as_sets(mask, test), own, near):
            differ += any(not tied[k] for k in set(kept) ^ set(chosen))
        compared += len(test)
    print(f"MAPIE: {cases} cases, lac, {compared:,} sets: {differ} differ")
    return differ > 0


# ---- torchcp ----

def torchcp(cases):
    import types

    import torch
    # Its losses and its graphs need other packages, and nothing here does.
    sys.modules.setdefault("torchsort", types.SimpleNamespace(soft_rank=None, soft_sort=None))
    sys.modules.setdefault("torchcp.graph", types.ModuleType("torchcp.graph"))
    from torchcp.classification.predictor import SplitPredictor
    from torchcp.classification.score import APS, LAC, RAPS
    functions = {"lac": LAC(score_type="identity"),
                 "aps": APS(score_type="identity", randomized=False),
                 "raps": RAPS(score_type="identity", randomized=False, penalty=.01, kreg=5)}
    random, differ, compared, rounded = np.random.default_rng(2), 0, 0, 0
    for _ in range(cases):
        p, labels, test, coverage = random_case(random)
        for rule, function in functions.items():
            other = SplitPredictor(score_function=function)
            other.calculate_threshold(torch.tensor(p), torch.tensor(labels), 1 - coverage)
            threshold, chosen = ours(rule, p, labels, test, coverage)
            mask = other.predict_with_logits(torch.tensor(test)).numpy() > 0
            # torchcp's penalty is a float of 32 bits: who stands on the threshold may fall off it.
            rounding = 1e-7 if rule == "raps" else 0
            near = abs(scores(test)[0][rule] - threshold) < rounding
            differ += abs(float(other.q_hat) - threshold) > max(rounding, 1e-12)
            for kept, own, tied in zip(as_sets(mask, test), chosen, near):
                apart = set(kept) ^ set(own)
                differ += any(not tied[k] for k in apart)
                rounded += len(apart) > 0 and all(tied[k] for k in apart)
            compared += len(test)
    print(f"torchcp: {cases} cases, lac, aps and raps, {compared:,} sets: {differ} differ, "
          f"{rounded} more by the rounding of torchcp's penalty")
    return differ > 0


# ---- the test pictures of the shipped models ----

def labels_of(name):
    if name == "cifar10":
        path = next((DATA / name).glob("**/test_batch.bin*"))
        raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
        return np.frombuffer(raw, np.uint8).reshape(-1, 3073)[:, 0].astype(int)
    path = next((DATA / name).glob("**/t10k-labels*"))
    raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return np.frombuffer(raw, np.uint8, offset=8).astype(int)


def probabilities_of(name, folder):
    path = folder / f"{name}.npy"
    if not path.exists():
        subprocess.run([BIN / "vit-evaluate", "--model", name, "--data", name, "--logits", path],
                       check=True, stdout=subprocess.DEVNULL)
    logits = np.load(path).astype(float)
    p = np.exp(logits - logits.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def split_rows(name, p, labels, count, seed=0):
    values, _ = scores(p)
    half = len(p) // 2
    for coverage in COVERAGES:
        bound = 2.576 * np.sqrt(coverage * (1 - coverage) / half)
        for rule in RULES:
            v = values[rule]
            true, random = v[np.arange(len(p)), labels], np.random.default_rng(seed)
            covered, size = [], []
            for _ in range(count):
                mixed = random.permutation(len(p))
                t, test = quantile(true[mixed[:half]], coverage), mixed[half:]
                chosen = v[test] <= t
                covered.append(chosen[np.arange(len(test)), labels[test]].mean())
                size.append(chosen.sum(1).mean())
            yield name, coverage, rule, np.mean(covered), bound, np.mean(size)


def splits(count, folder):
    print("| test pictures | coverage | score | measured | interval | mean size |\n"
          "|---|---|---|---|---|---|")
    outside = 0
    for name in ("mnist", "fashion", "cifar10"):
        for row in split_rows(name, probabilities_of(name, folder), labels_of(name), count):
            _, coverage, rule, covered, bound, size = row
            outside += abs(covered - coverage) > bound
            print(f"| {name} | {coverage:.2f} | {rule} | {100 * covered:.2f} % | "
                  f"{100 * (coverage - bound):.2f} to {100 * (coverage + bound):.2f} % | "
                  f"{size:.3f} |", flush=True)
    return outside > 0


# ---- drift ----

BETS, HORIZON = np.arange(1, 10) / 10, 100000


def false_alarms(runs):
    """Of exchangeable pictures p-values are uniform and independent."""
    random, capital, alarms = np.random.default_rng(0), np.zeros((runs, 9)), np.zeros(runs, bool)
    for seen in range(1, HORIZON + 1):
        p = 1 - random.random(runs)
        capital = (capital + 1 / HORIZON) * BETS * np.exp(np.log(p)[:, None] * (BETS - 1))
        alarms |= capital.mean(1) + 1 - seen / HORIZON >= 100
    return alarms.sum()


def delay(calibration, alike, changed, random):
    """How many of the changed scores pass before the martingale reaches 100; -1: too early."""
    pool, capital = np.sort(calibration), np.zeros(9)
    for i, score in enumerate(np.concatenate([alike, changed])):
        low, high = np.searchsorted(pool, score), np.searchsorted(pool, score, "right")
        p = (len(pool) - high + (high - low + 1) * (1 - random.random())) / (len(pool) + 1)
        pool = np.insert(pool, high, score)
        capital = (capital + 1 / HORIZON) * BETS * p ** (BETS - 1)
        if capital.mean() + 1 - (i + 1) / HORIZON >= 100:
            return i + 1 - len(alike) if i >= len(alike) else -1
    return len(changed) + 1


def test_images(name):
    if name == "cifar10":
        path = next((DATA / name).glob("**/test_batch.bin*"))
        raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
        rows = np.frombuffer(raw, np.uint8).reshape(-1, 3073)[:, 1:]
        return rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    path = next((DATA / name).glob("**/t10k-images*"))
    raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 28, 28, 1)


def blurred_energies(name, folder, count=1500):
    """Of test pictures blurred by a binomial filter of 5 x 5 pixels."""
    images = test_images(name)[:count].astype(float)
    for axis in (1, 2):
        images = sum(w * np.roll(images, s, axis) for w, s in
                     ((1 / 16, -2), (4 / 16, -1), (6 / 16, 0), (4 / 16, 1), (1 / 16, 2)))
    path, logits = folder / f"{name}-blurred.npz", folder / f"{name}-blurred.npy"
    np.savez(path, test_images=images.round().astype(np.uint8), test_labels=labels_of(name)[:count])
    subprocess.run([BIN / "vit-evaluate", "--model", name, "--data", path, "--logits", logits],
                   check=True, stdout=subprocess.DEVNULL)
    return energies_of(logits)


def energies_of(path):
    logits = np.load(path).astype(float)
    most = logits.max(1)
    return -(most + np.log(np.exp(logits - most[:, None]).sum(1)))


def drift(runs, folder):
    print(f"false alarms: {false_alarms(runs)} of {runs} runs of {HORIZON:,} pictures", flush=True)
    for name in ("mnist", "fashion", "cifar10"):
        probabilities_of(name, folder)
        known, blurred = energies_of(folder / f"{name}.npy"), blurred_energies(name, folder)
        delays = []
        for seed in range(20):
            random = np.random.default_rng(seed)
            mixed, changed = random.permutation(known), random.permutation(blurred)
            delays.append(delay(mixed[:5000], mixed[5000:7000], changed, random))
        print(f"{name}: blurred pictures are found after {int(np.median(delays))} of them, at most "
              f"{max(delays)}; {sum(d < 0 for d in delays)} of 20 too early", flush=True)


# ---- label issues ----

def count_issues(title, path, name_to_row, turned):
    with open(path, newline="") as file:
        listed = {name_to_row(row) for row in csv.DictReader(file)}
    right = len(listed & turned)
    print(f"| {title} | {len(listed)} | {100 * right / max(1, len(listed)):.1f} % | "
          f"{100 * right / len(turned):.1f} % |", flush=True)


def turn(labels, classes, random):
    """Labels of which 5 % are another class, at random; and the rows of these."""
    rows = random.choice(len(labels), len(labels) // 20, replace=False)
    labels = labels.copy()
    labels[rows] = (labels[rows] + random.integers(1, classes, len(rows))) % classes
    return labels, set(rows.tolist())


def in_folders(title, images, labels, turned, work):
    """A folder a class, and a head from `features` that answers each picture without itself."""
    folder, head, issues = work / title, work / f"{title}.safetensors", work / f"{title}.csv"
    for i, (image, label) in enumerate(zip(images, labels)):
        (folder / str(label)).mkdir(parents=True, exist_ok=True)
        (folder / str(label) / f"{i}.ppm").write_bytes(b"P6 32 32 255\n" + image.tobytes())
    run = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([BIN / "vit-train", "--data", folder, "--head", "ridge", "--init", "features",
                    "--out", head], **run)
    subprocess.run([BIN / "vit-evaluate", "--model", head, "--data", folder, "--label-issues",
                    issues], **run)
    count_issues(title, issues, lambda row: int(pathlib.Path(row["file"]).stem), turned)


def labels():
    path = sorted((DATA / "cifar10").glob("**/test_batch.bin*"))[0]
    raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    rows = np.frombuffer(raw, np.uint8).reshape(-1, 3073)
    images = np.ascontiguousarray(rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    random = np.random.default_rng(0)
    print("| labels turned at random, 5 % | listed | precision | recall |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        wrong, turned = turn(rows[:, 0].astype(np.int64), 10, random)
        np.savez(work / "turned.npz", test_images=images, test_labels=wrong)
        subprocess.run([BIN / "vit-evaluate", "--model", "cifar10", "--data", work / "turned.npz",
                        "--label-issues", work / "issues.csv"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        count_issues("cifar10", work / "issues.csv", lambda row: int(row["index"]), turned)
        four = np.flatnonzero(np.isin(rows[:, 0], (0, 1, 2, 3)))[:480]
        few, turned_few = turn(rows[four, 0].astype(np.int64), 4, random)
        in_folders("480 in four folders", images[four], few, turned_few, work)
        in_folders("ten folders", images, wrong, turned, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mapie", "torchcp", "splits", "drift", "labels"))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--logits")
    o = parser.parse_args()
    if o.what == "mapie":
        return mapie(o.cases)
    if o.what == "torchcp":
        return torchcp(o.cases)
    if o.what == "labels":
        return labels()
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(o.logits or folder)
        return drift(o.runs, where) if o.what == "drift" else splits(o.splits, where)


if __name__ == "__main__":
    sys.exit(main())
