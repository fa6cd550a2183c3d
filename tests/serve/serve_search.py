"""vit-serve --index: a picture finds those that are similar, as vit-search does, and after the
index changed under the running server, too; called by serve-search.sh."""
import json
import os
import shutil
import subprocess
import tempfile

import serving
from serving import Server, check, draw

SEARCH = os.path.join(os.path.dirname(serving.SERVE), "vit-search")
work = tempfile.mkdtemp()
folder, index = work + "/pictures", work + "/index"
os.mkdir(folder)
for i in range(12):
    shutil.copy(draw(work, i % 10), "%s/%02d.png" % (folder, i))


def build(model="mnist"):
    return subprocess.run([SEARCH, "build", folder, "-o", index, "--model", model],
                          stdout=subprocess.PIPE, check=True)


def alone(picture, top):
    out = subprocess.run([SEARCH, index, picture, "--top", str(top), "--json"], check=True,
                         stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


def results(s, data, query="?top=5"):
    status, got = s.json("POST", "/v1/search" + query, data)
    if status != 200:
        return got
    return [{"file": os.path.join(work, r["file"]), "score": r["score"]} for r in got["results"]]


build()
with open(folder + "/03.png", "rb") as f:
    data = f.read()
with Server("--index", index) as s:
    got = results(s, data)
    check("/v1/search has vit-search's answer", got == alone(folder + "/03.png", 5), got)
    row = s.json("POST", "/v1/search?top=1", data)[1]["results"][0]["row"]
    status, headers, png = s.ask("GET", "/v1/search/picture?row=%d" % row)
    check("a small picture", status == 200 and headers["Content-Type"] == "image/png" and
          png[:8] == b"\x89PNG\r\n\x1a\n", (status, png[:20]))
    for path, text in (("99", "no picture"), ("x", "no picture"), ("-1", "no picture"),
                       ("..%2f..%2fetc%2fpasswd", "no picture")):
        got = s.json("GET", "/v1/search/picture?row=" + path)
        check("not a row: " + path, got[0] in (400, 404), got)
    page = s.ask("GET", "/search")
    check("the page", page[0] == 200 and b"search.js" in page[2] and
          "script-src 'self'" in page[1]["Content-Security-Policy"], page[1])
    check("its script", s.ask("GET", "/search.js")[0] == 200)
    os.remove(folder + "/03.png")
    shutil.copy(folder + "/05.png", folder + "/new.png")
    build()
    got = results(s, data, "?top=100")
    check("the index changed under the server", len(got) == 12 and
          {os.path.basename(r["file"]) for r in got} ==
          {"%02d.png" % i for i in range(12) if i != 3} | {"new.png"}, got)
    got = s.json("GET", "/v1/search/picture?row=%d" % row)
    check("a row that is gone", got[0] == 404, got)
    for query, status, text in (("?top=0", 400, "top"), ("?model=x", 404, "x"),
                                ("?model=fashion", 409, "another model")):
        got = s.json("POST", "/v1/search" + query, data)
        check(query, got[0] == status and text in got[1]["error"], got)
        check("without a directory: " + query, os.getcwd() not in got[1]["error"], got)
    check("no picture", s.json("POST", "/v1/search", b"no picture")[0] in (400, 415))
    part = b'--b\r\nContent-Disposition: form-data; name="p"; filename="p"\r\n\r\n%s\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    for query, parts, text in (("?text=a", [data], "a picture and text"), ("?top=x", [data], "top"),
                               ("?top=1001", [data], "1 to 1000"), ("", [data] * 2, "several"),
                               ("", [b"none"], "picture"), ("", [], "no picture")):
        body = b"".join(part % p for p in parts) + b"--b--"
        got = s.json("POST", "/v1/search" + query, body, kind)
        check("form of %d, %s" % (len(parts), query), got[0] in (400, 415) and
              text in got[1]["error"], got)
    got = s.json("POST", "/v1/search?text=a", data)
    check("a picture and words", got[0] == 400 and "a picture and text" in got[1]["error"], got)
    check("without a row", s.ask("GET", "/v1/search/picture")[0] == 404)
# the file is overwritten in place, cut off and removed while it is searched
with open(index, "rb") as f:
    whole = f.read()
with Server("--index", index) as s:
    found = results(s, data)
    for size in (0, 1, 64, 150, len(whole) // 2, len(whole) - 64, len(whole) - 1):
        with open(index, "r+b") as f:
            f.truncate(size)
        got = s.json("POST", "/v1/search", data)
        check("cut to %d bytes: 503 with a sentence" % size, got[0] == 503 and
              "index" in got[1]["error"] and work not in got[1]["error"], got)
        with open(index, "r+b") as f:
            f.write(whole)
    check("whole again, it is searched as before", results(s, data) == found)
    os.remove(index)
    got = s.json("POST", "/v1/search", data)
    check("removed: 503", got[0] == 503, got)
    os.rename(folder + "/05.png", work + "/05.png")
    build()
    got = results(s, data, "?top=100")
    check("another one in its place is searched", len(got) == 11, got)
    gone = s.json("POST", "/v1/search?top=1", data)[1]["results"][0]
    place = os.path.join(work, gone["file"])
    os.remove(place)
    os.mkfifo(place)
    got = s.json("GET", "/v1/search/picture?row=%d" % gone["row"])
    check("a pipe in the place of a picture", got[0] == 404 and "can no longer be read" in
          got[1]["error"] and os.sep not in got[1]["error"], got)
    os.remove(place)
    os.rename(work + "/05.png", folder + "/05.png")
os.mkdir(work + "/elsewhere")
subprocess.run([SEARCH, "build", folder, "-o", work + "/elsewhere/index", "--model", "mnist"],
               stdout=subprocess.PIPE, check=True)
with Server("--index", work + "/elsewhere/index") as s:
    got = s.json("POST", "/v1/search?top=1", data)[1]["results"][0]
    png = s.ask("GET", "/v1/search/picture?row=%d" % got["row"])
    check("pictures that lie elsewhere", os.path.isabs(got["file"]) and png[0] == 200 and
          png[2][:4] == b"\x89PNG", (got, png))
with Server() as s:
    got = s.json("POST", "/v1/search", data)
    check("without an index", got[0] == 404 and "--index" in got[1]["error"], got)

# words: the index of a model of two encoders
clip = os.path.abspath("tests/fixtures/words/clip")
os.remove(index)
build(clip)
with Server("--model", clip, "--index", index, "--labels", "cat,dog,a red bus") as s:
    status, got = s.json("POST", "/v1/search?top=5&text=a%20red%20bus")
    got = [{"file": os.path.join(work, r["file"]), "score": r["score"]}
           for r in got["results"]]
    check("words find what vit-search finds", got == alone("a red bus", 5), got)
    check("the page has a field for them", b'id="text"' in s.ask("GET", "/search")[2])
    got = s.json("POST", "/v1/search?text=" + "word%20" * 90)
    check("too many words", got[0] == 400 and "77 tokens" in got[1]["error"], got)
    status, got = s.json("POST", "/v1/embeddings",
                         json.dumps({"input": ["a cat", "a dog", "a cat"]}).encode(),
                         {"Content-Type": "application/json"})
    rows = [row["embedding"] for row in got.get("data", [])]
    check("texts become features", status == 200 and len(rows) == 3 and len(rows[0]) == 20 and
          rows[0] == rows[2] != rows[1], got)
    status, got = s.json("POST", "/models/clip", data)
    check("labels are the classes", status == 200 and
          sorted(a["label"] for a in got) == ["a red bus", "cat", "dog"], got)
with Server("--index", index) as s:
    got = s.json("POST", "/v1/search?text=cat")
    check("an index of a model that is not served", got[0] == 409 and "serve clip" in
          got[1]["error"], got)
shutil.rmtree(work)
serving.end()
