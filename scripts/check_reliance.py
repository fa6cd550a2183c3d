"""Checks the definitions of docs/reliance.md against other programs, and measures them.

usage: scripts/check-reliance mapie          1,000 random cases against MAPIE (LAC; its APS is
                                             randomised)
       scripts/check-reliance torchcp        1,000 random cases against torchcp (LAC, APS, RAPS)
       scripts/check-reliance ood            1,000 random cases against pytorch-ood: scores, AUROC,
                                             FPR at 95 %
       scripts/check-reliance cleanlab       1,000 random cases against find_label_issues
       scripts/check-reliance anomaly        distances and scores with DINOv2 and DINOv3 (random
                                             weights) against PyTorch on transformers' features
       scripts/check-reliance splits [--splits N] [--logits DIR]
                                             coverage and size over random halves of the test
                                             pictures of MNIST, Fashion-MNIST and CIFAR-10
       scripts/check-reliance drift [--runs N] [--logits DIR]
                                             the martingale of vit-serve: false alarms over runs of
                                             100,000 pictures, and how soon blurred ones are found
       scripts/check-reliance labels         precision and recall of label issues, with 5 % of the
                                             labels of CIFAR-10's test pictures turned

The definitions are those of tests/fixtures/make_conformal.py, make_unknown.py and
make_label_issues.py, with which tests/reliance compares the library element by element. Needs
NumPy, and for the first five a Python that has the other program. Data: $VIT_DATA or data/.
--logits: keeps NAME.npy of `vit-evaluate --logits` there, or finds them.
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
import make_conformal  # noqa: E402
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

PENALTY = 2 ** -7  # of RAPS, which torchcp rounds to 32 bits: .01 would change there

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
                 "raps": RAPS(score_type="identity", randomized=False, penalty=PENALTY, kreg=5)}
    make_conformal.PENALTY = PENALTY
    random, differ, compared = np.random.default_rng(2), 0, 0
    for _ in range(cases):
        p, labels, test, coverage = random_case(random)
        for rule, function in functions.items():
            other = SplitPredictor(score_function=function)
            other.calculate_threshold(torch.tensor(p), torch.tensor(labels), 1 - coverage)
            threshold, chosen = ours(rule, p, labels, test, coverage)
            mask = other.predict_with_logits(torch.tensor(test)).numpy() > 0
            kept = as_sets(mask, test)
            differ += kept != chosen or abs(float(other.q_hat) - threshold) > 1e-12
            compared += len(test)
    print(f"torchcp: {cases} cases, lac, aps and raps, {compared:,} sets: {differ} cases differ")
    return differ > 0


# ---- pytorch-ood ----

def ood(cases):
    import torch
    from make_unknown import energy, figures, knn, mahalanobis
    from pytorch_ood.detector import KNN, EnergyBased, Mahalanobis, MaxSoftmax
    from pytorch_ood.metrics import AUROC, FPRAtTPR

    def measured(inside, outliers):
        """pytorch-ood's positives are the outliers, ours the others: the signs change."""
        scores = -torch.tensor(np.concatenate([inside, outliers]))
        labels = torch.tensor([-1] * len(inside) + [0] * len(outliers))
        return [metric.update(scores, labels).compute()[key] for metric, key in
                ((AUROC(), "AUROC"), (FPRAtTPR(.95), "FPR95TPR"))]

    random, worst = np.random.default_rng(3), dict.fromkeys(
        ("softmax", "energy", "knn", "mahalanobis", "AUROC", "FPR"), 0.)
    for _ in range(cases):
        classes, width, k = (int(n) for n in random.integers((2, 3, 1), (9, 24, 9)))
        labels = np.concatenate([np.arange(classes), random.integers(0, classes, 200)])
        centres = random.normal(0, 2, (classes, width))
        train, inside = (centres[ids] + random.normal(0, 1, (len(ids), width))
                         for ids in (labels, labels[:90]))
        both = np.concatenate([inside, random.normal(0, 2, (70, width))])
        logits = both @ random.normal(0, .5, (width, classes))
        features = torch.tensor(train), torch.tensor(labels)
        distances = Mahalanobis(None)
        distances.fit_features(features[0].float(), features[1])
        # Its covariance is a sum, its score half the square.
        scale = 2 * len(train)
        chances = np.exp(logits - logits.max(1, keepdims=True))
        pairs = {"softmax": (1 - (chances / chances.sum(1, keepdims=True)).max(1),
                             1 + MaxSoftmax(None).predict_logits(torch.tensor(logits)).numpy()),
                 "energy": (energy(logits), EnergyBased(None).predict_logits(
                     torch.tensor(logits)).numpy()),
                 "knn": (knn(train, both, k), KNN(None, k=k).fit_features(
                     *features).predict_features(torch.tensor(both)).numpy()),
                 "mahalanobis": (mahalanobis(train, labels, both), scale * distances.
                                 predict_features(torch.tensor(both).float()).numpy())}
        for name, (own, other) in pairs.items():
            worst[name] = max(worst[name], float(np.max(abs(own - other) / (1 + abs(own)))))
            for at, theirs in zip(("AUROC", "FPR"), zip(figures(own[:90], own[90:]),
                                                        measured(own[:90], own[90:]))):
                worst[at] = max(worst[at], abs(theirs[0] - theirs[1]))
    print(f"pytorch-ood: {cases} cases, largest differences: " +
          ", ".join(f"{name} {value:.1e}" for name, value in worst.items()))
    return max(worst.values()) > 1e-3 or max(worst["AUROC"], worst["FPR"]) > 1e-6


# ---- cleanlab ----

def cleanlab(cases):
    import ctypes

    sys.path.insert(0, str(ROOT / "python"))
    import make_label_issues
    from vit import _api
    from vit._library import _lib as lib

    random, differ, listed = np.random.default_rng(4), 0, 0
    for _ in range(cases):
        classes = int(random.integers(2, 12))
        theirs = make_label_issues.case(random, int(random.integers(20, 300)), classes,
                                        random.choice([0, .05, .1, .3]), random.uniform(.2, 4))
        p = np.array(theirs["units"], np.float32) / make_label_issues.UNIT
        labels = (ctypes.c_size_t * len(p))(*theirs["labels"])
        issues, count = ctypes.POINTER(_api.vit_label_issue)(), ctypes.c_size_t()
        error = _api.vit_error()
        status = lib.vit_label_issues_find(issues, count, p.ctypes.data_as(
            ctypes.POINTER(ctypes.c_float)), labels, len(p), classes, error)
        assert status == 0, error.message
        own = [(i.picture, i.likely) for i in issues[:count.value]]
        lib.vit_label_issues_free(issues)
        differ += own != list(zip(theirs["issues"], theirs["likely"]))
        listed += len(own)
    print(f"cleanlab: {cases} cases, {listed:,} label issues listed: {differ} lists differ")
    return differ > 0


# ---- transformers ----

def dino(name, folder):
    """Random weights of the published layout, and a processor as published."""
    import torch
    from transformers import (BitImageProcessor, Dinov2Config, Dinov2Model, DINOv3ViTConfig,
                              DINOv3ViTModel)
    torch.manual_seed(65)
    sizes = dict(hidden_size=96, num_hidden_layers=3, num_attention_heads=3)
    if name == "DINOv2":
        model = Dinov2Model(Dinov2Config(**sizes, mlp_ratio=4, image_size=518, patch_size=14))
    else:
        model = DINOv3ViTModel(DINOv3ViTConfig(**sizes, intermediate_size=384, image_size=224,
                                               num_register_tokens=4))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=.06)
    model.eval().save_pretrained(folder)
    crop = {"height": 224, "width": 224}
    processor = BitImageProcessor(size={"shortest_edge": 256}, crop_size=crop,
                                  image_mean=[.485, .456, .406], image_std=[.229, .224, .225])
    processor.save_pretrained(folder)
    return model, processor


def anomaly(_):
    import json

    import torch
    from make_bank import nearest, score
    from PIL import Image

    random, worst = np.random.default_rng(5), 0.
    for name in ("DINOv2", "DINOv3"):
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            model, processor = dino(name, work / "model")
            first = 1 if name == "DINOv2" else 1 + model.config.num_register_tokens
            pictures = []
            for part, count in (("good", 12), ("new", 4)):
                (work / part).mkdir()
                for i in range(count):
                    small = random.integers(0, 256, (20, 24, 3), np.uint8)
                    Image.fromarray(small).resize((300, 260)).save(work / part / f"{i:02}.png")
                    pictures.append(Image.open(work / part / f"{i:02}.png"))
            with torch.no_grad():
                tokens = torch.cat([model(**processor(p, return_tensors="pt")).last_hidden_state
                                    [:, first:] for p in pictures]).double()
            subprocess.run([BIN / "vit-anomaly", "build", work / "good", "-o", work / "bank",
                            "--model", work / "model"], check=True, stdout=subprocess.DEVNULL)
            answers = subprocess.run([BIN / "vit-anomaly", work / "bank", "--json", "--recursive",
                                      work / "new"], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            for line, own in zip(answers.splitlines(), tokens[12:]):
                answer = json.loads(line)
                distances = nearest(tokens[:12].reshape(-1, own.shape[1]), own)
                apart = abs(distances.numpy() - np.array(answer["map"])).max()
                worst = max(worst, apart, abs(float(score(distances)) - answer["score"]))
            print(f"{name}: 4 maps of {len(distances)} patches, distances up to "
                  f"{float(distances.max()):.3f}, the largest difference so far {worst:.1e}")
    return worst > 1e-4


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
        folder.mkdir(parents=True, exist_ok=True)
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
    print("\n| test pictures | coverage | classes, one threshold | classes, --by-class | interval "
          "of one | mean size |\n|---|---|---|---|---|---|")
    for name in ("mnist", "fashion", "cifar10"):
        for coverage in COVERAGES:
            one, each, size = class_coverage(probabilities_of(name, folder), labels_of(name),
                                             coverage, count)
            bound = 2.576 * np.sqrt(coverage * (1 - coverage) / 500)
            outside += max(abs(each - coverage)) > bound
            shown = [f"{100 * a.min():.1f} to {100 * a.max():.1f} %"
                     for a in (one, each, coverage + np.array([-bound, bound]))]
            print(f"| {name} | {coverage:.2f} | " + " | ".join(shown) + f" | {size:.3f} |",
                  flush=True)
    return int(outside > 0)


def class_coverage(p, labels, coverage, count):
    """By class, the mean coverage of LAC with one threshold, and with one for each class."""
    random, half, hits, size = np.random.default_rng(0), len(p) // 2, np.zeros((2, 10)), 0.
    true = 1 - p[np.arange(len(p)), labels]
    for _ in range(count):
        mixed = random.permutation(len(p))
        fit, test = mixed[:half], mixed[half:]
        one = quantile(true[fit], coverage)
        each = np.array([quantile(true[fit][labels[fit] == c], coverage) for c in range(10)])
        size += (1 - p[test] <= each).sum(1).mean()
        for c in range(10):
            of = true[test][labels[test] == c]
            hits[:, c] += (of <= one).mean(), (of <= each[c]).mean()
    return hits[0] / count, hits[1] / count, size / count


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
    parser.add_argument("what", choices=("mapie", "torchcp", "ood", "cleanlab", "anomaly", "splits",
                                         "drift", "labels"))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--logits")
    o = parser.parse_args()
    others = {"mapie": mapie, "torchcp": torchcp, "ood": ood, "cleanlab": cleanlab,
              "anomaly": anomaly}
    if o.what in others:
        return others[o.what](o.cases)
    if o.what == "labels":
        return labels()
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(o.logits or folder)
        return drift(o.runs, where) if o.what == "drift" else splits(o.splits, where)


if __name__ == "__main__":
    sys.exit(main())
