"""Texts beside pictures: the text encoders of CLIP and SigLIP."""
import contextlib
import ctypes
import json
import os
import pathlib
import tempfile
import threading
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _api
from ._library import Owner, _available, _check, _floats, _lib, _options, _text


def _as_texts(texts: Sequence[str], name: str) -> Any:
    """An array of C strings."""
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} are texts, not {type(text).__name__}")
        if "\0" in text:
            raise ValueError(f"{name}={text!r} has a zero character")
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def _templates_of(templates: Union[str, Sequence[str]]) -> Any:
    return _as_texts([templates] if isinstance(templates, str) else templates, "templates")


@contextlib.contextmanager
def _as_file(labels: Union[str, os.PathLike, Sequence[str], None]) -> Iterator[Any]:
    """A list of labels as the file that the library reads; all else as it is."""
    if labels is None or isinstance(labels, (str, bytes, os.PathLike)):
        yield labels
        return
    _as_texts(labels, "labels")
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "labels.json"
        path.write_text(json.dumps(list(labels)))
        yield path


class TextEncoder(Owner):
    """The text encoder of a model of two encoders: the directory of CLIP or SigLIP as it is
    published, with its tokenizer. `features` are those of a text, as many as of a picture; `length`
    is the most tokens of a text; a logit is `scale` times the cosine of a picture and a text, plus
    `bias`. Threads of Python may share it; their calls wait for each other."""

    def __init__(self, model: Union[str, os.PathLike], *,
                 config: Union[str, os.PathLike, None] = None, threads: int = 0,
                 precision: str = "f32"):
        words, self._lock, error = ctypes.c_void_p(), threading.Lock(), _api.vit_error()
        options = _options(_api.vit_embedder_options, config=config, threads=threads,
                           precision=_available(precision))
        _check(_lib.vit_embedder_load(words, _text(os.fspath(model)), options, error), error)
        self._own(words, (_lib.vit_embedder_free, words.value))
        self._words = words
        info = _lib.vit_embedder_describe(self._words)
        self.features, self.length = info.features, info.length
        self.vocabulary, self.parameters = info.vocabulary, info.parameters
        self.scale, self.bias = info.scale, info.bias

    def embed(self, texts: Union[str, Sequence[str]], *, unit: bool = False,
              cut: bool = False) -> np.ndarray:
        """[features] of a text, or [texts][features] of a list. unit: each has the length 1. cut:
        texts of more than `length` tokens are cut at the end; otherwise they are an error."""
        if isinstance(texts, str):
            return self.embed([texts], unit=unit, cut=cut)[0]
        rows, error = np.empty((len(texts), self.features), np.float32), _api.vit_error()
        options = _options(_api.vit_embed_texts_options, unit=unit, cut=cut)
        with self._lock:
            _check(_lib.vit_embed_texts(self._words, _as_texts(texts, "texts"), len(texts), options,
                                        _floats(rows), error), error)
        return rows

    def tokens(self, text: str) -> Optional[int]:
        """How many tokens a text has, with those that stand around it; at most `length`."""
        return _lib.vit_embedder_tokens(self._words, _as_texts([text], "text")[0])
