"""vit-serve --teach: /v1/teach, and the page in Chromium; called by serve-teach.sh."""
import base64
import hashlib
import io
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import zlib

sys.path.insert(0, "tests/support")
from chromium import Browser, find  # noqa: E402
from serving import SECONDS, Server, check, grey_png, refused, until  # noqa: E402

random.seed(2)
BIN = os.path.join(os.environ.get("BUILD", "build"), "bin")
MODELS = "models"


def png(level):
    """A picture of 24 x 24 grey pixels near the level."""
    rows = b"".join(b"\0" + bytes(max(0, min(255, level + random.randint(-30, 30)))
                                  for _ in range(24)) for _ in range(24))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 24, 24, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


LIGHT, DARK = [png(200) for _ in range(8)], [png(50) for _ in range(8)]
URL = "data:image/png;base64,"


def url(picture):
    return URL + base64.b64encode(picture).decode()


def form(pictures):
    part = b'--b\r\nContent-Disposition: form-data; name="p"; filename="%d.png"\r\n\r\n%s\r\n'
    body = b"".join(part % (i, p) for i, p in enumerate(pictures)) + b"--b--\r\n"
    return body, {"Content-Type": "multipart/form-data; boundary=b"}


def asked(server, method, path, body=None, headers=None):
    status, _, said = server.ask(method, path, body, headers)
    return status, json.loads(said)


def routes(s):
    status, said = asked(s, "POST", "/v1/teach", json.dumps(
        {"model": "mnist", "classes": {"light": [url(p) for p in LIGHT[:5]],
                                       "dark": [url(p) for p in DARK[:5]]}}))
    one = said["id"]
    check("one request teaches", status == 200 and said["learnt"]["accuracy"] == 1, said)
    check("the id cannot be guessed", len(one) == 32)
    status, said = asked(s, "POST", f"/v1/teach/{one}/answer", DARK[6])
    check("it answers", said["predictions"][0]["label"] == "dark", said)
    status, seen = asked(s, "POST", f"/v1/teach/{one}/explain", DARK[6])
    check("a map says where it looked", seen["label"] == "dark" and seen["input"]["shape"] ==
          [28, 28, 1] and len(seen["map"]) == seen["grid"][0] * seen["grid"][1], seen)
    check("the neighbours are dark", [n["label"] for n in said["neighbours"]] == ["dark"] * 5, said)

    status, said = asked(s, "POST", "/v1/teach", "{}")
    other = said["id"]
    body, headers = form(LIGHT)
    status, said = asked(s, "POST", f"/v1/teach/{other}?class=a", body, headers)
    check("a form adds pictures", said["classes"] == [{"name": "a", "pictures": 8}], said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/learn")
    check("one class is too few", status == 400 and "two or more" in said["error"], said)
    body, headers = form(DARK + LIGHT[:1] + [b"no picture"])
    status, said = asked(s, "POST", f"/v1/teach/{other}?class=b", body, headers)
    check("what fails is told", len(said["failed"]) == 1 and said["pictures"] == 17, said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/learn")
    doubted = said["learnt"]["suspects"]
    check("the picture in both classes is doubted", doubted and doubted[0]["picture"] in (0, 16),
          said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/forget?picture=16")
    check("a picture is forgotten", said["learnt"]["accuracy"] == 1 and said["pictures"] == 16,
          said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/correct?picture=0&class=c")
    check("a picture is corrected", [c["pictures"] for c in said["classes"]] == [7, 8, 1], said)
    status, said = asked(s, "GET", f"/v1/teach/{one}")
    check("two teachings do not mix",
          said["classes"] == [{"name": n, "pictures": 5} for n in ("light", "dark")], said)
    status, said = asked(s, "GET", "/v1/teach")
    check("the list has both, without their ids",
          sorted(t["pictures"] for t in said["teachings"]) == [10, 16] and one not in str(said),
          said)
    files(s, one)
    for path, what in ((f"/v1/teach/{'0' * 32}", 404), (f"/v1/teach/{one}/dance", 404),
                       (f"/v1/teach/{one}/forget?picture=99", 400),
                       (f"/v1/teach/{one}/forget", 400), (f"/v1/teach/{one}", 400),
                       (f"/v1/teach/{one}/forget?picture=", 400), (f"/v1/teach/{one}?class=", 400),
                       (f"/v1/teach/{one}/forget?picture=none", 404),
                       (f"/v1/teach/{one}/correct?picture=0", 400),
                       (f"/v1/teach/{one}/explain", 400), (f"/v1/teach/{one}/model", 405)):
        status, said = asked(s, "POST", path)
        check(f"{path[:10]}...{path[42:]} is refused with {what}", status == what, said)
    for word in "answer", "explain":
        status, said = asked(s, "POST", f"/v1/teach/{one}/{word}", *form(DARK[:2]))
        check(f"{word}: one picture", status == 400 and "2 pictures" in said["error"], said)
        status, said = asked(s, "POST", f"/v1/teach/{one}/{word}", b"8BPS no picture")
        check(f"{word}: no picture", status == 415, said)
        status, said = asked(s, "POST", f"/v1/teach/{one}/{word}", b"--b",
                             {"Content-Type": "multipart/form-data; boundary=b"})
        check(f"{word}: half a form", status == 400, said)
    fresh = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
    for method, word in (("POST", "explain"), ("GET", "model"), ("GET", "onnx")):
        status, said = asked(s, method, f"/v1/teach/{fresh}/{word}",
                             DARK[0] if method == "POST" else None)
        check(f"{word} before it has learnt", status == 400, said)
    check("its end", asked(s, "DELETE", f"/v1/teach/{fresh}")[0] == 200 and
          asked(s, "DELETE", f"/v1/teach/{fresh}")[0] == 404)
    check("of no model", asked(s, "POST", "/v1/teach", '{"model": "x"}')[0] == 404)
    check("GET of learn is refused", asked(s, "GET", f"/v1/teach/{one}/learn")[0] == 405)
    check("it is deleted", asked(s, "DELETE", f"/v1/teach/{one}")[1] == {"deleted": True} and
          asked(s, "GET", f"/v1/teach/{one}")[0] == 404)
    asked(s, "DELETE", f"/v1/teach/{other}")


def files(s, one):
    with tempfile.TemporaryDirectory() as folder:
        path, picture = os.path.join(folder, "m.safetensors"), os.path.join(folder, "p.png")
        status, _, model = s.ask("GET", f"/v1/teach/{one}/model")
        open(path, "wb").write(model)
        open(picture, "wb").write(DARK[7])
        run = subprocess.run([BIN + "/vit-classify", "--model", path, "--json", picture],
                             capture_output=True, text=True)
        there = json.loads(run.stdout)["predictions"][0]
        here = asked(s, "POST", f"/v1/teach/{one}/answer", DARK[7])[1]["predictions"][0]
        check("the model file answers the same", there["label"] == here["label"] == "dark" and
              abs(there["probability"] - here["probability"]) < 1e-5, (there, here))
        loaded(s, model, here)
        status, _, onnx = s.ask("GET", f"/v1/teach/{one}/onnx")
        check("ONNX is given", status == 200 and len(onnx) > 100000 and b"vit" in onnx[:200],
              status)
        status, _, tar = s.ask("GET", f"/v1/teach/{one}/pytorch")
        names = tarfile.open(fileobj=io.BytesIO(tar)).getnames() if status == 200 else []
        check("PyTorch's files are given", names == [
            "model/model.safetensors", "model/config.json", "model/model.py"], (status, names))


def loaded(s, model, answer):
    other = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
    status, said = asked(s, "POST", f"/v1/teach/{other}/load", model)
    check("a model file is loaded", status == 200 and said["pictures"] == 0 and
          [c["name"] for c in said["classes"]] == ["light", "dark"] and
          said["learnt"]["pictures"] > 0, said)
    again = asked(s, "POST", f"/v1/teach/{other}/answer", DARK[7])[1]["predictions"][0]
    check("and answers as before", again == answer, (again, answer))
    asked(s, "POST", f"/v1/teach/{other}?class=light", LIGHT[0])
    status, said = asked(s, "POST", f"/v1/teach/{other}/learn")
    check("to learn anew it needs pictures of each class",
          status == 400 and "no pictures of dark" in said["error"], said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/load", model)
    check("it is loaded before there are classes", status == 400, said)
    asked(s, "DELETE", f"/v1/teach/{other}")
    other = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
    size = struct.unpack("<Q", model[:8])[0]
    header = json.loads(model[8:8 + size])
    header["__metadata__"]["vit.labels"] = '["dark", "dark"]'
    del header["__metadata__"]["vit.sha256"]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    status, said = asked(s, "POST", f"/v1/teach/{other}/load",
                         struct.pack("<Q", len(text)) + text + model[8 + size:])
    check("a head with one name for two classes is refused", status == 400 and
          "one name" in said["error"], said)
    status, said = asked(s, "GET", f"/v1/teach/{other}")
    check("and leaves nothing of itself", said["classes"] == [] and said["learnt"] is None, said)
    status, said = asked(s, "POST", f"/v1/teach/{other}/load", model)
    check("and another one is loaded", status == 200 and len(said["classes"]) == 2, said)
    asked(s, "DELETE", f"/v1/teach/{other}")
    other = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
    with open(os.path.join(MODELS, "fashion.safetensors"), "rb") as file:
        status, said = asked(s, "POST", f"/v1/teach/{other}/load", file.read())
    check("a model of another network is refused",
          status == 400 and "another network" in said["error"], said)
    asked(s, "DELETE", f"/v1/teach/{other}")


def many(s):
    """A hundred teachings, from four clients at once; each is answered by its own."""
    wrong = []

    def client(number):
        for i in range(25):
            turn = (number + i) % 2
            names = ("light", "dark") if turn else ("dark", "light")
            body = {"classes": dict(zip(names, ([url(p) for p in LIGHT[:3]],
                                                [url(p) for p in DARK[:3]])))}
            status, said = asked(s, "POST", "/v1/teach", json.dumps(body))
            if status != 200:
                wrong.append(said)
                continue
            got = asked(s, "POST", f"/v1/teach/{said['id']}/answer", LIGHT[5])[1]
            if got["predictions"][0]["label"] != names[0]:
                wrong.append(got)
            asked(s, "DELETE", f"/v1/teach/{said['id']}")
    clients = [threading.Thread(target=client, args=(n,)) for n in range(4)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    check("a hundred teachings do not mix", not wrong, wrong[:2])
    check("none is left", asked(s, "GET", "/v1/teach")[1]["teachings"] == [])
    for _ in range(16):
        asked(s, "POST", "/v1/teach", "{}")
    status, said = asked(s, "POST", "/v1/teach", "{}")
    check("there is a limit", status == 503 and "16 teachings" in said["error"], said)


def peak(s):
    with open(f"/proc/{s.process.pid}/status") as f:
        return [int(x.split()[1]) << 10 for x in f if x.startswith("VmHWM")][0]


def limits():
    """Those of the server hold for teaching, and its end ends what is being learnt."""
    large = grey_png(4000, 4000)
    with Server("--teach", "--model", "mnist", "--max-pictures", "5", "--max-pixels",
                "10000") as s:
        lesson = {"classes": {"a": [url(p) for p in LIGHT[:5]], "b": url(DARK[0])}}
        status, said = asked(s, "POST", "/v1/teach", json.dumps(lesson))
        check("the pictures of a request are counted over its classes", status == 413 and
              "more than 5 pictures" in said["error"], said)
        one = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
        status, said = asked(s, "POST", f"/v1/teach/{one}?class=a", large)
        check("a picture of too many pixels is not decoded", status == 200 and
              said["pictures"] == 0 and "at most 10000" in said["failed"][0]["error"], said)
    peaks = []
    for path, body in (("/predictions/mnist", large),
                       ("/v1/teach", json.dumps({"classes": {"a": [url(large)]}}))):
        with Server("--teach", "--model", "mnist") as s:
            clients = [threading.Thread(target=s.ask, args=("POST", path, body))
                       for _ in range(8)]
            for c in clients:
                c.start()
            for c in clients:
                c.join()
            peaks.append(peak(s))
    check("teaching takes the memory of answering", peaks[1] < 1.5 * peaks[0], peaks)
    with Server("--teach", "--model", "mnist", "--max-pictures", "4096", "--max-body",
                "100000000") as s:
        status, said = asked(s, "POST", "/v1/teach", json.dumps({"classes": {"a": [""] * 2001}}))
        many = {"c%d" % i: "aGVsbG8=" for i in range(1003)}
        got = asked(s, "POST", "/v1/teach", json.dumps({"classes": many}))
        check("and 1000 classes", got[0] == 413 and "1000 classes" in got[1]["error"], got)
        check("a teaching has 2000 pictures", status == 413 and "2000" in said["error"], said)
        got = []
        lesson = json.dumps({"classes": {"a": [url(large)] * 1000, "b": [url(large)]}})
        client = threading.Thread(target=lambda: got.append(asked(s, "POST", "/v1/teach", lesson)))
        client.start()
        check("a thousand pictures are on their way",
              until(lambda: asked(s, "GET", "/v1/teach")[1]["teachings"]))
        s.send_signal(signal.SIGTERM)
        client.join()
        check("SIGTERM ends it with a sentence", got[0][0] == 503 and
              "the server ends" in got[0][1]["error"], got)
        check("and the server", s.process.wait(SECONDS) == 0)


DROP = """((selector, files) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type: "image/png" }));
  }
  document.querySelector(selector).dispatchEvent(
    new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
})"""


def drop(page, selector, pictures, name):
    files = [[f"{name}-{i}.png", base64.b64encode(p).decode()] for i, p in enumerate(pictures)]
    page.get(f"{DROP}({json.dumps(selector)}, {json.dumps(files)}), 0")


def saved(s):
    """A model file that the server has made of teaching."""
    one = asked(s, "POST", "/v1/teach", json.dumps(
        {"classes": {"light": [url(p) for p in LIGHT[:4]], "dark": [url(p) for p in DARK[:4]]}}))
    model = s.ask("GET", f"/v1/teach/{one[1]['id']}/model")[2]
    asked(s, "DELETE", f"/v1/teach/{one[1]['id']}")
    return base64.b64encode(model).decode()


CHOOSE = """((text) => {
  const transfer = new DataTransfer(), input = document.getElementById("saved");
  transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))],
    "taught.safetensors"));
  input.files = transfer.files;
  input.dispatchEvent(new Event("change"));
})"""


def page_of(browser, s):
    page = browser.open(s.url + "/")
    page.wait("!document.getElementById('teach').hidden")
    text = "document.getElementById('{}').textContent"
    for i, (name, pictures) in enumerate((("bright", LIGHT[:4]), ("gloomy", DARK[:4]))):
        box = f".lesson:nth-child({i + 1})"
        page.get(f"(() => {{ const i = document.querySelector('{box} input'); i.value = '{name}';"
                 " i.dispatchEvent(new Event('input')); })(), 0")
        drop(page, box, pictures, name)
        page.wait(f"document.querySelectorAll('{box} img').length === 4")
    page.wait("busy === 0")
    page.click("#learn")
    page.wait(text.format("learnt") + ".includes('of 8 right')")
    check("the page teaches", "100.0 %" in page.get(text.format("learnt")))
    drop(page, "#try", [DARK[5]], "new")
    page.wait("document.querySelectorAll('#guesses li').length === 2 && busy === 0")
    first = page.get("document.querySelector('#guesses li').textContent")
    check("and answers", first.startswith("gloomy"), first)
    page.wait("!document.getElementById('looked').hidden")
    check("and where it looked", "gloomy" in page.get(text.format("lookedFor")))
    check("with what it is like", "gloomy" in page.get(text.format("like")))
    page.click("#fix button")
    page.wait(text.format("learnt") + ".includes('of 9 right')")
    check("a click corrects it", page.get("document.querySelectorAll('.lesson:nth-child(1) img')"
                                          ".length") == 5)
    page.wait("busy === 0")
    page.click(".lesson:nth-child(2) button:nth-of-type(2)")
    page.wait("document.getElementById('film').videoWidth > 0 && busy === 0")
    page.click("#frame")
    page.wait("document.querySelectorAll('.lesson:nth-child(2) img').length === 5")
    check("a frame of the camera is a picture", True)
    page.click("#unfilm")
    page.wait("busy === 0")
    page.get(f"{CHOOSE}({json.dumps(saved(s))}), 0")
    page.wait(text.format("learnt") + ".includes('of 8 right') && busy === 0")
    drop(page, "#try", [LIGHT[5]], "new")
    page.wait("document.querySelectorAll('#guesses li').length === 2 && busy === 0")
    first = page.get("document.querySelector('#guesses li').textContent")
    check("a model file that is loaded answers", first.startswith("light"), first)
    page.click("#forget")
    page.wait("document.querySelectorAll('.lesson img').length === 0 && busy === 0")
    check("all is forgotten on the server",
          asked(s, "GET", "/v1/teach")[1]["teachings"] == [])
    check("the console is quiet", not page.console, page.console)


def secrets():
    """The log has no number of a teaching, however it was asked for."""
    for how in ("json", "text"):
        with Server("--teach", "--model", "mnist", "--log", how) as s:
            one = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
            coded = "%%%02x" % ord(one[0]) + one[1:]
            for path in (one, one + "/learn", coded, one + "/a/b", f"?x={one}", one + "/%zz", "%",
                         "%4", one + "%ff"):
                asked(s, "GET", "/v1/teach/" + path)
            s.ask("GET", f"http://localhost:{s.port}/v1/teach/{one}")
            with socket.create_connection(("127.0.0.1", s.port), SECONDS) as c:
                c.sendall(b"POST /v1/teach HTTP/1.1\r\nHost: localhost\r\n"
                          b"Content-Length: 9\r\n\r\n{")
            s.settle("vit_connections", 1.0)
            asked(s, "DELETE", f"/v1/teach/{one}")
            s.stop()
            said = s.said()
            check(f"--log {how} says what was cut off", said.count("cut off") == 1, said)
            check(f"--log {how} has no secret", one[:6] + "..." in said and one[7:] not in said,
                  said)


def taught(s, light, dark):
    """The id of a teaching of pictures with names, that has learnt."""
    one = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
    for name, pictures in (("light", light), ("dark", dark)):
        part = b'--b\r\nContent-Disposition: form-data; name="p"; filename="%d.png"\r\n\r\n%s\r\n'
        body = b"".join(part % (i, p) for i, p in pictures) + b"--b--\r\n"
        asked(s, "POST", f"/v1/teach/{one}?class={name}", body,
              {"Content-Type": "multipart/form-data; boundary=b"})
    asked(s, "POST", f"/v1/teach/{one}/learn")
    return one


def kept():
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "kept")
        options = ("--teach", "--model", "mnist", "--keep-teachings", place)
        light, dark = list(enumerate(LIGHT[:5])), list(enumerate(DARK[:5]))
        with Server(*options) as s:
            one = taught(s, light, dark[:4])
            other = taught(s, light[1:], dark)
            ids = [hashlib.sha256(p).hexdigest() for p in (LIGHT[0], LIGHT[1])]
            listed = asked(s, "GET", f"/v1/teach/{one}/pictures")[1]
            check("its pictures have ids", {"sha256": ids[0], "name": "0.png", "class": "light"} in
                  [{k: x[k] for k in ("sha256", "name", "class")} for x in listed], listed)
            asked(s, "POST", f"/v1/teach/{one}/forget?picture={ids[0]}")
            asked(s, "POST", f"/v1/teach/{one}/correct?picture={ids[1]}&class=dark")
            asked(s, "POST", f"/v1/teach/{one}/correct?picture={ids[1]}&class=light")
            body, headers = form(DARK[:5])
            asked(s, "POST", f"/v1/teach/{one}?class=dark", body, headers)
            status, said = asked(s, "POST", f"/v1/teach/{one}/learn")
            models = [s.ask("GET", f"/v1/teach/{i}/model")[2] for i in (one, other)]
            check("forgotten, corrected, added: the bytes of a model that never saw it",
                  models[0] == models[1], said)
            check("views are not kept", asked(s, "POST", "/v1/teach", '{"views": 2}')[0] == 400)
            check("an unknown id", asked(s, "POST", f"/v1/teach/{one}/forget?picture={ids[0]}")[0]
                  == 404)
        check("only its owner may look", os.stat(place).st_mode & 0o777 == 0o700)
        bad = os.path.join(place, "0" * 32 + ".lessons")
        data = open(os.path.join(place, one + ".lessons"), "rb").read()
        open(bad, "wb").write(data[:-40] + b"x" + data[-39:])
        with Server(*options) as s:
            check("after a restart it is there", asked(s, "GET", f"/v1/teach/{one}")[1]["pictures"]
                  == 9 and s.ask("GET", f"/v1/teach/{one}/model")[2] == models[0])
            status, said = asked(s, "GET", "/v1/teach/" + "0" * 32)
            check("one that is damaged is refused, without its path", status == 500 and
                  "damaged" in said["error"] and folder not in said["error"], said)
            for path in "0" * 31, "x" * 32, "1" * 32:
                check(f"{path}: none", asked(s, "GET", f"/v1/teach/{path}")[0] == 404 and
                      asked(s, "DELETE", f"/v1/teach/{path}")[0] == 404)
            asked(s, "DELETE", f"/v1/teach/{one}")
            check("deleted, its file goes", sorted(os.listdir(place)) == sorted(
                [other + ".lessons", "0" * 32 + ".lessons"]), os.listdir(place))
        os.remove(bad)
        for models, wanted in (("fashion", 409), ("fashion mnist", 200)):
            named = [word for model in models.split() for word in ("--model", model)]
            with Server("--teach", *named, "--keep-teachings", place) as s:
                status, said = asked(s, "GET", f"/v1/teach/{other}")
                check(f"of mnist, where {models} are served: {wanted}", status == wanted and
                      folder not in str(said), said)
        with Server(*options) as s:
            os.symlink("/etc/passwd", bad)
            status, said = asked(s, "POST", "/v1/teach", "{}")
            check("a link among them: told to who runs it alone", status == 500 and folder not in
                  said["error"] and bad in s.said(), (said, s.said()))
            check("nor is it read or removed", asked(s, "GET", "/v1/teach/" + "0" * 32)[0] == 404 ==
                  asked(s, "DELETE", "/v1/teach/" + "0" * 32)[0] and os.path.islink(bad))
            os.remove(bad)
            for i in range(1000):
                open(os.path.join(place, "%032x.lessons" % i), "w").close()
            status, said = asked(s, "POST", "/v1/teach", "{}")
            check("1000 are kept", status == 503 and "delete one" in said["error"], said)
            for i in range(1000):
                os.remove(os.path.join(place, "%032x.lessons" % i))
            open(os.path.join(place, "0" * 32 + ".lesson"), "w").close()
            one = asked(s, "POST", "/v1/teach", "{}")[1]["id"]
            for _ in range(15):
                asked(s, "POST", "/v1/teach", "{}")
            status, said = asked(s, "GET", f"/v1/teach/{other}")
            check("a kept one finds no room", status == 503 and "16 teachings" in
                  said["error"], said)
            shutil.rmtree(place)
            status, said = asked(s, "POST", f"/v1/teach/{one}?class=a", LIGHT[0])
            check("what cannot be kept is told, without its path", status == 500 and folder not in
                  said["error"] and place in s.said(), (said, s.said()))
            check("and it was changed", asked(s, "GET", f"/v1/teach/{one}")[1]["pictures"] == 1)
        os.mkdir(place, 0o700)
        for where, text in ((os.path.join(folder, "a", "b"), "cannot be made"),
                            (__file__, "is no directory")):
            refused(1, text, *options[:-1], where)
        for make, mode in ((lambda: os.symlink("/etc/passwd", bad), 0o700),
                           (lambda: (os.remove(bad), os.mkfifo(bad)), 0o700),
                           (lambda: os.remove(bad), 0o755)):
            make()
            os.chmod(place, mode)
            refused(1, place, *options)


with Server("--model", "mnist") as server:
    status, said = asked(server, "GET", "/v1/teach")
    check("without --teach there is none", status == 404 and "--teach" in said["error"], said)
    check("nor its script", server.ask("GET", "/teach.js")[::2] == (200, b""))
with Server("--teach", "--model", "mnist", env={**os.environ, "TMPDIR": "/absent"}) as server:
    lesson = {"classes": {"light": [url(p) for p in LIGHT[:3]], "dark": [url(p) for p in DARK[:3]]}}
    status, said = asked(server, "POST", "/v1/teach", json.dumps(lesson))
    status, said = asked(server, "GET", f"/v1/teach/{said['id']}/model")
    check("no place for its file", status == 500 and "no directory" in said["error"], said)
limits()
secrets()
kept()
with Server("--teach", "--model", "mnist", "--max-pixels", "10000") as server:
    routes(server)
    if find():
        with Browser("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream") as b:
            page_of(b, server)
    else:
        print("ok 99 - the page # SKIP there is no Chromium")
    many(server)
