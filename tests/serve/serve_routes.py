"""vit-serve as the clients of KServe (V1, V2), TorchServe and Hugging Face ask it: what their
servers would answer; called by serve-routes.sh. scripts/check-serve has those clients."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

import serving
from serving import Server, check, classify, draw

work = tempfile.mkdtemp()
pictures = [draw(work, i) for i in range(3)]
data = [open(p, "rb").read() for p in pictures]
coded = [base64.b64encode(d).decode() for d in data]
os.environ.pop("VIT_MODELS", None)
JSON = {"Content-Type": "application/json"}
URL = "data:image/png;base64,"

LEVELS = [[(7 * i + 3 * j) % 256 for i in range(28)] for j in range(28)]  # rows of pixels
VALUES = [[(v / 255 - .1307) / .3081 for v in row] for row in LEVELS]


def wanted(i, *options):
    return json.loads(classify(pictures[i], *options))["predictions"]


def whole(i):
    """The object of vit-classify for a picture in JSON."""
    return {**json.loads(classify(pictures[i])), "file": "instances 0"}


def post(s, path, value, headers=JSON):
    return s.json("POST", path, json.dumps(value) if not isinstance(value, bytes) else value,
                  headers)


def refused(s, path, value, status, text):
    got = post(s, path, value)
    check("%s: %d, %s" % (path, status, text), got[0] == status and text in got[1]["error"], got)


def v1(s):
    """KServe's V1 protocol."""
    path = "/v1/models/mnist:predict"
    names = s.json("GET", "/v1/models")[1]["models"]
    check("/v1/models", names[0] == "mnist" and "cifar10" in names, names)
    check("/v1/models/mnist",
          s.json("GET", "/v1/models/mnist") == (200, {
              "name": "mnist", "ready": True, "id": "mnist", "object": "model", "created": 0,
              "owned_by": "vit-serve"}))
    check("of a model that is not there", s.ask("GET", "/v1/models/x")[0] == 404 and
          post(s, "/v1/models/x:predict", {"instances": [coded[0]]})[0] == 404)
    for name, picture in (("b64", {"b64": coded[0]}), ("a string", coded[0]),
                          ("image_bytes", {"image_bytes": {"b64": coded[0]}, "key": "1"}),
                          ("data", {"data": coded[0]}), ("data URL", "data:image/png;base64," +
                                                         coded[0])):
        got = post(s, path, {"instances": [picture]})
        check("V1: " + name, got == (200, {"predictions": [whole(0)]}), got)
    refused(s, path + "?top=x", {"instances": [coded[0]]}, 400, "top=x")
    got = post(s, path + "?logits=1", {"instances": [coded[0]], "parameters": {"logits": False}})
    check("V1: the body's options count", got == (200, {"predictions": [whole(0)]}), got)
    got = post(s, path, {"instances": [{"b64": c} for c in coded], "parameters": {"top": 1}})
    check("V1: several, with an option", got[0] == 200 and
          [p["predictions"] for p in got[1]["predictions"]] ==
          [wanted(i, "--top", "1") for i in range(3)], got)
    got = post(s, path, {"instances": [{"b64": coded[0]}, {"b64": "aGVsbG8="}]})
    check("V1: one of two that is no picture", got[0] == 200 and
          got[1]["predictions"][0]["predictions"] == wanted(0) and
          "error" in got[1]["predictions"][1], got)
    for name, body in (("an instance that is none", {"instances": [{"input": coded[0]}]}),
                       ("no list", {"instances": coded[0]}), ("an empty list", {"instances": []}),
                       ("no instances", {"inputs": coded[0]})):
        got = post(s, path, body)
        check("V1: " + name, got[0] == 400 and "error" in got[1], got)
    refused(s, path, {"instances": [coded[0]] * 65}, 413, "more than 64")
    refused(s, path, {"instances": [LEVELS] * 65}, 413, "more than 64")


def arrays(s):
    """Arrays of numbers in JSON: short ones and long ones are read in two ways."""
    path = "/v1/models/mnist:predict?logits=1"

    def logits(value):
        status, got = post(s, path, value)
        return [p["logits"] for p in got["predictions"]] if status == 200 else got

    infer = post(s, "/v2/models/mnist/infer", {
        "inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [1, 28, 28, 1],
                    "data": sum(LEVELS, [])}], "outputs": [{"name": "logits"}]})
    truth = infer[1]["outputs"][0]["data"]
    last = [[[v] for v in row] for row in LEVELS]
    for name, value in (("[height, width]", [LEVELS] * 2),
                        ("[height, width, 1]", [last, last]),
                        ("named pixels", [{"pixels": LEVELS}] * 2)):
        got = logits({"instances": value})
        check("pixels: " + name, got == [truth, truth], (got, truth))
    values = post(s, "/v2/models/mnist/infer", {
        "inputs": [{"name": "pixel_values", "datatype": "FP32", "shape": [1, 1, 28, 28],
                    "data": sum(VALUES, [])}], "outputs": [{"name": "logits"}]})
    truth = values[1]["outputs"][0]["data"]
    for name, value in (("[1, height, width]", [[VALUES]]),
                        ("named pixel_values", [{"pixel_values": [VALUES]}]),
                        ("TorchServe's data", [{"data": [VALUES]}])):
        got = logits({"instances": value})
        check("values: " + name, got == [truth], (got, truth))
    texts = ["[[%s]]" % ",".join("[" + ",".join(form % v for v in row) + "]" for row in VALUES)
             for form in ("%.5f", "%.5fe0", "%.5f00000000000000")]
    got = [logits(b'{"instances": [{"pixel_values": %s}]}' % t.encode()) for t in texts]
    check("values: short numbers are read as long ones", got[0] == got[1] == got[2] and
          max(abs(a - b) for a, b in zip(got[0][0], truth)) < .01, got)
    for name, value, text in (
            ("fractions as pixels", [VALUES], "whole numbers, 0 to 255"),
            ("pixels in the order of values", [[LEVELS]], "[height, width, channels]"),
            ("another size", [LEVELS[:27]], "shape [27, 28]: expected [28, 28, 1]"),
            ("rows of several lengths", [LEVELS[:27] + [[1]]], "rows of the same length"),
            ("four sides", [[last[:14]] * 2], "shape [2, 14, 28, 1]"),
            ("nine sides", [[[[[[[[[LEVELS]]]]]]]]], "rows of the same length"),
            ("a number alone", [5], "neither base64 nor an array"),
            ("a place beyond the body", [{"data": {"numbers": [9, 99999]}}], "neither base64"),
            ("a place before the body", [{"data": {"numbers": [-9, 2]}}], "neither base64"),
            ("numbers alone", [1, 2, 3], "neither base64 nor an array"),
            ("files and arrays", [coded[0], LEVELS], "both files and arrays"),
            ("pixels and values", [{"data": LEVELS}, {"data": [VALUES]}], "both pixels and")):
        refused(s, path, {"instances": value}, 400, text)
    small = json.loads("[" + ",".join(["[" + ",".join(["0"] * 28) + "]"] * 28) + "]")
    got = post(s, "/v1/models/mnist:predict", {"instances": [small]})
    check("named pixel_values, whole numbers may be far from 0",
          post(s, path, {"instances": [{"pixel_values": [LEVELS]}]})[0] == 200 and got[0] == 200)
    steps = [[[(i + j) % 3 for i in range(28)] for j in range(28)]]
    check("nor need those near 0 have a name", logits({"instances": [steps]}) ==
          logits({"instances": [{"pixel_values": steps}]}))
    with Server("--model", "tiny=tests/fixtures/published/hf_wrapped") as t:
        rows = [[[8 * i, 16 * j, 5] for i in range(32)] for j in range(16)]
        first = [[[p[c] / 255 / .5 - 1 for p in row] for row in rows] for c in range(3)]
        got = [post(t, "/v1/models/tiny:predict?logits=1", {"instances": [v]})[1]["predictions"][0]
               ["logits"] for v in (rows, first)]
        check("colours, in both orders", max(abs(a - b) for a, b in zip(*got)) < 1e-4, got)
        refused(t, "/v1/models/tiny:predict", {"instances": [[[0] * 32] * 16]}, 400, "[16, 32, 3]")


def torchserve(s):
    check("/ping", s.json("GET", "/ping") == (200, {"status": "Healthy"}))
    models = s.json("GET", "/models")[1]["models"]
    check("/models", models[0]["modelName"] == "mnist", models)
    for path in "/models/mnist", "/models/mnist/1.0":
        got = s.json("GET", path)
        check("GET " + path, got[0] == 200 and got[1][0]["modelVersion"] == "1.0" and
              got[1][0]["workers"][0]["status"] == "READY", got)
    check("GET /models/x", s.ask("GET", "/models/x")[0] == 404)
    got = s.ask("DELETE", "/models/mnist")
    check("DELETE: the methods of both routes",
          got[0] == 405 and got[1]["Allow"] == "POST, GET, HEAD", got)
    bytes_of = classify(pictures[0])
    for version in "1", "1.0":
        got = s.ask("POST", "/predictions/mnist/" + version, data[0])
        check("version " + version, got[0] == 200 and got[2] == bytes_of, got)
    got = s.json("POST", "/predictions/mnist/2.0", data[0])
    check("version 2.0", got[0] == 404 and 'no version "2.0"' in got[1]["error"], got)
    check("V2's version 7", s.ask("GET", "/v2/models/mnist/versions/7")[0] == 404)
    lines = base64.encodebytes(data[0]).decode()
    safe = base64.urlsafe_b64encode(data[0]).decode()
    check("the alphabets differ", safe != coded[0])
    for name, code in (("in lines", lines), ("with CR LF", lines.replace("\n", "\r\n")),
                       ("url-safe", safe), ("without padding", safe.rstrip("=")),
                       ("a URL, in lines", "data:image/png;base64,\n" + lines)):
        for path, body, want in (
                ("/predictions/mnist", {"data": code}, whole(0)),
                ("/v1/models/mnist:predict", {"instances": [code]}, {"predictions": [whole(0)]})):
            got = post(s, path, body)
            check(f"base64 {name}: {path}", got == (200, want), got)
        got = post(s, "/models/mnist", {"inputs": code})
        check(f"base64 {name}: /models", got[0] == 200 and got[1][0]["label"] ==
              whole(0)["predictions"][0]["label"], got)
    for name, code in (("one character alone", "QUJDA"), ("padding within", "QUJD=" + coded[0]),
                       ("too much padding", coded[0].rstrip("=") + "=====")):
        got = post(s, "/predictions/mnist", {"data": code})
        check("base64 with " + name, got[0] == 400, got)
    for name, body in (("data", {"data": coded[0]}), ("body", {"body": coded[0]}),
                       ("null", {"data": coded[0], "parameters": {"top": None, "logits": None}})):
        for headers in JSON, {}:  # as with curl -d, which says nothing of JSON
            got = post(s, "/predictions/mnist", body, headers)
            check("TorchServe's {%s: base64}" % name, got == (200, whole(0)), got)
    got = post(s, "/predictions/mnist?top=2", {"instances": [{"data": c} for c in coded[:2]]})
    check("TorchServe's instances", got[0] == 200 and
          [p["predictions"] for p in got[1]["predictions"]] ==
          [wanted(i, "--top", "2") for i in range(2)], got)
    refused(s, "/predictions/mnist", {"picture": coded[0]}, 400, "no key \"picture\"")
    for path, body, key in (("/predictions/mnist", {"data": coded[0]}, "top"),
                            ("/v1/models/mnist:predict", {"instances": [coded[0]]}, "top"),
                            ("/models/mnist", {"inputs": coded[0]}, "top_k")):
        refused(s, path, {**body, "parameters": {"topk": 1}}, 400, "did you mean \"%s\"" % key)
        refused(s, path, {**body, key: 1}, 400, "\"%s\" is read in \"parameters\"" % key)


def forms(s):
    """Fields beside the picture."""
    def curl(path, *fields):
        run = ["curl", "-sS", s.url + path]
        for f in fields:
            run += ["-F", f]
        return json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)
    file = "data=@" + pictures[0]
    got = curl("/predictions/mnist", "user=me", file, "top=1", "note=")
    check("a form's options are read, other fields passed over",
          got[0]["predictions"] == wanted(0, "--top", "1"), got)
    got = curl("/models/mnist", "function_to_apply=sigmoid", file, "top_k=10", "note=1")
    check("by the names of their route", len(got[0]) == 10 and
          sum(p["score"] for p in got[0]) != 1, got)
    got = curl("/v1/explain", "method=rollout", file)
    check("a map's method", got.get("method") == "rollout", got)
    for path, fields, text in (
            ("/predictions/mnist", [file, "top=x"], "top=x"),
            ("/predictions/mnist?top=3", [file, "top=4"], "given twice"),
            ("/models/mnist", [file, "function_to_apply=relu"], "expected softmax"),
            ("/predictions/mnist", ["top=3"], "no picture"),
            ("/predictions/mnist", [file, "topk=3"], "did you mean top?"),
            ("/predictions/mnist?top=3", [file, "top=" + "4" * 40], 'as "3" and "4444'),
            ("/predictions/mnist", [file, "top=" + "1" * 2000], "too long")):
        got = curl(path, *fields)
        check("%s %s: %s" % (path, fields[-1][:20], text), text in got.get("error", ""), got)
    check("the same twice", "predictions" in curl("/predictions/mnist?top=3", file, "top=3")[0])


def nothing_given(s):
    """null for an option."""
    got = post(s, "/models/mnist", {"inputs": coded[0], "parameters": {
        "top_k": None, "function_to_apply": None}})
    check("null: Hugging Face", got[0] == 200 and len(got[1]) == 5, got)
    got = post(s, "/models/mnist", {"inputs": coded[0], "parameters": None})
    check("null: all parameters", got[0] == 200, got)
    got = post(s, "/v1/embeddings", {"input": coded[0], "model": None, "encoding_format": None})
    check("null: embeddings", got[0] == 200 and got[1]["model"] == "mnist", got)
    got = post(s, "/v1/explain", {"image": coded[0], "model": None, "method": None, "class": None,
                                  "layer": None, "head": None, "query": None, "steps": None,
                                  "pixels": None})
    check("null: a map", got[0] == 200 and got[1]["method"] == "relevance" and
          "input" not in got[1], got)


def v2(s):
    def infer(data, shape=(2,), **more):
        return post(s, "/v2/models/mnist/infer", {"inputs": [
            {"name": "pictures", "datatype": "BYTES", "shape": list(shape), "data": data,
             "parameters": {"binary_data_size": None}}], "parameters": None, **more})
    flat, nested = infer(coded[:2]), infer([[c] for c in coded[:2]], (2, 1))
    check("V2: nested pictures", nested[0] == 200 and nested == flat, nested)
    for value in "2", 0, -1, 1.5:
        got = infer(coded[:2], outputs=[{"name": "logits", "parameters":
                                         {"classification": value}}])
        check("V2: classification %r" % value, got[0] == 400, got)

    def pixels(values, shape):
        return post(s, "/v2/models/mnist/infer", {"inputs": [
            {"name": "pixels", "datatype": "UINT8", "shape": shape, "data": values}]})
    one = pixels(sum(LEVELS, []), [1, 28, 28, 1])
    for name, values in (("[28, 28]", LEVELS), ("[1, 28, 28]", [LEVELS]),
                         ("[1, 28, 28, 1]", [[[[v] for v in row] for row in LEVELS]])):
        check("V2: pixels nested as " + name, pixels(values, [1, 28, 28, 1]) == one)
    got = pixels([sum(LEVELS, [])[:392], sum(LEVELS, [])[392:]], [1, 28, 28, 1])
    check("V2: nested otherwise than its shape", got[0] == 400 and "nested as" in got[1]["error"],
          got)
    got = post(s, "/v2/models/mnist/infer", {"inputs": [
        {"name": "pixel_values", "datatype": "FP32", "shape": [1, 1, 28, 28], "data": data}
        for data in ([[[[[v] for v in row] for row in VALUES]]],)]})
    same = post(s, "/v2/models/mnist/infer", {"inputs": [
        {"name": "pixel_values", "datatype": "FP32", "shape": [1, 1, 28, 28],
         "data": sum(VALUES, [])}]})
    check("V2: sides of 1 behind the last", got[0] == 200 and got == same, got)
    check("V2: ready", s.json("GET", "/v2/health/ready")[1]["ready"] is True)


def unknown_keys(s):
    """Each route refuses by name what it does not know, and what is of another type."""
    infer = "/v2/models/mnist/infer"
    picture = [{"name": "pictures", "datatype": "BYTES", "shape": [1], "data": coded[:1]}]
    for path, fine, near, right in (
            ("/predictions/mnist", {"data": coded[0]}, "dta", "data"),
            ("/v1/models/mnist:predict", {"instances": coded[:1]}, "instance", "instances"),
            ("/models/mnist", {"inputs": coded[0]}, "input", "inputs"),
            ("/v1/embeddings", {"input": URL + coded[0]}, "dimension", "dimensions"),
            ("/v1/explain", {"image": coded[0]}, "methd", "method"),
            ("/v1/teach", {"model": "mnist"}, "clases", "classes"),
            (infer, {"inputs": picture}, "output", "outputs"),
            ("/v2/repository/index", {"ready": True}, "redy", "ready")):
        check("%s as it should be" % path, post(s, path, fine)[0] == 200, post(s, path, fine))
        refused(s, path, {**fine, near: 1}, 400, 'no key "%s", did you mean "%s"?' % (near, right))
        check("%s with null for what is left out" % path,
              post(s, path, {**fine, right: fine.get(right)})[0] == 200)
        got = s.json("POST", path + "?other=1", json.dumps(fine), JSON)
        check("%s?other=1" % path, got[0] == 400 and "?other" in got[1]["error"], got)
    for path, value, text in (
            ("/models/mnist", {"inputs": coded[0], "parameters": 1}, "expected an object"),
            ("/models/mnist", {"inputs": coded[0], "parameters": {"top_k": "5"}}, "a whole number"),
            ("/predictions/mnist", {"data": coded[0], "parameters": {"logits": 1}}, "or false"),
            ("/predictions/mnist", {"data": coded[0], "parameters": {"top": 0}}, "number from 1"),
            ("/predictions/mnist", {"data": coded[0], "parameters": {"top": 1.5}}, "whole number"),
            ("/predictions/mnist", {"data": ""}, "empty"),
            ("/models/mnist", {"inputs": coded[0], "parameters": {"candidate_labels": [1] * 999}},
             '"candidate_labels": expected a list'),
            ("/v1/embeddings", {"input": URL + coded[0], "encoding_format": "x"}, "or \"base64\""),
            ("/v1/explain", {"image": coded[:2]}, "2 pictures"),
            ("/v1/teach", {"views": 17}, "from 1 to 16"),
            ("/v1/teach", {"classes": {"a": []}}, "is empty"),
            ("/v1/embeddings", {"input": URL + coded[0], "dimensions": "3"}, "a whole number"),
            ("/v1/embeddings", {"input": [{"txt": "a"}]}, 'no key "txt"'),
            ("/v1/explain", {"image": coded[0], "pixels": "yes"}, "true or false"),
            ("/v1/teach", {"classes": []}, '"classes": expected an object'),
            ("/v1/teach", {"model": 1}, '"model": expected a text'),
            ("/v1/teach", {"views": "2"}, '"views": expected a whole number'),
            ("/v1/models/mnist:predict", {"instances": [{"b64": coded[0], "top": 1}]}, '"top"'),
            ("/v1/models/mnist:predict", {"instances": [{"b64": "", "data": ""}]}, "several"),
            (infer, {"inputs": [{**picture[0], "parameters": {"binary": 1}}]}, 'no key "binary"'),
            (infer, {"inputs": picture, "outputs": [{"nam": 1}]}, 'no key "nam"'),
            (infer, {"inputs": picture, "id": 1}, '"id": expected a text')):
        refused(s, path, value, 400, text)


def openai(s):
    """models.list(), and retrieve() of a name with a slash: as openai's client sends them."""
    got = s.json("GET", "/v1/models")[1]
    check("models.list()", got["object"] == "list" and [m["id"] for m in got["data"]] ==
          got["models"] and {m["object"] for m in got["data"]} == {"model"}, got)
    for path in ("acme/tiny", "acme%2Ftiny"):
        got = s.json("GET", "/v1/models/" + path)
        check("retrieve(): " + path, got[0] == 200 and got[1]["id"] == "acme/tiny", got)
    for path in ("/models/acme/tiny", "/models/acme/tiny/1.0", "/v2/models/acme/tiny/ready"):
        check("a name with a slash: " + path, s.ask("GET", path)[0] == 200)
    for path in ("/models/acme", "/models/acme/tiny/2", "/v1/models/x/acme/tiny", "acme/tiny",
                 "/models/acme/tinys", "/models/xacme/tiny", "/models/acme/tiny/acme/tiny",
                 "/models/acme/tiny/" + "1" * 1100):
        check("not a name: " + path, s.ask("GET", path)[0] == 404, s.ask("GET", path))
    got = s.json("POST", "/v1/search?model=acme/tiny", data[0])
    check("in an argument", got[0] == 404 and "no index" in got[1]["error"], got)


def zero_shot(s):
    """As huggingface_hub's zero_shot_image_classification sends it."""
    labels = ["a dog", "a red bus", "seven"]
    for name in ("clip", "siglip"):
        path = "/models/acme/tiny" if name == "clip" else "/models/siglip"
        for template, given in (("This is a photo of {}.", {}),
                                ("{} in the snow", {"hypothesis_template": "{} in the snow"})):
            got = post(s, path, {"inputs": coded[0],
                                 "parameters": {"candidate_labels": labels, **given}})
            alone = json.loads(classify(pictures[0], "--model", "tests/fixtures/words/" + name,
                                        "--labels", ",".join(labels), "--template", template,
                                        "--top", "3"))["predictions"]
            check("zero-shot of %s: %s" % (name, template), got[0] == 200 and
                  [a["label"] for a in got[1]] == [a["label"] for a in alone] and
                  all(abs(a["score"] - b["probability"]) < 1e-5 for a, b in zip(got[1], alone)),
                  (got, alone))
    for given, text in (({"candidate_labels": []}, "1 to 1000"),
                        ({"candidate_labels": ["a", "a"]}, "twice"),
                        ({"candidate_labels": ["a", 1]}, "no text"),
                        ({"candidate_labels": ["a", ""]}, "or empty"),
                        ({"candidate_labels": list(map(str, range(1001)))}, "1 to 1000"),
                        ({"candidate_labels": "a,b"}, "expected a list"),
                        ({"candidate_labels": ["a"], "hypothesis_template": "x"}, "{}"),
                        ({"hypothesis_template": "{}"}, "without"),
                        ({"candidate_labels": ["a"], "function_to_apply": "none"}, "with")):
        refused(s, "/models/siglip", {"inputs": coded[0], "parameters": given}, 400, text)
    refused(s, "/models/mnist", {"inputs": coded[0], "parameters": {"candidate_labels": ["a"]}},
            400, "reads no texts")


    got = post(s, "/models/siglip", {"inputs": [coded[0], "aGVsbG8="], "parameters": {
        "candidate_labels": labels, "top_k": 1}})
    check("of two, one that is no picture", got[0] == 200 and len(got[1][0]) == 1 and
          "error" in got[1][1], got)


def words(s):
    """Texts among pictures, and Immich's."""
    def rows(value):
        got = post(s, "/v1/embeddings", {"model": "acme/tiny", "input": value})
        return [row["embedding"] for row in got[1]["data"]] if got[0] == 200 else got
    got = rows(["a dog", URL + coded[0], {"text": "a dog"}, {"image": coded[0]}])
    check("texts and pictures in one list", got[0] == got[2] != got[1] == got[3] and
          got[1:2] == rows(URL + coded[0]) and got[:1] == rows("a dog"), got)
    refused(s, "/v1/embeddings", {"model": "acme/tiny", "input": ["a", ""]}, 400, "text 1 is empty")
    refused(s, "/v1/embeddings", {"model": "x" * 300, "input": "a"}, 404, "no model is called")

    def immich(**fields):
        entries = json.dumps({"clip": {"textual": {"modelName": "acme/tiny"}}})
        form = [w for k, v in {"entries": entries, **fields}.items() for w in ("-F", f"{k}={v}")]
        return json.loads(subprocess.run(["curl", "-sS", *form, s.url + "/predict"],
                                         stdout=subprocess.PIPE, check=True).stdout)
    said = json.loads(immich(text="a dog")["clip"])
    length = sum(v * v for v in got[0]) ** .5
    check("Immich's words", all(abs(a - b / length) < 1e-6 for a, b in zip(said, got[0])), said)
    check("Immich, no words", 'no field "text"' in immich()["error"])
    check("Immich, an empty text", "is empty" in immich(text="")["error"])


def parts_without_names(s):
    """Parts of a form that are pictures though they have no file's name."""
    part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    head = {"Content-Type": "multipart/form-data; boundary=b"}
    for name, kind in (("its bytes", b""), ("its type", b"\r\nContent-Type: image/png; x=y"),
                       ("no type", b"\r\nContent-Type: application/octet-stream")):
        got = s.json("POST", "/predictions/mnist", part % (b"data", kind, data[0]) +
                     part % (b"top", b"", b"1") + b"--b--\r\n", head)
        check("a part without a file's name, by " + name, got[0] == 200 and
              got[1][0]["predictions"] == wanted(0, "--top", "1"), got)
    got = s.json("POST", "/predictions/mnist", part % (b"note", b"", b"seven") + b"--b--\r\n", head)
    check("a text is no picture", got[0] == 400 and "no picture" in got[1]["error"], got)


with Server("--teach", "--model", "mnist", "--model", "acme/tiny=tests/fixtures/words/clip",
            "--model", "tests/fixtures/words/siglip") as server:
    unknown_keys(server)
    openai(server)
    zero_shot(server)
    words(server)
    parts_without_names(server)
with Server() as server:
    v1(server)
    arrays(server)
    torchserve(server)
    forms(server)
    nothing_given(server)
    v2(server)
    counted = server.metrics()  # parse_metrics refuses a series that is there twice
    check("metrics of routes with one path", any("/models/*\"" in k for k in counted), counted)
with Server("--precision", "int8") as server:
    got = post(server, "/v1/models/mnist:predict", {"instances": [{"b64": c} for c in coded]})
    answers = [p["predictions"] for p in got[1]["predictions"]]
    check("in int8, all pictures at once", got[0] == 200 and answers ==
          [wanted(i, "--precision", "int8") for i in range(3)] and answers[0] != wanted(0), got)
shutil.rmtree(work)
serving.end()
