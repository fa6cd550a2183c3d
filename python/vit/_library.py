"""libvit through ctypes: where it is, its errors, and values as its structures take them."""
import ctypes
import os
import pathlib
import warnings
import weakref
from typing import Any, Optional, Tuple

import numpy as np

from . import _api

_HERE = pathlib.Path(__file__).resolve().parent
_SOURCE = _HERE.parent.parent  # of a source tree


def _values(prefix: str) -> "dict[str, int]":
    """An enum's values by the names that they have here: "f32" of VIT_PRECISION_F32."""
    return {name[len(prefix):].lower(): value for name, value in vars(_api).items()
            if name.startswith(prefix) and not name.endswith("_COUNT")}


_PRECISIONS = _values("VIT_PRECISION_")


class Error(Exception):
    """What the library refused or could not do. `status` is its name: "format", "io", ..."""

    def __init__(self, message: str, status: str):
        super().__init__(message)
        self.status = status


def _abi() -> str:
    """What the library's file name ends with: structures change with it."""
    major, minor = _api.VERSION.split(".")[:2]
    return major if major != "0" else f"0.{minor}"


def _load() -> ctypes.CDLL:
    named = os.environ.get("VIT_LIBRARY")
    places = [named] if named else [str(p) for p in (_HERE / "libvit.so",
                                                     _SOURCE / "build" / "lib" / "libvit.so")
                                    if p.exists()] + [f"libvit.so.{_abi()}"]
    try:
        library = ctypes.CDLL(places[0])
    except OSError as error:
        raise ImportError(f"libvit could not be loaded ({error}): build it with `make`, or name it "
                          "in VIT_LIBRARY") from None
    for name, (result, parameters) in _api.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{places[0]} has no {name}: it is not version {_api.VERSION}, which "
                              "this package is for") from None
        function.restype, function.argtypes = result, parameters
    version = library.vit_version().decode()
    if version != _api.VERSION:
        raise ImportError(f"{places[0]} is version {version}, this package is for {_api.VERSION}")
    return library


_lib = _load()


def _check(status: int, error: _api.vit_error) -> None:
    if status != _api.VIT_OK:
        raise Error(error.message.decode(errors="replace"), _lib.vit_status_name(status).decode())


class Owner:
    """What lives in the library's memory, and is given back with the last reference to it, once.
    It does not change, so a copy of it is itself. It is not pickled; a child of fork has it."""

    def _own(self, handle: ctypes.c_void_p, *frees: Tuple[Any, Optional[int]]) -> None:
        """Calls each function with its address when the handle is no more; not when Python ends:
        the system takes it all then, and threads may still compute."""
        def free() -> None:
            for function, address in frees:
                function(address)
        weakref.finalize(handle, free).atexit = False

    def __copy__(self) -> "Owner":
        return self

    def __deepcopy__(self, memo: dict) -> "Owner":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: give its path, and open it "
                        "there; a child of fork inherits it")


def _text(value: Any, name: str = "model") -> Optional[bytes]:
    if value is not None and not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name}={value!r}, expected a text or a path")
    text = None if value is None else os.fsencode(value)
    if text is not None and b"\0" in text:
        raise ValueError(f"{name}={value!r} has a zero character")
    return text


def _floats(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


_DATA = ctypes.c_int.__mro__[-2]  # what all values of ctypes are


def _field(kind: Any, name: str, value: Any) -> Any:
    """The value of an option as its field takes it; ctypes itself would take a number for an
    address, and cut one that is too large."""
    if isinstance(value, _DATA):  # made in this package
        return value
    if kind is ctypes.c_char_p:
        return _text(value, name)
    if kind in (ctypes.c_double, _api.vit_optional):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"{name}={value!r}, expected a number")
        return kind(True, value) if kind is _api.vit_optional else float(value)
    if kind is ctypes.c_bool and not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r}, expected True or False")
    if kind in (ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name}={value!r}, expected a whole number")
        if kind(value).value != value:
            raise ValueError(f"{name}={value!r} is out of range")
        return int(value)
    if kind is not ctypes.c_bool:
        raise TypeError(f"{name}={value!r}: {name} is for programs in C")
    return value


def _options(kind: type, **values: Any) -> Any:
    """A structure of options: what is not given is zero; unknown names are a TypeError."""
    options = kind()
    kinds = dict(kind._fields_)
    for name, value in values.items():
        if name not in kinds:
            raise TypeError(f"unknown option {name!r}; known are {', '.join(kinds)}")
        if name == "precision":
            value = _choose(_PRECISIONS, value, "precision")
        if value is not None:
            setattr(options, name, _field(kinds[name], name, value))
    return options


def _choose(names: dict, name: str, what: str) -> int:
    if name not in names:
        raise ValueError(f"{what} {name!r}, expected {' or '.join(names)}")
    return names[name]


def _available(precision: str) -> str:
    """f32, with a warning, in place of a precision that this processor cannot compute in."""
    if _lib.vit_precision_available(_choose(_PRECISIONS, precision, "precision"), None):
        return precision
    warnings.warn(f"this processor cannot compute in {precision}: the answers are those of f32, or "
                  "of int8 where the weights are in 8 bits", stacklevel=3)
    return "f32"
