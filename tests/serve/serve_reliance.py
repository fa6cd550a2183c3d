"""vit-serve --coverage --unknown: the answers of vit-classify, and a martingale that finds pictures
which differ from those of the calibration; called by serve-reliance.sh."""
import base64
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import zlib

import serving
from serving import Server, check, draw, refused

BIN = os.path.dirname(serving.SERVE)
work = tempfile.mkdtemp()
model, options = work + "/m.safetensors", ("--coverage", "0.9", "--unknown", "0.05")
shutil.copy(os.path.join(os.path.dirname(__file__), "../../models/mnist.safetensors"), model)
subprocess.run([BIN + "/vit-evaluate", "--model", model, "--calibrate", "digits"], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def noise(seed):
    """A picture of noise, as a PNG."""
    rows = b"".join(b"\0" + random.Random(28 * seed + y).randbytes(28) for y in range(28))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


picture = draw(work, 3)
with open(picture, "rb") as f:
    data = f.read()
alone = json.loads(subprocess.run([BIN + "/vit-classify", "--model", model, *options, "--json",
                                   picture], check=True, stdout=subprocess.PIPE).stdout)
with Server("--model", model, *options) as s:
    got = s.json("POST", "/predictions/m", data)[1]
    check("a set and a p-value", {k: got.get(k) for k in ("set", "p_value", "unknown")} ==
          {k: alone[k] for k in ("set", "p_value", "unknown")} and "p_value" in got, got)
    got = s.json("POST", "/models/m", data)[1]
    check("for Hugging Face's clients, too", {k: got[0].get(k) for k in ("set", "p_value",
          "unknown")} == {k: alone[k] for k in ("set", "p_value", "unknown")} and
          set(got[1]) == {"label", "score"}, got)
    name = 'vit_drift_martingale{model="m"}'
    check("the gauge begins near 1", .5 < float(s.metrics()[name]) < 2, s.metrics())
    for i in range(150):
        s.ask("POST", "/predictions/m", noise(i))
    check("pictures of noise are found", float(s.metrics()[name]) >= 100, s.metrics()[name])
    check("and told once", s.said().count("pictures differ from those") == 1, s.said())
with Server("--model", model, "--abstain-below", "1") as s:
    for path in ("/models/m", "/models/m?function_to_apply=none", "/models/m?top_k=1"):
        got = s.json("POST", path, data)[1]
        check("abstains: " + path, got[0].get("abstains") is True and got[0]["label"] == "3", got)
with Server("--model", model) as s:
    got = s.json("POST", "/predictions/m", data)[1]
    check("not without the options", "set" not in got and "p_value" not in got, got)
with Server("--model", model, "--unknown", "0.05") as s:
    got = s.json("POST", "/models/m", data)[1][0]
    check("a p-value alone", got.get("p_value") == alone["p_value"] and "set" not in got, got)
odd = 'a "b"\\\n'
with Server("--model", f"{odd}={model}", *options) as s:
    names = {key.split("{")[0] for key in s.metrics() if '{model="a \\"b\\"\\\\\\n"' in key}
    check("the name of a model is escaped in metrics", {"vit_drift_martingale",
          "vit_pictures_total"} <= names, names)
    check("and in JSON", s.json("GET", "/v1/models")[1]["models"] == [odd])
with Server(*options) as s:
    got = s.json("POST", "/predictions/mnist", data)
    check("models that nobody named need no calibration", got[0] == 200 and "set" not in got[1] and
          "mnist is not calibrated" in s.said() and "vit_drift_martingale{" not in
          "".join(s.metrics()), (got, s.said()))
aside = tempfile.mkdtemp()
shutil.move(work + "/m.calibration", aside)
with Server("--model", model, "--calibration", aside + "/m.calibration", *options) as s:
    got = s.json("POST", "/predictions/m", data)[1]
    check("a calibration may lie elsewhere", got.get("p_value") == alone["p_value"], got)
shutil.rmtree(aside)
refused(2, "not calibrated", "--model", model, *options)

# Defects: the answer of vit-anomaly, by a bank that another model than the served one made.
os.mkdir(work + "/good")
for i in range(20):
    with open(f"{work}/good/{i}.png", "wb") as f:
        f.write(noise(i))
subprocess.run([BIN + "/vit-anomaly", "build", work + "/good", "-o", work + "/g.bank"], check=True,
               stdout=subprocess.DEVNULL)
alone = json.loads(subprocess.run([BIN + "/vit-anomaly", work + "/g.bank", "--json", picture],
                                  check=True, stdout=subprocess.PIPE).stdout)
with Server("--model", model, "--bank", work + "/g.bank", "--bank", f"other={work}/g.bank") as s:
    status, got = s.json("POST", "/v1/anomaly?bank=g", data)
    check("a defect", status == 200 and got.pop("bank") == "g" and got["defect"] and
          {**got, "file": 0} == {**alone, "file": 0}, got)
    body = {"image": base64.b64encode(noise(1)).decode(), "bank": "other", "alpha": .5, "png": True}
    status, got = s.json("POST", "/v1/anomaly", json.dumps(body).encode(),
                         {"Content-Type": "application/json"})
    check("a good one, with its heat map", status == 200 and not got["defect"] and
          base64.b64decode(got["png"]).startswith(b"\x89PNG"), got)
    for what, query in ((404, "bank=h"), (400, "alpha=.01"), (400, "alpha=x"), (400, "rate=1"),
                        (400, "alpha=2")):
        check(query, s.ask("POST", "/v1/anomaly?" + query, data)[0] == what)
    check("no picture", s.ask("POST", "/v1/anomaly", b"none")[0] == 415)
    for query, wanted in (("png", True), ("png=1", True), ("png=0", False), ("png=false", False)):
        got = s.json("POST", "/v1/anomaly?" + query, data)[1]
        check("?" + query, ("png" in got) == wanted, got)
    image = base64.b64encode(data).decode()
    for body, what in (({"image": image, "alpha": 1}, 400), ({"image": image, "png": False}, 200),
                       ({"image": image, "alpha": None}, 200), ({"image": [image] * 2}, 400),
                       ({"image": "x"}, 400), ({"image": image, "alpha": "x"}, 400)):
        got = s.json("POST", "/v1/anomaly", json.dumps(body).encode())
        check("%s" % list(body.values())[1:], got[0] == what and "png" not in got[1], got)
os.rename(work + "/g.bank", work + "/bank")
with Server("--model", model, "--bank", work + "/bank") as s:
    got = s.json("POST", "/v1/anomaly", data)[1]
    check("a bank's file without an ending", got["bank"] == "bank", got)
shutil.copy(model, work + "/other.safetensors")
subprocess.run([BIN + "/vit-anomaly", "build", work + "/good", "-o", work + "/o.bank", "--model",
                work + "/other.safetensors"], check=True, stdout=subprocess.DEVNULL)
os.remove(work + "/other.safetensors")
with Server("--model", "cifar10", "--model", model, "--bank", work + "/o.bank") as s:
    got = s.json("POST", "/v1/anomaly", data)
    check("a bank of a model that is served under another name", got[0] == 200, got)
refused(1, "other.safetensors", "--model", "cifar10", "--bank", work + "/o.bank")
refused(2, 'two banks are called "a"', "--bank", f"a={work}/bank", "--bank", f"a={work}/bank")
refused(1, "absent", "--bank", work + "/absent", "--bank", work + "/bank")
with Server("--model", model) as s:
    check("without a bank", s.ask("POST", "/v1/anomaly", data)[0] == 404)
serving.end()
