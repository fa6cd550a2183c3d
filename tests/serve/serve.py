"""vit-serve as its clients meet it; called by serve.sh."""
import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "tests/support")
import serving  # noqa: E402
from serving import (SECONDS, Server, check, classify, draw, grey_png, receive,  # noqa: E402
                     refused, until)

work = tempfile.mkdtemp()
pictures = [draw(work, i) for i in range(12)]
data = [open(p, "rb").read() for p in pictures]
os.environ.pop("VIT_MODELS", None)


def form(parts):
    """The body and header of a form of (name, file, bytes)."""
    body = b"".join(b'--frontier\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n'
                    b"Content-Type: image/png\r\n\r\n%s\r\n" % (n.encode(), f.encode(), d)
                    for n, f, d in parts)
    return (body + b"--frontier--\r\n",
            {"Content-Type": "multipart/form-data; boundary=frontier"})


def pairs():
    """A directory with pairs of texts to learn from."""
    os.makedirs(os.path.join(work, "given", "pairs"))
    with open(os.path.join(work, "given", "pairs", "pairs.tsv"), "w") as f:
        words = "one two three four five six".split()
        f.writelines("%s and %s\t%s und %s\n" % (a, b, b, a) for a in words for b in words)
    return os.path.join(work, "given")


def usage():
    refused(2, "did you mean --port?", "--prt", "1")
    refused(2, "--port: 70000 is out of range", "--port", "70000")
    refused(2, "is no address", "--host", "example.invalid")
    refused(2, "is no name, expected one without", "--model", "mnist", "--allow-host",
            "a.example:80")
    for origin in "*", "example.org", "https://example.org/", "https://a b", "://a", "https://", \
            "https://*.example.org":
        refused(2, "is no origin, expected a scheme", "--model", "mnist", "--allow-origin", origin)
    refused(2, "two models are called mnist", "--model", "mnist", "--model", "mnist")
    refused(2, "nothing before '='", "--model", "=mnist")
    refused(2, "the name is missing", "--bank", "=good.bank")
    refused(1, "no model \"absent\"", "--model", "absent")
    refused(1, "absent", "--index", work + "/absent")
    refused(2, "is of one --model", "--calibration", work + "/c", "--coverage", "0.9")
    refused(2, "is for --teach", "--keep-teachings", work)
    for net in "10.0.0.0/33", "10.0.0.0/x", "::1/129", "example", "1" * 60:
        refused(2, "no address and no net", "--trusted-proxy", net)
    texts = os.path.join(work, "texts.safetensors")
    subprocess.run([os.path.join(serving.BUILD, "bin", "vit-train"), "--data", "pairs", "--steps",
                    "1", "--set", "dim=32", "--set", "depth=1", "--out", texts, "--overwrite"],
                   cwd=pairs(), check=True, capture_output=True)
    refused(1, "texts: ", "--model", texts)
    refused(1, "keys", "--key-file", work + "/keys")
    for text, why in (("# a key\nabc\n", "the key in line 2 has 3 characters, expected 16"),
                      ("0123456789abcde\u00f6", "not visible ASCII"),
                      ("0123456789 abcdef", "not visible ASCII"),
                      ("0123456789abcdef\x7f", "not visible ASCII"), ("# none\n", "holds no key")):
        with open(work + "/wrong", "w", encoding="utf-8") as f:
            f.write(text)
        refused(1, why, "--key-file", work + "/wrong")
    with Server() as s:
        refused(1, "cannot listen on 127.0.0.1", "--port", str(s.port))
    help_text = subprocess.run([serving.SERVE, "--help"], capture_output=True, text=True).stdout
    check("--help is at most 80 columns wide",
          max(map(len, help_text.splitlines())) in range(20, 81))


def answers(s):
    """What clients of other servers send, and the bytes of vit-classify."""
    def curl(*arguments):
        return subprocess.run(["curl", "-sS", *arguments], stdout=subprocess.PIPE).stdout

    check("GET /health", s.json("GET", "/health") == (200, {"status": "ok"}))
    wanted = classify(pictures[0])
    got = curl("-X", "POST", s.url + "/predictions/mnist", "-T", pictures[0])
    check("TorchServe's curl -X POST -T has vit-classify's bytes", got == wanted, got)
    check("curl -T, a PUT", curl(s.url + "/predictions/mnist", "-T", pictures[0]) == wanted)
    got = curl("--data-binary", "@" + pictures[0], s.url + "/predictions/mnist?top=10&logits=1")
    check("?top and ?logits", got == classify(pictures[0], "--top", "10", "--logits"), got)
    got = json.loads(curl("--data-binary", "@" + pictures[0], s.url + "/models/mnist"))
    top = json.loads(classify(pictures[0], "--top", "5"))["predictions"]
    check("Hugging Face's [{label, score}]",
          got == [{"label": p["label"], "score": p["probability"]} for p in top], got)
    chunked = curl("-X", "POST", "-H", "Transfer-Encoding: chunked", "--data-binary",
                   "@" + pictures[0], s.url + "/predictions/mnist")
    check("a chunked body", chunked == wanted, chunked)
    status, _, text = s.ask("HEAD", "/health")
    check("HEAD has no body", (status, text) == (200, b""))


def alone():
    """The program by itself, without a file beside it."""
    away = os.path.join(work, "away", "bin")
    os.makedirs(away)
    program = shutil.copy(serving.SERVE, away)
    with Server(program=program, cwd=away) as s:
        models = [m["name"] for m in s.json("GET", "/v2/models")[1]["models"]]
        shipped = {f[:-len(".safetensors")] for f in os.listdir("models")
                   if f.endswith(".safetensors")}
        check("the program alone has the shipped models, mnist first",
              set(models) == shipped and models[0] == "mnist", models)
        check("and answers by them", s.ask("POST", "/predictions/mnist", data[0])[2] ==
              classify(pictures[0]))
        s.send_signal(signal.SIGHUP)
        check("and reads them again",
              s.settle('vit_reloads_total{result="succeeded"}', len(models)))
    for where in "empty", "same":  # of which nothing is served, and it is read all the same
        os.makedirs(os.path.join(work, where))
        os.makedirs(os.path.join(work, "away", "models"), exist_ok=True)
        if where == "same":
            shutil.copy("models/mnist.safetensors", os.path.join(work, where))
            shutil.copy("models/mnist.safetensors", os.path.join(work, "away", "models"))
        with Server(program=program, env={**os.environ, "VIT_MODELS": os.path.join(work, where)},
                    cwd=away) as s:
            check("a directory of models, " + where, s.ask("POST", "/predictions/mnist",
                                                           data[0])[0] == 200)
    shutil.rmtree(os.path.join(work, "away", "models"))
    with Server("--model", "digits=mnist", program=program, cwd=away) as s:
        check("by another name", s.ask("POST", "/predictions/digits", data[0])[0] == 200)
    refused(2, "no calibration: name its file", "--model", "mnist", "--coverage", "0.9",
            program=program, cwd=away)
    refused(1, 'no model "absent"', "--model", "absent", program=program, cwd=away)


def forms(s):
    """Several pictures in one request, answered in the order sent."""
    wanted = [json.loads(classify(p)) for p in pictures[:3]]
    for w, p in zip(wanted, pictures):
        w["file"] = os.path.basename(p)
    files = [a for p in pictures[:3] for a in ("-F", "data=@" + p)]
    got = subprocess.run(["curl", "-sS", *files, s.url + "/predictions/mnist"],
                         stdout=subprocess.PIPE).stdout
    check("curl -F, three pictures", json.loads(got) == wanted, got)
    got = s.json("POST", "/models/mnist", *form([("a", "x.png", data[0]), ("b", "y.png", b"no")]))
    check("a picture of several that is none is named, the rest are answered",
          got[0] == 200 and got[1][0][0]["label"] == wanted[0]["predictions"][0]["label"] and
          "y.png" in got[1][1]["error"], got)
    many = form([("a", "%d.png" % i, data[0]) for i in range(65)])
    check("more pictures than may be", s.json("POST", "/predictions/mnist", *many)[0] == 413)
    named = b"--b\r\nContent-Disposition: form-data; name=x"
    for name, body, text in (
            ("without an end", named + b"; filename=y\r\n\r\nz", "ends within a part"),
            ("without a part", b"--b--\r\n", "no picture"),
            ("without its boundary", b"hello", "does not begin"),
            ("of text", named + b"\r\n\r\nz\r\n--b--", "no picture"),
            ("without names", b"--b\r\n\r\nz\r\n--b--", "Content-Disposition"),
            ("with an attachment", named.replace(b"form-data", b"file") + b"\r\n\r\nz", "a name"),
            ("with a name that is long", named + b"x" * 200 + b"\r\n\r\nz\r\n--b--", "a name"),
            ("with two names", named + b"; name=y\r\n\r\nz\r\n--b--", "a name"),
            ("with a name in one quote", named[:-1] + b'"x\r\n\r\nz\r\n--b--', "a name"),
            ("with more than a name", named[:-1] + b'"x"y\r\n\r\nz\r\n--b--', "a name"),
            ("with a word alone", named + b"; y\r\n\r\nz\r\n--b--", "a name"),
            ("of many lines", named + b"\r\nX: y" * 20 + b"\r\n\r\nz\r\n--b--", "a name"),
            ("of a long line", named + b"\r\nX: " + b"y" * 2000 + b"\r\n\r\nz", "end in time"),
            ("with a zero byte", named + b"\0\r\n\r\nz\r\n--b--", "zero byte"),
            ("behind its boundary", b"--bc" + named[3:], "a line end"),
            ("with a field that has a zero byte", named.replace(b"=x", b"=top") +
             b"\r\n\r\n1\0\r\n--b--", "top: the field has a zero byte")):
        got = s.json("POST", "/predictions/mnist", body,
                     {"Content-Type": "multipart/form-data; boundary=b"})
        check("a form " + name, got[0] == 400 and text in got[1]["error"], got)
    for kind in ("", "; boundary", "; boundary=", '; boundary="b', "; boundary=" + "b" * 71,
                 "; boundary=b; boundary=b", '; boundary="' + "b" * 600 + '"'):
        got = s.json("POST", "/predictions/mnist", b"--b", {"Content-Type": "multipart/form-data" +
                                                            kind})
        check("a form without a boundary: %.20s" % kind,
              got[0] == 400 and "boundary" in got[1]["error"], got)
    got = s.json("POST", "/predictions/mnist", data[0], {"Content-Type": "multipart/form-datas"})
    check("another type is no form", got[0] == 200 and "file" in got[1], got)
    got = s.json("POST", "/predictions/mnist", named.replace(b"--b", b"--b \t", 1) +
                 b'; filename="a\\"b\\\\.png"\r\n\r\n' + data[0] + b"\r\n--b--",
                 {"Content-Type": "multipart/form-data; boundary=b"})
    check("quotes in a name, and spaces behind a boundary", got[0] == 200 and
          got[1][0]["file"] == 'a"b\\.png', got)

    coded = [base64.b64encode(d).decode() for d in data[:2]]
    got = s.json("POST", "/models/mnist", json.dumps({"inputs": coded[0], "parameters":
                                                      {"top_k": 2}}),
                 {"Content-Type": "application/json"})
    check("Hugging Face's JSON", got[0] == 200 and
          [p["label"] for p in got[1]] == [p["label"] for p in wanted[0]["predictions"][:2]], got)

    for name, total in (("softmax", lambda x: abs(x - 1) < 1e-3), ("Sigmoid", lambda x: x != 1)):
        got = s.json("POST", "/models/mnist", json.dumps(
            {"inputs": coded[0], "parameters": {"function_to_apply": name, "top_k": 10}}),
            {"Content-Type": "application/json"})
        check("function_to_apply " + name, got[0] == 200 and
              total(sum(p["score"] for p in got[1])), got)
    got = s.json("POST", "/models/mnist?function_to_apply=relu", data[0])
    check("an unknown function_to_apply", got[0] == 400 and "sigmoid" in got[1]["error"], got)

    def embed(**more):
        return s.json("POST", "/v1/embeddings", json.dumps({"model": "mnist", **more}))
    url = "data:image/png;base64,"
    got = embed(input=[url + c for c in coded])
    with open(pictures[1], "rb") as f:
        alone = json.loads(subprocess.run([serving.CLASSIFY, "--embed", "-"], stdin=f,
                                          stdout=subprocess.PIPE).stdout)["embedding"]
    check("/v1/embeddings has vit-classify --embed's numbers",
          got[0] == 200 and got[1]["data"][1] == {"object": "embedding", "index": 1,
                                                  "embedding": alone}, got)
    packed = embed(input=url + coded[1].rstrip("="), encoding_format="base64")[1]["data"][0]
    numbers = struct.unpack("<%df" % len(alone), base64.b64decode(packed["embedding"]))
    check("encoding_format base64", ["%.9g" % n for n in numbers] == ["%.9g" % n for n in alone])
    for value, text in (("http://127.0.0.1:1/x.png", "not fetched"),
                        ("file:///etc/passwd", "not fetched"),
                        ("data:image/png,xx", "not fetched"), ("data:;base64,@@@@", "not base64"),
                        ("data:;base64", "not fetched"), ("data:,x", "not fetched"),
                        ([], "is empty"), (7, "expected a text"), ([[]], "expected pictures")):
        got = embed(input=value)
        check("input %r is refused" % value, got[0] == 400 and text in got[1]["error"], got)
    got = embed(input=[url + coded[1]], dimensions=5, encoding_format="float")
    length = sum(n * n for n in alone[:5]) ** .5
    check("dimensions: the first ones, with length 1", got[0] == 200 and
          all(abs(a - b / length) < 1e-6
              for a, b in zip(got[1]["data"][0]["embedding"], alone[:5]))
          and len(got[1]["data"][0]["embedding"]) == 5, got)
    for value, text in ((0, "at least 1"), ("5", "whole number"), (10 ** 6, "are more than the")):
        got = embed(input=url + coded[0], dimensions=value)
        check("dimensions %r" % value, got[0] == 400 and text in got[1]["error"], got)
    parts = [{"image": coded[1]}, {"type": "image_url", "image_url": {"url": url + coded[1]}},
             url + coded[1]]
    got = embed(input=parts)
    check("pictures in several forms in one list", got[0] == 200 and
          [d["embedding"] for d in got[1]["data"]] == [alone] * 3, got)
    got = embed(input=[{"text": "a dog"}])
    check("a text", got[0] == 400 and "reads no texts" in got[1]["error"], got)

    def immich(entries, picture=data[1], fields=("image=@%s/immich.png" % work,)):
        fields = ["entries=" + json.dumps(entries)] * (entries is not None) + list(fields)
        with open(work + "/immich.png", "wb") as f:
            f.write(picture)
        out = subprocess.run(["curl", "-s", "-w", "\n%{http_code}",
                              *[word for field in fields for word in ("-F", field)],
                              "http://127.0.0.1:%d/predict" % s.port],
                             stdout=subprocess.PIPE).stdout.decode().rsplit("\n", 1)
        return int(out[1]), json.loads(out[0])
    visual = {"clip": {"visual": {"modelName": "mnist", "options": {}}}}
    got = immich(visual)
    length = sum(n * n for n in alone) ** .5
    check("Immich's /predict", got[0] == 200 and list(got[1]) == ["clip"] and
          all(abs(a - b / length) < 1e-6 for a, b in zip(json.loads(got[1]["clip"]), alone)), got)
    for entries, status, text in (
            ({"clip": {"textual": {"modelName": "mnist"}}}, 400, "\"text\""),
            ({"facial-recognition": {}}, 501, "facial-recognition"),
            ({"clip": {"visual": {"modelName": "x"}}}, 404, "x"), ({}, 400, "modelName"),
            ({"clip": {"textual": {"modelName": "x"}}}, 404, "no model"),
            ({"clip": "x" * 5000}, 413, "4096 bytes"), (None, 400, 'no field "entries"')):
        got = immich(entries)
        check("Immich: %s" % text, got[0] == status and text in got[1]["error"], got)
    for fields, text in (((), "no picture in the field"), (("image=a", "image=b"), "each once"),
                         (("picture=a",), "picture")):
        got = immich(visual, fields=fields)
        check("Immich, fields %s" % (fields,), got[0] == 400 and text in got[1]["error"], got)
    got = immich(visual, b"no picture")
    check("Immich: no picture", got[0] == 415, got)
    said = subprocess.run(["curl", "-s", "-H", "Content-Type:", "--data-binary", "x",
                           "http://127.0.0.1:%d/predict" % s.port],
                          stdout=subprocess.PIPE).stdout.decode()
    check("Immich: no Content-Type", "without a boundary" in said, said)

    check("an unknown model", embed(input=url + coded[0], model="x")[0] == 404)
    for body in b"", b"[]", b'{"input": ', b'{"a": 1, "a": 2}', b"[" * 5000:
        check("no JSON object: %r" % body[:12], s.json("POST", "/v1/embeddings", body)[0] == 400)


def maps(s):
    """/v1/explain."""
    coded = base64.b64encode(data[0]).decode()

    def explain(arguments="", **more):
        body = json.dumps({"image": coded, **more}) if more else data[0]
        kind = {"Content-Type": "application/json"} if more else {}
        return s.json("POST", "/v1/explain" + arguments, body, kind)

    label = json.loads(classify(pictures[0]))["predictions"][0]["label"]
    status, got = explain()
    check("relevance of the answer", status == 200 and got["method"] == "relevance" and
          got["label"] == label and got["grid"] == [7, 7] and len(got["map"]) == 49, got)
    status, other = explain("?class=%d&pixels=1" % ((got["class"] + 1) % 10))
    check("of another class, with the picture as the network sees it",
          other["map"] != got["map"] and other["input"]["shape"] == [28, 28, 1] and
          len(base64.b64decode(other["input"]["data"])) == 784, other)
    status, got = explain(model="mnist", method="attention", head="mean", query=5, layer=0)
    check("attention, as JSON", status == 200 and got["shape"] == [7, 7] and
          all(v >= 0 for v in got["map"]) and 0 < sum(got["map"]) <= 1.0001, got)
    status, got = explain("?method=attention")
    check("attention of all heads", got["shape"][1:] == [7, 7] and got["shape"][0] > 1, got)
    for query, text in (("?method=x", "is none"), ("?class=77", "neither a label"),
                        ("?query=49", "expected cls"), ("?layer=-1", "is not a whole number"),
                        ("?method=attention&layer=99", "99"), ("?steps=300", "at most 256"),
                        ("?steps=x", "is not a whole number"), ("?method=" + "x" * 99, "is none"),
                        ("?layer=1&layer=2", "?layer is given twice")):
        status, got = explain(query)
        check("explain%s: %s" % (query, text), status == 400 and text in got["error"], got)
    check("explain: an unknown model", explain("?model=x")[0] == 404)
    check("explain: no picture", s.json("POST", "/v1/explain", b"x" * 40)[0] == 415)


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def normalised(level, mean, std):
    """What preprocessing makes of a pixel, every step rounded to float32."""
    share = as_float(level / 255) - as_float(mean)
    return as_float(as_float(share) / as_float(std))


def floating():
    """Pictures that are resized in floating point are not rounded to bytes."""
    floats = "tests/fixtures/published/hf_dinov3_float"
    picture = "tests/fixtures/published/picture.png"
    with open(picture, "rb") as f, Server("--model", "floats=" + floats) as s:
        body = f.read()
        got = s.json("POST", "/v1/embeddings", json.dumps(
            {"model": "floats", "input": base64.b64encode(body).decode()}))
        for path, value in (("/predictions/floats", body), ("/v1/models/floats:predict", json.dumps(
                {"instances": [[[[0] * 3] * 16] * 24]}))):
            said = s.json("POST", path, value)
            check("a backbone has no classes: " + path, said[0] == 400 and
                  "without a head" in said[1]["error"], said)
        alone = subprocess.run([serving.CLASSIFY, "--model", floats, "--embed", picture],
                               stdout=subprocess.PIPE)
        check("pictures that are resized in floating point", got[0] == 200 and
              got[1]["data"][0]["embedding"] == json.loads(alone.stdout)["embedding"], got)


def colour():
    """The order of the channels: a wide picture, its values channel by channel."""
    with Server("--model", "wide=tests/fixtures/published/hf_wrapped") as s:
        levels = [(7 * i) % 256 for i in range(16 * 32 * 3)]
        floats = [normalised(levels[3 * i + c], .5, .5) for c in range(3) for i in range(16 * 32)]

        def logits(name, kind, shape, values):
            return s.json("POST", "/v2/models/wide/infer", json.dumps({"inputs": [
                {"name": name, "datatype": kind, "shape": shape, "data": values}],
                "outputs": [{"name": "logits"}]}))
        got = [logits("pixels", "UINT8", [1, 16, 32, 3], levels),
               logits("pixel_values", "FP32", [1, 3, 16, 32], floats)]
        check("colours, channel by channel", got[0][0] == 200 and got[0] == got[1], got)

    pictures = [pathlib.Path(f"tests/fixtures/image_exif_{i}.png").read_bytes() for i in (1, 6)]
    for turn, same in (("model", True), ("never", False)):
        with Server("--model", "hf=tests/fixtures/published/hf_4", "--exif-orientation", turn) as s:
            got = [s.json("POST", "/models/hf", picture) for picture in pictures]
            check(f"pictures of cameras, --exif-orientation {turn}",
                  got[0][0] == 200 and (got[0] == got[1]) == same, got)


def kserve(s):
    """The V2 protocol, without its client (scripts/check-serve has that)."""
    check("/v2/health/live", s.ask("GET", "/v2/health/live")[0] == 200)
    check("/v2/health/ready", s.ask("GET", "/v2/health/ready")[0] == 200)
    check("/v2/models/mnist/ready", s.ask("GET", "/v2/models/mnist/ready")[0] == 200)
    check("/v2/models/x/ready", s.ask("GET", "/v2/models/x/ready")[0] == 404)
    check("/v2", "binary_tensor_data" in s.json("GET", "/v2")[1]["extensions"])
    meta = s.json("GET", "/v2/models/mnist")[1]
    check("metadata", meta["inputs"] == [
        {"name": "pictures", "datatype": "BYTES", "shape": [-1]},
        {"name": "pixels", "datatype": "UINT8", "shape": [-1, 28, 28, 1]},
        {"name": "pixel_values", "datatype": "FP32", "shape": [-1, 1, 28, 28]}], meta)
    logits = [json.loads(classify(p, "--logits"))["logits"] for p in pictures[:3]]
    coded = [base64.b64encode(d).decode() for d in data[:3]]

    def infer(inputs, tail=b"", **more):
        text = json.dumps({"inputs": inputs, **more}).encode()
        status, headers, body = s.ask(
            "POST", "/v2/models/mnist/infer", text + tail,
            {"Inference-Header-Content-Length": str(len(text))} if tail else {})
        size = int(headers.get("Inference-Header-Content-Length", len(body)))
        return status, json.loads(body[:size]), body[size:]

    names = {"name": "pictures", "datatype": "BYTES", "shape": [3]}
    got = infer([{**names, "data": coded}], id="42", outputs=[{"name": "logits"}])
    check("pictures as JSON", got[0] == 200 and got[1]["id"] == "42" and
          got[1]["outputs"] == [{"name": "logits", "datatype": "FP32", "shape": [3, 10],
                                 "data": sum(logits, [])}], got)
    tail = b"".join(struct.pack("<I", len(d)) + d for d in data[:3])
    binary = [{**names, "parameters": {"binary_data_size": len(tail)}}]
    got = infer(binary, tail, outputs=[{"name": "logits", "parameters": {"binary_data": True}}])
    numbers = struct.unpack("<30f", got[2]) if len(got[2]) == 120 else ()
    check("pictures and logits as binary data", got[0] == 200 and
          ["%.9g" % n for n in numbers] == ["%.9g" % n for n in sum(logits, [])], got)
    got = infer(binary, tail, outputs=[{"name": "logits", "parameters": {"classification": 2}}])
    check("classification", got[1]["outputs"][0]["shape"] == [3, 2] and
          got[1]["outputs"][0]["data"][0].count(":") == 2, got)
    pixels = {"name": "pixels", "datatype": "UINT8", "shape": [1, 28, 28, 1]}
    got = infer([{**pixels, "data": [[[0] * 28] * 28]}])
    check("pixels as JSON", got[0] == 200 and len(got[1]["outputs"]) == 2, got)
    other = infer([{**pixels, "parameters": {"binary_data_size": 784}}], bytes(784))
    check("pixels as binary data", other[1]["outputs"] == got[1]["outputs"], other)
    values = {"name": "pixel_values", "datatype": "FP32", "shape": [2, 1, 28, 28]}
    levels = [0] * 784 + [i % 256 for i in range(784)]
    floats = [normalised(v, .1307, .3081) for v in levels]
    got = infer([{**values, "data": floats}], outputs=[{"name": "logits"}])
    same = infer([{**pixels, "shape": [2, 28, 28, 1], "data": levels}],
                 outputs=[{"name": "logits"}])
    check("normalised values: the bytes of their pixels", got[0] == 200 and got == same,
          (got, same))
    raw = {**values, "parameters": {"binary_data_size": 6272}}
    other = infer([raw], struct.pack("<1568f", *floats), outputs=[{"name": "logits"}])
    check("and as binary data", other == got, other)
    for name, status, text, call in (
            ("a value that is no number", 400, "value 1567 is not finite",
             ([raw], struct.pack("<1568f", *floats[:-1], float("nan")))),
            ("a value beyond FP32", 400, "finite as FP32",
             ([{**values, "data": floats[:-1] + [1e39]}],)),
            ("values in the order of pixels", 400, "expected the shape [n, 1, 28, 28]",
             ([{**values, "shape": [2, 28, 28, 1], "data": floats}],)),
            ("values called pixels", 400, "expected one",
             ([{**values, "name": "pixels", "data": floats}],)),
            ("too few pixels", 400, "783 bytes", ([{**pixels, "parameters":
                                                    {"binary_data_size": 783}}], bytes(783))),
            ("more binary data than there are", 400, "behind its JSON",
             ([{**pixels, "parameters": {"binary_data_size": 1 << 40}}], bytes(10))),
            ("a picture that ends early", 400, "within an element",
             ([{**names, "parameters": {"binary_data_size": 6}}], b"\xff\xff\xff\xff..")),
            ("another shape", 400, "expected the shape", ([{**pixels, "shape": [1, 1, 28, 28]}],)),
            ("a shape beyond counting", 413, "more than 64",
             ([{**pixels, "shape": [1 << 62, 28, 28, 1]}],)),
            ("pixels beyond a byte", 400, "0 to 255", ([{**pixels, "data": [256] * 784}],)),
            ("no input", 400, "expected one", ([],)),
            ("a size below zero", 400, "behind its JSON",
             ([{**pixels, "parameters": {"binary_data_size": -1}}], bytes(10))),
            ("a length that ends early", 400, "within an element",
             ([{**names, "parameters": {"binary_data_size": 3}}], bytes(3))),
            ("pictures without a byte", 400, "is empty",
             ([{**names, "parameters": {"binary_data_size": 0}}], bytes(3))),
            ("a picture that is none", 415, "pictures", ([{**names, "data": ["aGVsbG8="]}],)),
            ("a side with a fraction", 400, "expected the shape",
             ([{**pixels, "shape": [1, 28.0, 28, 1]}],)),
            ("inputs that are numbers", 400, '"inputs": expected a list', ({"numbers": [0, 1]},)),
            ("an unknown output", 400, "expected logits", ([{**names, "data": coded}],))):
        got = infer(*call, **({"outputs": [{"name": "x"}]} if "unknown" in name else {}))
        check(name, got[0] == status and text in got[1]["error"], got)
    for outputs, text in (([{"name": "logits"}] * 4, "each once"), ([{}], "expected logits"),
                          ([0] * 999, '"outputs": expected a list'),
                          ([{"name": "features", "parameters": {"classification": 1}}], "classes")):
        got = infer([{**names, "data": coded}], outputs=outputs)
        check("outputs %.50s" % outputs, got[0] == 400 and text in got[1]["error"], got)
    got = infer([{**names, "data": coded}], parameters={"binary_data_output": True}, outputs=[
        {"name": "logits", "parameters": {"binary_data": False}}, {"name": "features"}])
    check("binary data for one of two outputs", got[0] == 200 and
          got[1]["outputs"][0]["data"] == sum(logits, []) and len(got[2]) ==
          got[1]["outputs"][1]["parameters"]["binary_data_size"] > 0, got)
    for size in "x", "99999999":
        got = s.json("POST", "/v2/models/mnist/infer", b"{}",
                     {"Inference-Header-Content-Length": size})
        check("%s bytes of JSON" % size, got[0] == 400 and "at most 2" in got[1]["error"], got)


def refusals(s):
    """Status and sentence of what is not answered."""
    def refused(status, text, method, path, body=None, **headers):
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        got = s.json(method, path, body, headers)
        check("%s %s: %d, %s" % (method, path, status, text),
              got[0] == status and text in got[1]["error"], got)

    refused(404, "there is nothing here", "GET", "/../../etc/passwd")
    refused(404, "there is nothing here", "GET", "/predictions/mnist/../mnist")
    refused(404, 'no model is called "absent"', "POST", "/predictions/absent", data[0])
    refused(404, "no model is called", "POST", "/predictions/models%2Fmnist.safetensors", data[0])
    refused(404, "no model is called", "POST", "/predictions/mnist.safetensors", data[0])
    refused(405, "GET is not answered here", "GET", "/predictions/mnist")
    refused(400, "a body is not expected", "GET", "/health", b"x")
    refused(400, "empty", "POST", "/predictions/mnist", b"")
    refused(415, "-", "POST", "/predictions/mnist", b"8BPS no picture")
    refused(400, "-", "POST", "/predictions/mnist", data[0][:200])
    refused(415, "9000 x 9000 pixels", "POST", "/predictions/mnist", grey_png(9000, 9000))
    refused(400, "top=x", "POST", "/predictions/mnist?top=x", data[0])
    refused(400, "?topk: there is no such argument, did you mean ?top=...", "POST",
            "/predictions/mnist?topk=1", data[0])
    for count in 33, 1000, 5000:
        refused(400, "too many arguments", "POST",
                "/predictions/mnist?" + "&".join("a%d=%d" % (i, i) for i in range(count)), data[0])
    refused(403, "is not a name of this server", "GET", "/health", Host="evil.example")
    refused(403, "is not a name", "GET", "/health", Host="127.0.0.1.evil.example")
    refused(403, "is another site", "GET", "/health", Origin="http://evil.example")
    refused(403, "is another site", "GET", "/health", Origin="null")
    for host in ("", ":80", "[::1", "[::1]9", "[::1]:", "localhost:", "localhost:123456",
                 "localhost:1x", "a" * 300):
        refused(403, "is not a name of this server", "GET", "/health", Host=host)
    refused(404, "there is nothing here", "POST", "/predictions/" + "a" * 300, data[0])
    refused(404, "there is nothing here", "POST", "/predictions/", data[0])
    refused(400, "?top is given twice", "POST", "/predictions/mnist?top=1&logits&top=2", data[0])
    refused(400, "top_k=0", "POST", "/models/mnist?top_k=0", data[0])
    refused(404, "--teach", "DELETE", "/v1/teach/1")
    refused(404, "--teach", "POST", "/v1/teach/1", data[0])
    refused(404, "--teach", "POST", "/v1/teach", "{}")
    refused(404, "--index", "GET", "/v1/search/picture?row=1")
    refused(415, "-", "POST", "/predictions/mnist", b"  \r\n")
    refused(400, "0x00", "POST", "/predictions/mnist", b"\0{}")
    refused(400, "no key", "POST", "/predictions/mnist", b' \n{"dta": 1}')
    for host in "localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:9", "192.168.1.7":
        check("Host: " + host, s.ask("GET", "/health", headers={"Host": host})[0] == 200)
    check("a page of this server may ask",
          s.ask("GET", "/health", headers={"Host": "localhost:1",
                                           "Origin": "http://localhost:1"})[0] == 200)

    def raw(name, status, text, request):
        got = s.raw(request)
        check(name, got.startswith(b"HTTP/1.1 %d " % status) and text in got, got)

    line = b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n"
    raw("Content-Length twice", 400, b"more than once",
        line + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello")
    raw("Content-Length and Transfer-Encoding", 400, b"more than once",
        line + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    raw("an unknown Transfer-Encoding", 501, b"expected chunked",
        line + b"Transfer-Encoding: gzip\r\n\r\n")
    raw("Content-Length: -1", 400, b"", line + b"Content-Length: -1\r\n\r\n")
    raw("two Hosts", 403, b"is not a name", line + b"Host: evil\r\nContent-Length: 0\r\n\r\n")
    raw("no Host, for a health check", 200, b"ok", b"GET /health HTTP/1.0\r\n\r\n")
    raw("no Host in HTTP/1.1", 200, b"ok", b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
    raw("a page and no Host", 403, b"another site", b"GET /health HTTP/1.0\r\nOrigin: x\r\n\r\n")
    raw("no Host elsewhere", 403, b"is not a name",
        b"GET /v2/models HTTP/1.1\r\nConnection: close\r\n\r\n")
    check("no HTTP", s.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n") == b"")
    raw("a header without end", 431, b"", line + b"X: " + b"y" * 100000)
    headers = s.ask("GET", "/health")[1]
    check("headers that keep browsers from guessing",
          headers["X-Content-Type-Options"] == "nosniff" and
          "default-src 'none'" in headers["Content-Security-Policy"], headers)


def odd(s):
    """Requests as nobody writes them, yet HTTP has them, or some client sends them."""
    length = b"Content-Length: %d" % len(data[0])
    end = [b"Host: localhost", b"Connection: close"]
    post = b"POST /predictions/mnist HTTP/1.1"
    wanted = classify(pictures[0])
    chunk = b"%x\r\n%s\r\n" % (len(data[0]), data[0])
    single = b"".join(b"1;a=b\r\n%c\r\n" % c for c in data[0])

    def lines(first, fields=end, body=b""):
        return b"\r\n".join([first] + list(fields)) + b"\r\n\r\n" + body

    def raw(name, status, text, *request, answers=1):
        got = s.raw(lines(*request))
        check("odd: " + name, got.startswith(b"HTTP/1.1 %d " % status) and text in got and
              got.count(b"HTTP/1.1 ") == answers, got)
    chunked = end + [b"Transfer-Encoding: chunked"]
    raw("HTTP/1.0", 200, wanted, post[:-1] + b"0", [b"Host: localhost", length], data[0])
    raw("HTTP/1.0 in chunks", 400, b"not known in HTTP/1.0", post[:-1] + b"0", chunked, chunk)
    raw("HTTP/2", 505, b"", b"GET /health HTTP/2.0")
    raw("in chunks", 200, wanted, post, chunked, chunk + b"0\r\n\r\n")
    raw("in chunks of a byte", 200, wanted, post, chunked, single + b"0\r\nX: y\r\n\r\n")
    raw("chunks without a size", 400, b"", post, chunked, b"zz\r\n\r\n")
    raw("packed", 415, b"as it is", post, end + [length, b"Content-Encoding: gzip"], data[0])
    raw("not packed", 200, wanted, post, end + [length, b"Content-Encoding: identity"], data[0])
    raw("another type", 200, wanted, post, end + [length, b"Content-Type: text/html"], data[0])
    raw("a space before the colon hides no second request", 400, b"a space in its name", post,
        [b"Host: localhost", b"Content-Length : 50"], lines(b"GET /health HTTP/1.1"))
    raw("a CR alone hides no field", 400, b"a control character", post,
        [b"Host: localhost", b"X: a\rTransfer-Encoding: chunked", b"Content-Length: 5"],
        b"0\r\n\r\n" + lines(b"GET /health HTTP/1.1"))
    hidden = lines(b"GET /health HTTP/1.1")
    for name, field in (
            ("length", b"Content-Length:\r\n %d" % len(hidden)),
            ("length further on", b"Content-Length: %d\r\n\t1" % len(hidden)),
            ("encoding", b"Transfer-Encoding:\r\n chunked"), ("Host", b"Host:\r\n localhost"),
            ("last field", b"Connection: close\r\n x"), ("empty line", b"X: y\r\n  \r\nA: b"),
            ("field of ours", b"Authorization: Bearer\r\n x"), ("any", b"X-A:b\r\n\tc\r\n d")):
        raw("a folded " + name, 400, b"in the next line", post, [b"Host: localhost", field], hidden)
    for name, request in (("field without a colon", lines(b"GET /health HTTP/1.1", end + [b"foo"])),
                          ("header too long", lines(hidden[:20], end + [b"X: " + b"a" * 100000])),
                          ("chunk", lines(post, chunked, b"zz\r\n\r\n"))):
        got = s.raw(request)
        check("odd: JSON for a malformed " + name, got.count(b"HTTP/1.1 4") == 1 and
              b'{"error": "the ' in got and b"<html" not in got, got)
    raw("a zero byte behind a name", 400, b"zero byte", b"GET /v2/models/mnist%00x HTTP/1.1")
    raw("a name in percents", 200, b"pixel_values", b"GET /v2/models/%6d%6Eist HTTP/1.1")
    raw("a whole address", 200, b"ok", b"GET http://localhost:%d/health HTTP/1.1" % s.port)
    raw("of this server only", 403, b"is not an address", b"GET http://x.example/ HTTP/1.1")
    raw("a long one", 403, b"is not an address", b"GET http://%s/ HTTP/1.1" % (b"a" * 300))
    raw("no path in it", 200, b"<!doctype", b"GET HTTP://127.0.0.1 HTTP/1.1")
    raw("HEAD", 200, b"\r\n\r\n", b"HEAD /health HTTP/1.1")
    raw("OPTIONS", 204, b"Allow: POST, PUT\r\n", b"OPTIONS /predictions/mnist HTTP/1.1")
    raw("OPTIONS of nothing", 204, b"\r\n\r\n", b"OPTIONS /nothing HTTP/1.1")
    raw("the beginning of a method", 405, b"not answered here", b"GE /health HTTP/1.1")
    raw("a space in the address", 400, b"", b"GET /he alth HTTP/1.1")
    raw("a tab in a field", 200, b"ok", b"GET /health HTTP/1.1", end + [b"X: a\tb"])
    raw("a DEL in a field", 400, b"a control character", b"GET / HTTP/1.1", end + [b"X: \x7f"])
    for name, status, text, request in (
            ("HTTP/2", 505, b"expected HTTP/1.0 or", b"GET /health HTTP/2.0"),
            ("a long address", 414, b"is too long", b"GET /%s HTTP/1.1" % (b"a" * 99999))):
        got = s.raw(lines(b"GET /health HTTP/1.1", end[:1]) + lines(request))
        check("odd: %s after a request" % name, got.startswith(b"HTTP/1.1 200 ") and
              b"HTTP/1.1 %d " % status in got and text in got, got)
    raw("DELETE", 405, b"Allow: GET, HEAD\r\n", b"DELETE /health HTTP/1.1")
    raw("a method that is none", 405, b"not answered here", b"get /health HTTP/1.1")
    raw("an address beyond memory", 414, b"", b"GET /%s HTTP/1.1" % (b"a" * 100000))
    raw("a field beyond memory", 431, b"", b"GET / HTTP/1.1", end + [b"X: " + b"a" * 100000])
    raw("fields beyond memory", 431, b"", b"GET / HTTP/1.1", end + [b"X: a"] * 5000)
    got = s.raw(lines(post, [b"Host: localhost", length], data[0]) * 3 +
                lines(b"POST /models/mnist HTTP/1.1", end[:1] + [b"Content-Length: 3"], b"abc") +
                lines(post, end + [b"Content-Length: %d" % len(data[1])], data[1]))
    check("odd: five requests at once, in their order",
          [g[:3] for g in got.split(b"HTTP/1.1 ")[1:]] == [b"200"] * 3 + [b"415", b"200"] and
          got.count(wanted) == 3 and got.endswith(classify(pictures[1])), got)
    with socket.create_connection(("127.0.0.1", s.port), SECONDS) as c:
        c.sendall(lines(post, end + [length, b"Expect: 100-continue"]))
        got = c.recv(1000)
        c.sendall(data[0])
        check("odd: Expect: 100-continue", got == b"HTTP/1.1 100 Continue\r\n\r\n" and
              receive(c).endswith(wanted), got)
    raw("told before the upload", 413, b"expected at most", post,
        end + [b"Content-Length: 99999999", b"Expect: 100-continue"])
    raw("as many parts as a letter has words", 413, b"more than 64", post, *odd_form(
        [("a", "a", b"")] * 10000, end))
    raw("a part without a byte", 200, b"the file is empty", post, *odd_form([("a", "b", b"")], end))
    names = "\u00f6\u202e\U0001f600.png", "../../etc/passwd", "a" * 300
    for name in names[:2]:
        raw("a file called " + name, 200, json.dumps(name, ensure_ascii=False).encode(), post,
            *odd_form([("a", name, data[0])], end))
    raw("a name without an end", 400, b"", post, *odd_form([("a", names[2] * 9, data[0])], end))


def odd_form(parts, fields):
    """Fields and body of a form."""
    body, headers = form(parts)
    return fields + [b"Content-Length: %d" % len(body), *(
        ("%s: %s" % h).encode() for h in headers.items())], body


def slow(s, first, rest):
    """Sends a byte now and then until it is answered; returns the answer."""
    with socket.create_connection(("127.0.0.1", s.port), SECONDS) as c:
        def answered():
            if select.select([c], [], [], 0.2)[0]:
                return True
            c.sendall(rest)
            return False
        c.sendall(first)
        until(answered)
        return receive(c)


def limits():
    """Sizes and times."""
    head = b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
    with Server("--max-body", "20000", "--max-pixels", "1000") as s:
        got = s.raw(head + b"20001\r\nExpect: 100-continue\r\n\r\n")
        check("413 before the upload",
              got.startswith(b"HTTP/1.1 413 ") and b"100 Continue" not in got, got)

        def pushed():
            """What a client that has sent all before it reads is told."""
            try:
                return s.ask("POST", "/predictions/mnist", bytes(3000000))[0]
            except OSError:
                return None  # it lost two seconds on the way
        check("413 reaches who sends without waiting", 413 in (pushed() for _ in range(5)))
        got = s.raw(b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n" + b"4000\r\n" + bytes(0x4000) +
                    b"\r\n4000\r\n" + bytes(0x4000) + b"\r\n0\r\n\r\n")
        check("413 of a chunked body", got.startswith(b"HTTP/1.1 413 "), got)
        check("a picture of too many pixels",
              s.json("POST", "/predictions/mnist", grey_png(40, 40))[0] == 415)
    with Server("--timeout", "1") as s:
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            slows = {"body": pool.submit(slow, s, head + b"1000\r\n\r\n", b"x"),
                     "header": pool.submit(slow, s, head + b"1000\r\nX: ", b"y"),
                     "silent client": pool.submit(slow, s, b"", b"")}
            check("good clients go on beside slow ones",
                  until(lambda: s.ask("GET", "/health")[0] == 200))
            for name, future in slows.items():
                got = future.result()
                check("408 of a slow " + name, got.startswith(b"HTTP/1.1 408 "), got)
    with Server("--timeout", "0.5", "--delay", "10000") as s:
        got = s.json("POST", "/predictions/mnist", data[0])
        check("503 of what waits too long for its turn", got[0] == 503 and
              "had to wait too long" in got[1]["error"], got)
    with Server("--max-body", "8388608") as s:
        held = [socket.create_connection(("127.0.0.1", s.port), SECONDS) for _ in range(20)]
        for c in held:  # each takes 8 MiB, of 128 for all
            c.sendall(head + b"8388608\r\n\r\n" + bytes(4200000))
        told = select.select(held, [], [], SECONDS)[0]
        got = told[0].recv(1000) if told else b""
        check("503 where all bodies together are too long", got.startswith(b"HTTP/1.1 503 ") and
              b"no memory for the body" in got, got)
        for c in held:
            c.close()
        check("and not when they are gone", until(
            lambda: s.ask("POST", "/predictions/mnist", data[0])[0] == 200))


def crowds():
    """Connections; those that are accepted first come first."""
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with Server("--max-per-address", "6", "--timeout", "600") as s:
        held = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(6)]
        got = s.raw(health)
        check("429 where an address has its connections",
              got.startswith(b"HTTP/1.1 429 ") and b"Retry-After: 1" in got, got)
        for c in held:
            c.close()
        check("and not when they are closed", until(lambda: b" 200 " in s.raw(health)))
    with Server("--max-connections", "4", "--timeout", "600") as s:
        idle = http.client.HTTPConnection("127.0.0.1", s.port)
        idle.request("GET", "/health")
        idle.getresponse().read()
        held = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(3)]
        # It is idle soon after its answer is read.
        check("an idle connection makes room", until(lambda: b" 200 " in s.raw(health)))

        def refused():
            """With one more, which may have come before the one that was answered had ended."""
            held.append(socket.create_connection(("127.0.0.1", s.port)))
            got = s.raw(health)
            return got.startswith(b"HTTP/1.1 503 ") and b"Retry-After: 1" in got
        check("503 where all connections are taken", until(refused))
        got = [s.raw(health) for _ in range(80)]
        check("all of many are told", all(g.startswith(b"HTTP/1.1 503 ") for g in got), got)
        for c in held:
            c.close()
        idle.close()
    with Server("--max-connections", "3", "--timeout", "600") as s:
        idle = [http.client.HTTPConnection("127.0.0.1", s.port, timeout=SECONDS) for _ in range(3)]
        for c in idle:
            c.request("GET", "/health")
            c.getresponse().read()
            time.sleep(0.1)  # it is idle soon after its answer is read
        until(lambda: b" 200 " in s.raw(health))
        check("the longest idle one made room", idle[0].sock.recv(1) == b"")
        idle[2].request("GET", "/health")
        check("and not the others", idle[2].getresponse().status == 200)
        for c in idle:
            c.close()


def files_open():
    """As many connections as descriptors may be opened, if the limit can be raised."""
    with Server("--max-connections", "64", limits="ulimit -S -n 40;") as s:
        check("the limit of open files is raised", "files may be open" not in s.said(), s.said())


def keys():
    path = work + "/keys"
    with open(path, "w") as f:
        f.write("# who: what for\n0123456789abcdef\n\nfedcba9876543210\r\n")
    with Server("--key-file", path, "--allow-host", "vit.example", "--allow-origin",
                "https://page.example") as s:
        check("/health needs no key", s.ask("GET", "/health")[0] == 200)
        for key in (None, "Bearer x", "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0",
                    "Basic e"):
            headers = {} if key is None else {"Authorization": key}
            got = s.ask("POST", "/predictions/mnist", data[0], headers)
            check("401 with %s" % key,
                  got[0] == 401 and got[1]["WWW-Authenticate"] == "Bearer", got)
        for key in "0123456789abcdef", "fedcba9876543210":
            got = s.ask("POST", "/predictions/mnist", data[0], {"Authorization": "Bearer " + key})
            check("200 with a key", got[0] == 200, got)
        check("and no other", s.ask("GET", "/health", headers={"Host": "it.example"})[0] == 403)
        check("--allow-host", s.ask("GET", "/health", headers={"Host": "vit.example"})[0] == 200)
        got = s.ask("OPTIONS", "/predictions/mnist", headers={"Origin": "https://page.example"})
        check("a page of --allow-origin may ask",
              got[0] == 204 and got[1]["Access-Control-Allow-Origin"] == "https://page.example",
              got)


def proxies():
    """Limits and logs are of the clients of a proxy that was named, and of no other."""
    def ask(s, forwarded, status):
        got = s.ask("POST", "/predictions/mnist", data[0], {"X-Forwarded-For": forwarded})
        check("%s: %d" % (forwarded, status), got[0] == status, got)

    with Server("--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.1",
                "--trusted-proxy", "172.16.0.0/12", "--trusted-proxy", "2001:db8:8::/48",
                "--log", "json", "--max-per-address", "2", "--timeout", "600") as s:
        held = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(6)]
        for i, c in enumerate(held):
            c.sendall(b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n"
                      b"X-Forwarded-For: %s9.9.9.9\r\nX-Forwarded-For: 1.2.3.%d, 10.1.1.1\r\n"
                      b"Content-Length: 5\r\n\r\n" % (b"8.8.8.8, " * 60 * (i % 2), i // 2))
        check("a proxy has more connections than an address may",
              until(lambda: s.metrics().get("vit_connections") == 7))
        for forwarded, status in (("1.2.3.1", 429), ("7.7.7.7, 1.2.3.1:80, 10.2.3.4", 429),
                                  ("1.2.3.1\t, 172.31.0.1 , 2001:db8:8::1", 429),
                                  ("9.9.9.9, " * 99 + "1.2.3.1", 429),
                                  ("1.2.3.1, 172.32.0.1", 200), ("1.2.3.4, 8.8.8.8", 200),
                                  ("[2001:db8::7]:1", 200), ("[2001:db8::7", 200), ("::1", 200),
                                  ("10.0.0.1", 200), ("1.2.3.1,", 200), ("1" * 99, 200),
                                  ("unknown", 200)):
            ask(s, forwarded, status)
        for c in held:
            c.close()
        s.stop()
        lines = [json.loads(line) for line in s.said().splitlines()]
        clients = [line["client"] for line in lines if line["method"] == "POST"]
        others = {"8.8.8.8", "172.32.0.1", "2001:db8::", "::1", "127.0.0.1"}
        check("the log has the clients", {"1.2.3.1", *others} <= set(clients) <=
              {"1.2.3.%d" % i for i in range(3)} | others, clients)
    with Server("--log", "json") as s:
        ask(s, "8.8.8.8", 200)
        s.stop()
        check("nobody else says who asks", '"127.0.0.1"' in s.said() and "8.8.8.8" not in s.said(),
              s.said())


def openness():
    """Who listens to other machines without a key is warned."""
    for options, warned in ((["--host", "0.0.0.0"], True), ([], False),
                            (["--host", "localhost"], False), (["--host", "::1"], False),
                            (["--host", "0.0.0.0", "--key-file", work + "/keys"], False)):
        process = subprocess.Popen([serving.SERVE, *serving.UNBOXED, "--port", "0", "--model",
                                    "mnist", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.terminate()
        said = process.communicate()[1]
        check("%s: %s" % (options, "a warning" if warned else "none"),
              ("--key-file" in said) == warned, said)


def asked_for_health():
    """vit-serve --check"""
    def status(url):
        return subprocess.run([serving.SERVE, "--check", url], capture_output=True).returncode
    with Server("--key-file", work + "/keys") as s:
        check("--check of a server that answers", status(s.url) == status(s.url + "/ping") == 0)
        check("--check of a path with another answer", status(s.url + "/nothing") == 1)
        url = s.url
    check("--check of none", status(url) == 1)
    for url in ("127.0.0.1", "http://", "http://:80", "http://127.0.0.1:", "http://[::1",
                "http://127.0.0.1:123456789", "http://127.0.0.1:80x", "http://127.0.0.1/a b",
                "http://" + "1" * 99, "http://127.0.0.1/" + "a" * 300):
        refused(1, "expected a URL such as", "--check", url)
    refused(1, "is no address", "--check", "http://example.invalid/")
    with socket.create_server(("127.0.0.1", 0)) as other:
        def answer(text):
            with other.accept()[0] as c:
                c.recv(1000)
                c.sendall(text)
        for text, said in ((b"", "gives no answer"), (b"HTTP/1.1 ", "gives no answer"),
                           (b"SSH-2.0-OpenSSH_9\r\n", "gives no answer"),
                           (b"HTTP/1.1 503 Busy\r\n\r\n", "answers 503, expected 200")):
            thread = threading.Thread(target=answer, args=(text,))
            thread.start()
            refused(1, said, "--check", "http://127.0.0.1:%d/" % other.getsockname()[1])
            thread.join()


def version_6():
    """Addresses of IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        check("IPv6 # SKIP this system has none", True)
        return
    command = [serving.SERVE, *serving.UNBOXED, "--port", "0", "--model", "mnist", "--host", "::1",
               "--log", "text"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        url = p.stdout.readline().split()[-1]
        check("an address of IPv6 is in brackets", url.startswith("http://[::1]:"), url)
        check("--check of it", subprocess.run([serving.SERVE, "--check", url]).returncode == 0)
        got = subprocess.run(["curl", "-sgT", pictures[0], url + "/predictions/mnist"],
                             stdout=subprocess.PIPE).stdout
        check("and it answers", got == classify(pictures[0]), got)
        p.terminate()
        said = p.communicate()[1]
        check("the log has the client", " ::1 PUT /predictions/mnist 200 " in said, said)


def ending():
    with Server("--batch", "1") as s:
        half = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(3)]
        half[0].sendall(b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n")
        half[1].sendall(b"POST /predictions/mnist HTTP/1.1\r\nHost: localhost\r\n"
                        b"Content-Length: 1000\r\n\r\nabc")
        idle = http.client.HTTPConnection("127.0.0.1", s.port, timeout=SECONDS)
        idle.request("GET", "/health")
        idle.getresponse().read()
        s.send_signal(signal.SIGTERM)
        check("SIGTERM: nobody else is let in", s.closes())
        begun = time.monotonic()
        check("SIGTERM ends with 0", s.process.wait(SECONDS) == 0, s.said())
        check("long before the timeout of those who have not asked", time.monotonic() - begun < 15)
        got = [receive(c) for c in half]
        check("who are told so", all(g.startswith(b"HTTP/1.1 503 ") for g in got), got)
        idle.close()


def ignored_signals():
    """A signal that was ignored when it began stays so."""
    with Server(limits="trap '' INT;") as s:
        s.send_signal(signal.SIGINT)
        check("nohup's way of SIGINT", s.ask("GET", "/health")[0] == 200)
        check("SIGTERM still ends it", s.stop() == 0, s.said())


def no_numbers():
    """A model without numbers for some pictures fails for these alone, whoever asks too."""
    model = os.path.join(work, "none.safetensors")
    subprocess.run([sys.executable, os.path.join("tests", "cli", "no_numbers.py"),
                    os.path.join("models", "mnist.safetensors"), model], check=True)
    black = grey_png(28, 28)
    with Server("--model", model, "--delay", "10000", "--batch", "8") as s:
        def ask(i):
            return s.json("POST", "/predictions/none", data[0] if i % 2 else black)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(ask, range(8)))
        check("pictures without an answer are 500 and say why",
              all(g[0] == 500 and "answer is not finite" in g[1]["error"] for g in got[1::2]),
              got)
        check("those that came with them are answered",
              all(g[0] == 200 and g[1]["predictions"] for g in got[::2]), got)
        got = s.json("POST", "/v1/models/none:predict",
                     json.dumps({"instances": [[[255] * 28] * 28] * 8}))
        check("nor do pixels have one", got[0] == 500 and "not finite" in got[1]["error"], got)
        status, answer = s.json("POST", "/v1/explain?method=rollout", data[0])
        check("nor is there a map", status == 500 and "not finite" in answer["error"], answer)


usage()
with Server() as server:
    answers(server)
    forms(server)
    kserve(server)
    maps(server)
    refusals(server)
    odd(server)
colour()
floating()
alone()
limits()
crowds()
keys()
files_open()
asked_for_health()
version_6()
ignored_signals()
openness()
proxies()
no_numbers()
ending()
shutil.rmtree(work)
serving.end()
