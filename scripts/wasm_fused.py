#!/usr/bin/env python3
"""Gives f32x4.relaxed_madd the number that it has in WebAssembly 3.0: compilers before LLVM 15
write that of a draft. usage: scripts/wasm_fused.py FILE.wasm"""
import pathlib
import re
import subprocess
import sys

DRAFT, FINAL = b"\xfd\xaf\x01", b"\xfd\x85\x02"



def number_at(module, at):
    """An unsigned LEB128 number, and where it ends."""
    value = shift = 0
    while True:
        byte = module[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def code_of(module):
    """Where the section of code, number 10, begins and ends."""
    at = 8
    while module[at] != 10:
        size, begin = number_at(module, at + 1)
        at = begin + size
    size, begin = number_at(module, at + 1)
    return begin, begin + size


path = pathlib.Path(sys.argv[1])
module = path.read_bytes()
said = subprocess.run(["wasm-dis", "--enable-simd", "--enable-relaxed-simd", path],
                      capture_output=True, text=True, check=True).stdout
count = len(re.findall(r"f32x4\.relaxed_(?:fma|madd)\b", said))
begin, end = code_of(module)
code = module[begin:end]
if count == 0:
    sys.exit(f"{path}: no fused multiply-add in it")
if code.count(FINAL) != count:
    # A number may have the same bytes: then it is not known which are instructions.
    if code.count(DRAFT) != count:
        sys.exit(f"{path}: {code.count(DRAFT)} places look like its {count} instructions")
    path.write_bytes(module[:begin] + code.replace(DRAFT, FINAL) + module[end:])
