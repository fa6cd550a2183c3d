"""Drives the page of a training in Chromium: every control, wide and phone-narrow, light and dark.

usage: tests/cli/report_page.py PAGE.html [DIRECTORY for screenshots]      exits 77 without Chromium
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from chromium import NO_CHROMIUM, Browser, find  # noqa: E402


def curves(page):
    assert page.get("document.querySelectorAll('#curves svg').length") >= 4
    before = page.get("document.querySelector('#curves .read').textContent")
    page.hover("#curves .chart:nth-child(2) svg")
    after = page.get("document.querySelector('#curves .read').textContent")
    assert before != after and "step" in after, (before, after)
    page.get("document.querySelector('#curves svg').focus()")
    page.key("ArrowRight")
    moved = page.get("document.querySelector('#curves .read').textContent")
    assert moved != after, moved


def confusion(page):
    """A cell is chosen, by mouse and by keys, and shows as many pictures as it says."""
    cell = "document.querySelector('#cell')"
    page.click(".matrix button:not(.right):not(.none)")
    text, count = page.get(f"[{cell}.textContent, {cell}.querySelectorAll('img').length]")
    assert "taken for" in text and count >= 1, (text, count)
    assert page.get(f"[...{cell}.querySelectorAll('img')].every(i => i.naturalWidth > 0)")
    page.click(".matrix button.right")
    assert "answered right" in page.get(f"{cell}.textContent")
    page.get("document.querySelector('.matrix tr:nth-child(1) td:nth-child(2) button').focus()")
    page.key("ArrowDown")
    page.key("Enter")
    place = page.get("[document.activeElement.dataset.row, document.activeElement.dataset.column]")
    assert place == ["1", "0"] or place == ["1", "1"], place
    assert page.get("document.querySelectorAll('.matrix [tabindex=\"0\"]').length") == 1


def places(page):
    caption = "document.querySelector('#positions figcaption').textContent"
    page.hover("#all")
    before = page.get(caption)
    page.get("document.querySelector('#all').focus()")
    page.key("ArrowLeft")
    page.key("ArrowUp")
    assert page.get(caption) != before, before


def fits(page):
    assert page.get("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"


def main(path, shots=None):
    if find() is None:
        return NO_CHROMIUM
    with Browser() as browser:
        page = browser.open(path)
        curves(page)
        confusion(page)
        places(page)
        assert page.get("document.querySelectorAll('#worst img').length") > 0
        assert page.get("document.querySelector('#filters img').naturalWidth") > 0
        for size in (1300, 900), (390, 844):
            page.size(*size)
            for dark in False, True:
                page.colours(dark)
                fits(page)
                if shots:
                    page.shot(f"{shots}/{size[0]}-{'dark' if dark else 'light'}.png", whole=True)
        page.touch(".matrix button.right")
        assert not page.console, page.console
        assert page.requests == [page.url], page.requests
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
