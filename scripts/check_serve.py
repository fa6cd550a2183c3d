"""Asks a vit-serve through real clients: tritonclient, kserve, huggingface_hub, Prometheus' parser,
requests. Run by scripts/check-serve."""
import asyncio
import base64
import json
import os
import sys
import tempfile

import numpy as np
import requests
from huggingface_hub import InferenceClient
from kserve import InferInput, InferRequest
from kserve.inference_client import InferenceRESTClient, RESTConfig
import tritonclient.http as triton
from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, "tests/serve")
import serving
from serving import Server, check, classify, draw


def infer(client, binary, data):
    sent = triton.InferInput("pictures", [len(data)], "BYTES")
    sent.set_data_from_numpy(np.array(data, dtype=np.object_), binary_data=True)
    wanted = [triton.InferRequestedOutput(n, binary_data=binary)
              for n in ("logits", "probabilities", "features")]
    return client.infer("mnist", [sent], outputs=wanted, request_id="one")


def by_triton(s, data):
    client = triton.InferenceServerClient("127.0.0.1:%d" % s.port)
    check("live, ready", client.is_server_live() and client.is_server_ready())
    check("model ready", client.is_model_ready("mnist") and not client.is_model_ready("x"))
    check("server metadata", client.get_server_metadata()["name"] == "vit-serve")
    meta = client.get_model_metadata("mnist")
    check("model metadata", [i["name"] for i in meta["inputs"]] ==
          ["pictures", "pixels", "pixel_values"], meta)
    index = client.get_model_repository_index()
    check("repository index", "mnist" in [m["name"] for m in index], index)
    answers = [infer(client, binary, data) for binary in (True, False)]
    for name, shape in (("logits", (3, 10)), ("probabilities", (3, 10)), ("features", (3, 96))):
        a, b = (answer.as_numpy(name) for answer in answers)
        check("%s, binary and as JSON" % name,
              a.shape == shape and a.dtype == np.float32 and np.array_equal(a, b), (a, b))
    check("the request's id", answers[0].get_response()["id"] == "one")
    pixels = np.random.default_rng(1).integers(0, 256, (5, 28, 28, 1), dtype=np.uint8)
    several = []
    for binary in True, False:
        sent = triton.InferInput("pixels", list(pixels.shape), "UINT8")
        sent.set_data_from_numpy(pixels, binary_data=binary)
        several.append(client.infer("mnist", [sent], model_version="1").as_numpy("logits"))
    check("pixels, binary and as JSON", several[0].shape == (5, 10) and
          np.array_equal(*several), several)
    values = (pixels.astype(np.float32).transpose(0, 3, 1, 2) / 255 - .1307) / .3081
    for binary in True, False:
        sent = triton.InferInput("pixel_values", list(values.shape), "FP32")
        sent.set_data_from_numpy(values, binary_data=binary)
        several.append(client.infer("mnist", [sent]).as_numpy("logits"))
    check("normalised values, binary and as JSON",
          np.array_equal(several[2], several[3]) and np.allclose(several[2], several[0], atol=1e-4),
          several)
    sent = triton.InferInput("pixels", list(pixels.shape), "UINT8")
    sent.set_data_from_numpy(pixels)
    best = client.infer("mnist", [sent], outputs=[triton.InferRequestedOutput(
        "probabilities", class_count=3)]).as_numpy("probabilities")
    check("class_count", best.shape == (5, 3) and
          [int(b[0].decode().split(":")[1]) for b in best] == list(several[0].argmax(1)), best)
    try:
        client.infer("x", [sent])
        check("an unknown model is the client's exception", False)
    except triton.InferenceServerException as e:
        check("an unknown model is the client's exception", "no model is called" in str(e), e)
    waiting = [client.async_infer("mnist", [sent]) for _ in range(20)]
    check("async_infer", all(np.array_equal(w.get_result().as_numpy("logits"), several[0])
                             for w in waiting))


async def by_kserve(s, path, data):
    """KServe's client, in both of its protocols."""
    v1 = InferenceRESTClient(RESTConfig(protocol="v1"))
    check("kserve V1: model ready", await v1.is_model_ready(s.url, "mnist"))
    coded = base64.b64encode(data).decode()
    got = await v1.infer(s.url, {"instances": [{"image": {"b64": coded}}]}, "mnist")
    wanted = json.loads(classify(path))["predictions"]
    check("kserve V1: predictions", got["predictions"][0]["predictions"] == wanted, got)
    v2 = InferenceRESTClient(RESTConfig(protocol="v2"))
    check("kserve V2: live, ready", await v2.is_server_live(s.url) and
          await v2.is_server_ready(s.url) and await v2.is_model_ready(s.url, "mnist"))
    rows = []
    for binary in True, False:
        sent = InferInput("pixels", [1, 28, 28, 1], "UINT8")
        sent.set_data_from_numpy(np.arange(784, dtype=np.uint8).reshape(1, 28, 28, 1),
                                 binary_data=binary)
        got = await v2.infer(s.url, InferRequest("mnist", [sent]), "mnist")
        rows.append(got.outputs[0].as_numpy())
    check("kserve V2: binary and as JSON", rows[0].shape == (1, 10) and np.array_equal(*rows), rows)


def by_hugging_face(s, path):
    client = InferenceClient()
    wanted = json.loads(classify(path, "--top", "5"))["predictions"]
    got = client.image_classification(path, model=s.url + "/models/mnist")
    check("huggingface_hub", [(g.label, g.score) for g in got] ==
          [(w["label"], w["probability"]) for w in wanted], got)
    got = client.image_classification(path, model=s.url + "/models/mnist", top_k=10,
                                      function_to_apply="sigmoid")
    check("huggingface_hub: top_k, sigmoid", len(got) == 10 and sum(g.score for g in got) != 1, got)


def by_prometheus(s):
    families = {f.name: f for f in text_string_to_metric_families(
        requests.get(s.url + "/metrics", timeout=10).text)}
    check("Prometheus' parser reads /metrics", families["vit_stage_seconds"].type == "histogram" and
          families["vit_requests"].type == "counter", families)
    total = sum(x.value for x in families["vit_pictures"].samples if x.labels == {"model": "mnist"})
    check("and finds the pictures", total > 20, total)


def by_requests(s, paths):
    files = [("data", open(p, "rb")) for p in paths]
    got = requests.post(s.url + "/predictions/mnist", files=files, timeout=10).json()
    check("requests' files=", [g["file"] for g in got] == [os.path.basename(p) for p in paths], got)


with tempfile.TemporaryDirectory() as work, Server() as server:
    paths = [draw(work, i) for i in range(3)]
    by_triton(server, [open(p, "rb").read() for p in paths])
    by_requests(server, paths)
    asyncio.run(by_kserve(server, paths[0], open(paths[0], "rb").read()))
    by_hugging_face(server, paths[0])
    by_prometheus(server)
serving.end()
