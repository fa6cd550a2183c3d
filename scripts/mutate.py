"""Mutation testing of one source (scripts/mutate): a copy with one operator turned is compiled and
linked into the test in place of the original; the tree stays as it is. A mutant that the test lets
pass is a line that no test holds, or one where both operators mean the same: then a note beside it
in tests/mutants.txt says why ("FILE: LINE OF CODE: OLD -> NEW: reason")."""
import argparse
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

TURNS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+", "*": "+", "+=": "-=", "-=": "+=", "++": "--"}
# An operator of two sides has blanks around it (.clang-format); ! and ++ stand before or after.
SIDED = re.compile(r" (<=?|>=?|==|!=|&&|\|\||\+=?|-=?|\*) (?=\S)")
OTHER = re.compile(r"(?<![\w)\]])(!)(?=[\w(])|(\+\+)")
NOTES = pathlib.Path("tests/mutants.txt")


def masked(text):
    """The source with blanks in place of comments, strings and lines of the preprocessor."""
    hidden = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|^[ ]*#(?:\\\n|[^\n])*'
    return re.sub(hidden, lambda m: re.sub(r"[^\n]", "_", m[0]), text, flags=re.S | re.M)


def mutants_of(text):
    """(place, old, new) in the order of the source."""
    plain = masked(text)
    found = [(m.start(1), m[1], TURNS[m[1]]) for m in SIDED.finditer(plain)]
    for m in OTHER.finditer(plain):
        found.append((m.start(), "!", "") if m[1] else (m.start(), "++", "--"))
    return sorted(found)


def command_of(target, source):
    """What make would run for the target if the source were newer."""
    lines = subprocess.run(["make", "-n", "FLAGS=kept", "-W", source, target], check=True,
                           capture_output=True, text=True).stdout.replace("\\\n", " ")
    wanted = [line for line in lines.splitlines() if f" -o {target} " in line]
    if len(wanted) != 1:
        sys.exit(f"mutate: make says {len(wanted)} commands for {target}, expected one")
    return shlex.split(wanted[0])


MOST_MEMORY = 4 << 30  # a loop that was turned may ask for all there is


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def passes(program, seconds):
    """Whether the test ends in time, and well; the first of its parts that fails ends it."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               preexec_fn=limit_memory,
                               start_new_session=True, text=True, errors="replace",
                               env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP"))
    late = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
    late.start()
    failed = any(line.startswith("not ok") for line in process.stdout)
    if failed and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    late.cancel()
    return process.wait() == 0 and not failed


class Bench:
    def __init__(self, source, test, place):
        build = os.environ.get("BUILD", "build")
        found = list(pathlib.Path("tests").glob(f"*/{test}.c"))
        if len(found) != 1:
            sys.exit(f"mutate: there is no test {test}")
        program = f"{build}/{found[0].with_suffix('')}"
        self.source, self.copy = source, f"{place}/mutant.c"
        self.program, self.object = f"{place}/{test}", f"{place}/mutant.o"
        self.compile = self.moved(command_of(f"{build}/obj/{source[:-2]}.o", source),
                                  {source: self.copy}, self.object) + ["-O0", "-g0"]
        link = self.moved(command_of(program, str(found[0])), {}, self.program)
        link = [word for word in link if "debug-sections" not in word] + ["-Wl,--strip-debug"]
        at = link.index(f"{build}/lib/libvit.a")  # its own object is not taken from there then
        self.link = link[:at] + [self.object] + link[at:]

    @staticmethod
    def moved(words, other, out):
        words = [other.get(word, word) for word in words]
        words[words.index("-o") + 1] = out
        return words

    def build(self, text):
        pathlib.Path(self.copy).write_text(text)
        return all(subprocess.run(words, capture_output=True).returncode == 0
                   for words in (self.compile, self.link))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("test")
    parser.add_argument("--every", type=int, default=1, help="try each N-th mutant")
    parser.add_argument("--from", dest="first", type=int, default=0, help="begin with this one")
    options = parser.parse_args()
    text = pathlib.Path(options.source).read_text()
    notes = NOTES.read_text().splitlines() if NOTES.exists() else []
    tried = mutants_of(text)[options.first::options.every]
    invalid = noted = 0
    survivors = []
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(options.source, options.test, place)
        begun = time.monotonic()
        if not bench.build(text) or not passes(bench.program, 600):
            sys.exit("mutate: the test fails without a mutant")
        limit = 10 * (time.monotonic() - begun) + 5
        for at, old, new in tried:
            if not bench.build(text[:at] + new + text[at + len(old):]):
                invalid += 1
                continue
            if not passes(bench.program, limit):
                continue
            row = text.count("\n", 0, at) + 1
            line = text.splitlines()[row - 1].strip()
            name = f"{options.source}: {line}: {old} -> {new or 'nothing'}"
            if any(note.startswith(name + ":") for note in notes):
                noted += 1
                continue
            survivors.append(name)
            print(f"{options.source}:{row}: {old} -> {new or 'nothing'}: {line}", flush=True)
    print(f"{len(tried)} mutants: {len(tried) - invalid - noted - len(survivors)} found, "
          f"{invalid} that do not compile, {noted} with a note, {len(survivors)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
