#!/usr/bin/env python3
"""docs/lecture.html in Chromium, opened from the disk: every matrix has the bytes of this machine's
library (build/examples/lecture_digit), what is changed changes what follows, formulas are compared.
usage: tests/web/lecture.py, called by scripts/test-wasm"""
import os
import subprocess
import sys

sys.path.insert(0, "tests/support")
from chromium import Browser, check, find  # noqa: E402

BUILD = os.environ.get("BUILD", "build")

HASHES = """(async () => {
    const hex = async (m) => Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256",
        library.allValues(m).buffer)), (b) => b.toString(16).padStart(2, "0")).join("");
    const lines = [];
    for (const m of library.matrices)
        lines.push([m.block, m.pass, m.symbol, `${m.heads}x${m.rows}x${m.columns}`, await hex(m)]
            .join("\\t"));
    return lines.join("\\n");
})()"""


def same_bytes(page, digit):
    """After a step of the digit, all matrices of the page are those of the library here."""
    drawn = page.get(f"document.querySelectorAll('#digits button')[{digit}].dataset.number")
    page.get(f"document.querySelectorAll('#digits button')[{digit}].click()")
    page.click("[data-pass=step]")
    there = page.get(HASHES).splitlines()
    here = subprocess.run([f"{BUILD}/examples/lecture_digit", "build/lecture.safetensors", drawn],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    other = [pair for pair in zip(here, there) if pair[0] != pair[1]]
    check(f"digit {digit}: the SHA-256 of all {len(here)} matrices",
          len(here) == len(there) > 600 and not other, other[:3])


def steps(page):
    page.click("#forget")
    loss = page.get("library.element(library.matrices.find((m) => m.symbol === 'loss'), 0, 0, 0)")
    page.click("[data-pass=forward]")
    seen = page.get("""(() => { const seen = [];
        choose(allOf("forward")[0]);
        do { seen.push(page.pass + page.current.index); at("next").click(); }
        while (seen.at(-1) !== page.pass + page.current.index);
        return [seen.length, new Set(seen).size, page.pass]; })()""")
    count = page.get("""library.matrices.filter((m) => m.pass === "forward" ||
        m.pass === "backward" || m.pass === "step" && m.operands.length === 4).length""")
    check("Next goes through all matrices, forward, backward and of the step",
          seen == [count, count, "step"], (seen, count))
    page.click("#again")
    after = page.get("library.element(library.matrices.find((m) => m.symbol === 'loss'), 0, 0, 0)")
    check("the loss is smaller after the step", after < loss, (loss, after))
    check("and the page says both", page.get(f"""at("answer").textContent.includes("before")"""))


def changes(page):
    page.click("#forget")
    page.get("(page.head = 1, choose(library.find(3, 'P')), 1)")
    page.get("(page.figures.at(-1).canvas.focus(), 1)")
    for name in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        page.key(name)
    page.get("(at('number').value = '', 1)")
    page.type("0.75")
    page.key("Enter")
    check("a number that is changed by keyboard",
          page.get("library.element(library.find(3, 'P'), 1, 1, 2)") == .75)
    changed = page.get("""library.matrices.filter((m) => m.changed && m.pass === "forward")
        .map((m) => m.block + m.symbol).join(" ")""").split()
    follows, precedes = {"3P", "3head", "4X", "6z_6", "7loss"}, {"3S", "3Q", "2z_2"}
    check("what follows is marked as changed",
          follows <= set(changed) and not precedes & set(changed), changed)
    page.shot("build/wasm/lecture-changed.png", whole=True)
    page.click("#forget")
    check("and nothing when all changes are forgotten",
          page.get("library.matrices.every((m) => !m.changed)"))


def numbers(page):
    page.get("(page.head = 1, choose(library.find(3, 'P')), 1)")
    page.click("#as-numbers")
    rows, columns = page.get("[page.current.rows, page.current.columns]")
    check("a matrix as a table of numbers",
          page.get("document.querySelectorAll('#numbers tbody td').length") == rows * columns)
    page.click("#numbers tbody tr:nth-child(2) td:nth-child(4)")
    check("a cell of it is chosen", page.get("[page.cell.i, page.cell.j]") == [1, 2])
    check("the file has every float32",
          page.get("""(() => { const m = page.current, v = library.values(m, 1);
        return csvOf(m.rows, m.columns, v).trim().split("\\n").slice(1).flatMap((line) =>
            line.split(",").slice(1)).every((x, k) => Math.fround(Number(x)) === v[k]); })()"""))
    page.click("#save")
    page.click("#as-numbers")


def formulas(page):
    for target, scale, formula, want in [
            ("head", "head", "softmax(Q K^T / sqrt(d_k)) V", "true"),
            ("head", "dim", "softmax(Q @ K.T / sqrt(D), dim=-1) @ V", "true"),
            ("causal", "head", "softmax(Q K^T / sqrt(d_k) + M) V", "true"),
            ("sum", "head", "cat(head_1, ..., head_h) W^O + b^O + z", "true"),
            ("head", "head", "softmax(Q K^T / sqrt(d_k), axis=0) V", "wrong axis"),
            ("head", "head", "softmax(Q K^T) V", "scale missing"),
            ("head", "head", "softmax(Q K^T / sqrt(D)) V", "scale of the whole width"),
            ("causal", "head", "softmax(Q K^T / sqrt(d_k)) V", "mask missing"),
            ("sum", "head", "cat(head_1, ..., head_h) W^O + b^O", "residual missing")]:
        page.get(f"""(at("target").value = "{target}", at("scale").value = "{scale}",
            at("target").dispatchEvent(new Event("change")),
            at("source").value = "{formula}", 1)""")
        page.click("#compare button")
        said = page.get("({...at('verdict').dataset})")
        check(f"{target}: {formula}: {'right' if want == 'true' else want}",
              want in (said["right"], said["mistakes"]), said)


def narrow(page):
    page.size(390, 844)
    check("no sideways scrolling on a telephone",
          page.get("document.documentElement.scrollWidth <= innerWidth"))
    page.shot("build/wasm/lecture-narrow.png", whole=True)


def main():
    if find() is None:
        print("ok 1 - the page of the lecture # SKIP no Chromium")
        return
    with Browser() as browser:
        page = browser.open("docs/lecture.html")
        page.wait("document.body.dataset.ready")
        page.shot("build/wasm/lecture.png", whole=True)
        for digit in (7, 2):
            same_bytes(page, digit)
        steps(page)
        changes(page)
        numbers(page)
        formulas(page)
        narrow(page)
        check("nothing is asked of another place", page.requests == [page.url], page.requests)
        check("the console is silent", not page.console, page.console)


main()
