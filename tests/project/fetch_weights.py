"""scripts/fetch-weights against two servers: the hub, which sends small files itself and redirects
to the second one for large ones, which goes on where a transfer stopped and breaks connections."""
import hashlib
import http.server
import os
import shutil
import subprocess
import tempfile
import threading

INFO = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "bin", "vit-info")
SCRIPT = os.path.abspath("scripts/fetch-weights")
SOURCE = os.path.abspath("tests/fixtures/published")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
work = tempfile.mkdtemp()
count = failed = 0


def check(name, holds, said=""):
    global count, failed
    count += 1
    print("%s %d - %s" % ("ok" if holds else "not ok", count, name), flush=True)
    if not holds:
        failed += 1
        print("#  " + str(said)[:3000].replace("\n", "\n#  "), flush=True)


def read(*parts):
    with open(os.path.join(*parts), "rb") as f:
        return f.read()


def net(name, *files):
    return {f: read(SOURCE, name, f) for f in files}


plain = net("timm_registers", "config.json", "model.safetensors")
shards = {"config.json": plain["config.json"], "model-1.safetensors": b"a" * 1000,
          "model-2.safetensors": b"b" * 1000, "model.safetensors.index.json":
          b'{"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors"}}'}
repositories = {
    "timm/vit_small_patch16_224.augreg_in21k_ft_in1k": plain,
    "own/sharded": shards,
    "own/bad": {"config.json": b"{}", "model.safetensors.index.json":
                b'{"weight_map": {"x": "../../x.safetensors"}}'},
    "own/none": {"config.json": b"{}"},
    "openai/clip-vit-base-patch32": {"config.json": b'{"text_config": {}}', "tokenizer.json": b"{}",
                                     "merges.txt": b"x", "preprocessor_config.json": b"{}",
                                     "flax_model.bin": b"", "model.safetensors": b"w" * 3000000},
    "own/old": {"config.json": b"{}", "pytorch_model.bin": b"0" * 5000},
    "own/private": plain,
    "own/gated": plain,
    "own/mirror": plain,  # of a server without checksums
}
requests = []    # (path, range, token)
breaks = []      # bytes after which each next transfer breaks
wrong = set()    # names of files that arrive with another byte
no_ranges = False
proxied = []     # what came as to a proxy


def kind_of(name):
    return "large" if name.endswith((".safetensors", ".bin")) else "small"


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, headers, body=b""):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        token = self.headers.get("Authorization", "")
        if self.path.startswith("http://hub.invalid/"):
            proxied.append(self.path)
            self.path = self.path[len("http://hub.invalid"):]
        requests.append((self.path, self.headers.get("Range"), token))
        if self.path.startswith("/cache/"):
            body = self.server.small[self.path]
            sha1 = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
            return self.reply(200, {"ETag": '"%s"' % sha1, "X-Repo-Commit": COMMIT}, body)
        owner, name, _, revision, file = self.path[1:].split("/", 4)
        repository = owner + "/" + name
        if repository == "own/gated":
            return self.reply(403, {"X-Error-Code": "GatedRepo"})
        if repository not in repositories or (repository == "own/private" and
                                              token != "Bearer hf_secret"):
            return self.reply(401, {"X-Error-Code": "RepoNotFound"})
        if revision not in ("main", "v1", COMMIT):
            return self.reply(404, {"X-Error-Code": "RevisionNotFound"})
        files = repositories[repository]
        if file not in files:
            return self.reply(404, {"X-Error-Code": "EntryNotFound"})
        body = files[file]
        if repository == "own/mirror":
            return self.reply(200, {"ETag": '"abc-1"'}, body)
        if kind_of(file) == "small":
            path = "/cache/%s/%s" % (repository, file)
            self.server.small[path] = body
            return self.reply(307, {"Location": path, "X-Repo-Commit": COMMIT})
        self.reply(302, {"Location": "http://localhost:%d/%s/%s" % (cdn.server_port, repository,
                                                                    file),
                         "X-Linked-Etag": '"%s"' % hashlib.sha256(body).hexdigest(),
                         "X-Linked-Size": str(len(body)), "X-Repo-Commit": COMMIT})


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        owner, name, file = self.path[1:].split("/")
        body = repositories[owner + "/" + name][file]
        asked = self.headers.get("Range")
        requests.append((self.path, asked, self.headers.get("Authorization", "")))
        if file in wrong:
            body = body[:100] + b"?" + body[101:]
        start = int(asked[6:-1]) if asked and not no_ranges else 0
        if start >= len(body) and start > 0:
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(body) - 1, len(body)))
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = start + breaks.pop(0) if breaks else len(body)
        self.wfile.write(body[start:end])
        if end < len(body):
            self.close_connection = True
            self.connection.shutdown(2)


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.small = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


hub, cdn = serve(Hub), serve(Store)
base = "http://127.0.0.1:%d" % hub.server_port


def fetch(*arguments, env=None, status=0, name, says=()):
    """Runs it in the work directory; its output."""
    requests.clear()
    run = subprocess.run(["sh", SCRIPT, *arguments], cwd=work, capture_output=True, text=True,
                         env={**os.environ, "HF_ENDPOINT": base, "HF_TOKEN": "", **(env or {})})
    said = run.stdout + run.stderr
    check(name, run.returncode == status and all(s in said for s in says),
          "status %d\n%s" % (run.returncode, said))
    return said


def same(directory, files, names):
    return all(read(work, directory, n) == files[n] for n in names) and not [
        f for f in os.listdir(os.path.join(work, directory)) if f.endswith(".part")]


def asked(path):
    return [r for r in requests if r[0].endswith(path)]


def usage():
    fetch("--help", name="help", says=("OWNER/NAME", "HF_TOKEN"))
    for arguments in ((), ("--fast", "x"), ("a", "b", "c"), ("a/b/c",), ("a", "--base", "ftp://x"),
                      ("a b",), ("a", "--revision")):
        fetch(*arguments, status=2, name="usage: %s" % " ".join(arguments))


def downloads():
    digest = hashlib.sha256(plain["model.safetensors"]).hexdigest()
    small = "vit_small_patch16_224"
    fetch(small, name="timm's name without its tag",
          says=("timm/vit_small_patch16_224.augreg_in21k_ft_in1k", "vit-info " + small,
                digest + "  " + small + "/model.safetensors (as the server says)"))
    check("the files", same(small, plain, plain), os.listdir(os.path.join(work, small)))
    check("all of one commit", any(COMMIT in r[0] for r in requests), requests)
    shown = subprocess.run([INFO, os.path.join(work, small)], capture_output=True, text=True)
    check("vit-info reads them", shown.returncode == 0, shown.stderr)
    fetch(small, name="again", says=("is there",))
    check("downloads nothing", not [r for r in requests if r[0].startswith("/timm/") and
                                    r[0].count("/") == 3 and "resolve" not in r[0]], requests)
    with open(os.path.join(work, small, "config.json"), "ab") as f:
        f.write(b" ")
    fetch(small, name="a file that was changed", says=("is not what the server has",))
    check("is downloaded again", same(small, plain, plain))
    fetch("own/sharded", "deep/dir", "--revision", "v1", name="shards, into another directory")
    check("all of them", same("deep/dir", shards, shards))
    fetch("https://huggingface.co/own/old", name="pytorch_model.bin, by its address")
    check("where there is no other", same("old", repositories["own/old"], repositories["own/old"]))
    fetch("own/mirror", "--base=" + base, env={"HF_ENDPOINT": "http://127.0.0.1:1"},
          name="--base, a server that says no checksums", says=("nothing to compare it with",))
    check("the files", same("mirror", plain, plain))


def tasks():
    clip = repositories["openai/clip-vit-base-patch32"]
    said = fetch("zero-shot", name="a task, its sizes, its tokenizer", says=(
        "openai/clip-vit-base-patch32", "model.safetensors 3 MB", "tokenizer.json 1 kB",
        "3 MB in all"))
    check("the sizes are said first", said.index("in all") < said.rindex("/resolve/"))
    wanted = sorted(set(clip) - {"flax_model.bin"})
    check("all that it needs", sorted(os.listdir(os.path.join(work, "clip-vit-base-patch32"))) ==
          wanted, os.listdir(os.path.join(work, "clip-vit-base-patch32")))
    fetch("openai/clip-vit-base-patch32", name="again: nothing is left", says=("is there",))
    part = os.path.join(work, "half")
    os.makedirs(part)
    with open(os.path.join(part, "model.safetensors.part"), "wb") as f:
        f.write(b"w" * 2000000)
    fetch("zero-shot", "half", name="a part that is there is counted",
          says=("(2 MB are there)", "1 MB in all"))
    fetch("zero-shot", "by-proxy", name="a proxy", env={
        "HF_ENDPOINT": "http://hub.invalid", "http_proxy": base, "no_proxy": "localhost"})
    check("is asked", proxied and same("by-proxy", clip, wanted), proxied)
    helped = fetch("--help", name="help lists the tasks", says=("handwriting", "1.33 GB"))
    check("in 80 columns", max(map(len, helped.splitlines())) <= 100, helped)


def interruptions():
    global no_ranges
    model = plain["model.safetensors"]
    breaks[:] = [1000, 2000]
    fetch("own/private", "broken", env={"HF_TOKEN": "hf_secret"}, name="a connection that breaks",
          says=("the connection broke: going on",))
    check("goes on where it stopped", same("broken", plain, plain) and
          [r[1] for r in asked("private/model.safetensors")] ==
          [None, "bytes=1000-", "bytes=3000-"], requests)
    check("the token goes to the hub alone", all(
        ("hf_secret" in r[2]) == ("resolve" in r[0] or "cache" in r[0])
        for r in requests), requests)
    part = os.path.join(work, "later", "model.safetensors.part")
    breaks[:] = [500] * 3
    fetch("own/private", "later", env={"HF_TOKEN": "hf_secret"}, status=1,
          name="one that breaks for good", says=("give the command again to go on with it",))
    check("leaves what has come", len(read(part)) == 1500 and part[:-5] not in os.listdir(work))
    fetch("own/private", "later", env={"HF_TOKEN": "hf_secret"}, name="the command again")
    check("goes on", same("later", plain, plain) and
          [r[1] for r in asked("private/model.safetensors")] == ["bytes=1500-"], requests)
    for name, left, says in (("the part of another file", b"x" * 800, "does not fit"),
                             ("a part that is too long", model + b"x", "downloading it whole"),
                             ("a part that is whole", model, "")):
        os.makedirs(os.path.join(work, name))
        with open(os.path.join(work, name, "model.safetensors.part"), "wb") as f:
            f.write(left)
        fetch("own/private", name, env={"HF_TOKEN": "hf_secret"}, name=name, says=(says,))
        check("ends as the file", same(name, plain, plain))
    no_ranges = True
    breaks[:] = [700]
    fetch("own/private", "norange", env={"HF_TOKEN": "hf_secret"},
          name="a server that cannot go on", says=("starting over",))
    check("sends it whole", same("norange", plain, plain))
    no_ranges = False
    wrong.add("model.safetensors")
    fetch("own/private", "wrong", env={"HF_TOKEN": "hf_secret"}, status=1,
          name="bytes that are not those of the checksum",
          says=("is not what its checksum", "removed"))
    check("are not kept", os.listdir(os.path.join(work, "wrong")) == ["config.json"])
    wrong.clear()


def refusals():
    fetch("vit_small_patch16_225", "no", status=1, name="401 of a name without a tag",
          says=("no such repository", "timm's names have a tag", base + "/models?search="))
    fetch("own/absent", "no", status=1, name="401", says=("own/absent: 401", "HF_TOKEN"))
    fetch("own/absent", "no", status=1, env={"HF_TOKEN": "hf_other"}, name="401 with a token",
          says=("the token in HF_TOKEN may not read it",))
    fetch("own/gated", "no", status=1, name="403 of a licence",
          says=("its licence must be accepted first: at " + base + "/own/gated",))
    fetch("own/old", "no", "--revision", "v9", status=1, name="404 of a revision",
          says=('no revision "v9"',))
    fetch("own/none", "none", status=1, name="404 of the weights", says=("no model.safetensors",))
    fetch("own/bad", "bad", status=1, name="an index that leaves the directory",
          says=("which is not read",))
    fetch("own/old", "no", "--base", "http://127.0.0.1:1", status=1, name="nobody there",
          says=("could not be asked for", "is the network there?"))
    check("nothing is made for what is not there", not os.path.exists(os.path.join(work, "no")))


usage()
downloads()
tasks()
interruptions()
refusals()
shutil.rmtree(work)
print("1..%d" % count)
raise SystemExit(1 if failed else 0)
