"""Writes what is made of the public headers: vit/_api.py, their structures, enums and functions for
ctypes, and tests/api/functions.inc, the names of the functions, each of which a test must call.

usage: python generate.py [--check]     with --check: only says whether the two are up to date
"""
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = [HERE.parent / "vit" / name
           for name in ("precision.h", "vit.h", "cluster.h", "tensors.h", "maps.h", "texts.h",
                        "few_shot.h", "labels.h", "zero_shot.h", "reliance.h", "reports.h")]
OUT = HERE / "vit" / "_api.py"
NAMES = HERE.parent / "tests" / "api" / "functions.inc"

SCALARS = {"size_t": "c_size_t", "int": "c_int", "bool": "c_bool", "double": "c_double",
           "float": "c_float", "uint64_t": "c_uint64", "uint32_t": "c_uint32",
           "int64_t": "c_int64", "uint8_t": "c_uint8", "void": "None"}


def code_of(header):
    """The headers without comments, preprocessor lines and the macro of visibility; macros that are
    whole numbers, such as sizes of arrays, are put in."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    for name, value in re.findall(r"^#define (\w+) (\d+)$", text, flags=re.M):
        text = re.sub(rf"\b{name}\b", value, text)
    text = re.sub(r'extern "C" \{|^\s*#.*(?:\\\n.*)*$', "", text, flags=re.M)
    return text.replace("VIT_API", "")


def ctype(declared, known):
    """The ctypes name of a C type such as "const char *" or "vit_error *"."""
    stars = declared.count("*")
    base = declared.replace("*", " ").replace("const", " ").split()[-1]
    if base in known["callback"]:
        return base
    if base == "char" and stars:
        name, stars = "c_char_p", stars - 1
    elif base == "void" and stars:
        name, stars = "c_void_p", stars - 1
    elif base in known["struct"]:
        name = base
    elif base in known["enum"]:
        name = "c_int"
    elif base in SCALARS:
        name = SCALARS[base]
    else:  # a structure that the header does not show
        name, stars = "c_void_p", stars - 1
    for _ in range(stars):
        name = f"POINTER({name})"
    return name


def fields_of(body, known):
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        callback = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", declaration, flags=re.S)
        if callback:
            yield callback[2], "c_void_p"
            continue
        kind, names = re.fullmatch(r"((?:const\s+)?\w+(?:\s+const)?)\s*(.*)", declaration,
                                   flags=re.S).groups()
        for name in names.split(","):
            array = re.search(r"\[(\d+)\]", name)
            bare = re.sub(r"\bconst\b|[\s*]|\[\d+\]", "", name)
            if not bare.isidentifier():
                raise ValueError(f"{declaration}: a field that is not understood")
            if array and kind == "char":
                yield bare, f"c_char * {array[1]}"
            else:
                single = ctype(kind + "*" * name.count("*"), known)
                yield bare, f"{single} * {array[1]}" if array else single


def parameters_of(text, known):
    for parameter in text.split(","):
        parameter = parameter.strip()
        if parameter == "void":
            continue
        declared, _, array = re.fullmatch(r"(.*?)(\w+)\s*(\[\d*\])?", parameter,
                                          flags=re.S).groups()
        yield ctype(declared + ("*" if array else ""), known)


def names_of(api):
    """A line for each function in the table of _api.py."""
    rows = re.findall(r'^    "(vit_\w+)": \(', api, flags=re.M)
    return ("/* Made from the public headers by python/generate.py: do not edit. */\n"
            + "".join(f"FUNCTION({name})\n" for name in rows))


def generate(header):
    text = code_of(header)
    enums = re.findall(r"typedef enum (\w+) \{(.*?)\} \w+;", text, flags=re.S)
    structs = re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, flags=re.S)
    callbacks = re.findall(r"typedef (\w+) (\w+)\(([^)]*)\);", text)
    known = {"struct": {n for n, _ in structs}, "enum": {n for n, _ in enums},
             "callback": {n for _, n, _ in callbacks}}
    version = re.search(r'#define VIT_VERSION "(.*?)"', header)[1]
    lines = ['"""Made from vit/vit.h and the other public headers by generate.py: do not edit."""',
             "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p,",
             " " * 20 + "c_double, c_float, c_int, c_int64, c_size_t, c_uint8, c_uint32,",
             " " * 20 + "c_uint64, c_void_p)", "", f'VERSION = "{version}"', ""]
    for name, body in enums:
        names = [entry.split("=")[0].strip() for entry in body.split(",") if entry.strip()]
        lines.extend(f"{entry} = {value}" for value, entry in enumerate(names))
    pending = [(result, name, arguments) for result, name, arguments in callbacks]

    def declare_callbacks():
        for entry in list(pending):
            result, name, arguments = entry
            kinds = list(parameters_of(arguments, known))
            needs = {k for k in known["struct"] if any(f"({k})" in kind for kind in kinds)}
            if needs <= done:
                pending.remove(entry)
                lines.extend(["", f"{name} = CFUNCTYPE({', '.join([SCALARS[result]] + kinds)})"])

    done = set()
    for name, body in structs:
        declare_callbacks()
        rows = [f'        ("{field}", {kind}),' for field, kind in fields_of(body, known)]
        lines.extend(["", "", f"class {name}(Structure):", "    _fields_ = [", *rows, "    ]"])
        done.add(name)
        lines.append("")
    declare_callbacks()
    lines.extend(["", "# name: (result, parameters)", "FUNCTIONS = {"])
    rest = re.sub(r"typedef [^;{]*\{.*?\}[^;]*;|typedef [^;]*;", "", text, flags=re.S)
    for result, name, arguments in re.findall(r"([\w\s*]+?)(\bvit_\w+)\(([^)]*)\);", rest):
        kinds = ", ".join(parameters_of(arguments, known))
        lines.extend(textwrap.wrap(f'"{name}": ({ctype(result.strip(), known)}, [{kinds}]),', 96,
                                   initial_indent="    ", subsequent_indent=" " * 8))
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines + ["}", ""]))


if __name__ == "__main__":
    made = generate("\n".join(header.read_text() for header in HEADERS))
    for path, text in ((OUT, made), (NAMES, names_of(made))):
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.relative_to(HERE.parent)} is not what python/generate.py makes of "
                     "vit/*.h")
