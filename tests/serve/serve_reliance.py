"""vit-serve --coverage --unknown: the answers of vit-classify, and a martingale that finds pictures
which differ from those of the calibration; called by serve-reliance.sh."""
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import zlib

import serving
from serving import Server, check, draw

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
    name = 'vit_drift_martingale{model="m"}'
    check("the gauge begins near 1", .5 < float(s.metrics()[name]) < 2, s.metrics())
    for i in range(150):
        s.ask("POST", "/predictions/m", noise(i))
    check("pictures of noise are found", float(s.metrics()[name]) >= 100, s.metrics()[name])
    check("and told once", s.said().count("pictures differ from those") == 1, s.said())
with Server("--model", model) as s:
    got = s.json("POST", "/predictions/m", data)[1]
    check("not without the options", "set" not in got and "p_value" not in got, got)
os.rename(work + "/m.calibration", work + "/gone")
try:
    Server("--model", model, *options)
    check("a model that is not calibrated is refused", False)
except RuntimeError as error:
    check("a model that is not calibrated is refused", "not calibrated" in str(error), error)
serving.end()
