#!/usr/bin/env python3
"""Puts the page of the lecture together: one file that a browser opens from a disk, with its
styles, scripts, library and model in it.
usage: scripts/lecture_page.py OUT PAGE.html LIBRARY.js MODEL
LIBRARY.wasm lies beside LIBRARY.js."""
import base64
import pathlib
import re
import sys

out, page, library, model = map(pathlib.Path, sys.argv[1:])


def included(match):
    """What stands in place of a line <!-- include NAME -->."""
    name = match.group(1)
    if name in ("model", "module"):
        file = model if name == "model" else library.with_suffix(".wasm")
        return base64.b64encode(file.read_bytes()).decode()
    text = (library if name == "library" else page.parent / name).read_text()
    if "</script" in text or "<!--" in text:
        sys.exit(f"{name}: a script in a page must not have </script or <!-- in it")
    return text


made = re.sub(r"<!-- include (\S+) -->", included, page.read_text())
temporary = out.with_suffix(".new")
temporary.write_text(made)
temporary.replace(out)
