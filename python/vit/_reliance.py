"""Calibrations, which give prediction sets and p-values, and banks of good pictures, which find
defects (docs/reliance.md)."""
import ctypes
import os
from typing import Any, Dict, List, NamedTuple, Sequence, Union

import numpy as np

from . import _api
from ._library import Owner, _check, _choose, _floats, _lib, _options, _text, _values

_SCORES = _values("VIT_CONFORMAL_")
_OOD = _values("VIT_OOD_")


class Unknown(NamedTuple):
    """Whether a picture is unlike those of the calibration; scores: by name."""
    unknown: bool
    p_value: float
    scores: Dict[str, float]


class Anomaly(NamedTuple):
    """How unlike good pictures one is; map: the distances of its patches, [rows][columns]."""
    score: float
    p_value: float
    map: np.ndarray


class Calibration(Owner):
    """What a model scores for labelled pictures that it has not learnt from: of the file `path`,
    which vit-evaluate --calibrate or `save` wrote. It belongs to a model as it answers."""

    def __init__(self, model: Any, path: Union[str, os.PathLike]):
        handle, error = ctypes.c_void_p(), _api.vit_error()
        with model._lock:
            status = _lib.vit_calibration_load(handle, _text(path, "path"), model._model,
                                               model._session, error)
        _check(status, error)
        self._open(model, handle)

    def _open(self, model: Any, handle: ctypes.c_void_p) -> None:
        self._model, self._handle = model, handle
        self._own(handle, (_lib.vit_calibration_free, handle.value))

    @classmethod
    def of(cls, model: Any, data: Union[str, os.PathLike], *, split: int = 0,
           training: Union[str, os.PathLike, None] = None,
           outliers: Union[str, os.PathLike, None] = None) -> "Calibration":
        """Calibrates; training, outliers: for `unknown` (docs/reliance.md)."""
        def options(what: Any) -> Any:
            return _options(_api.vit_evaluate_options, data=what, threads=model._threads,
                            precision=model._precision)
        handle, error = ctypes.c_void_p(), _api.vit_error()
        pictures = options(data)
        pictures.split = split
        _check(_lib.vit_calibration_new(handle, model._model, pictures, error), error)
        made = cls.__new__(cls)
        made._open(model, handle)
        known = options(training) if training is not None else None
        strange = options(outliers) if outliers is not None else None
        _check(_lib.vit_calibration_compare(handle, model._model, pictures, known, strange, error),
               error)
        return made

    def save(self, path: Union[str, os.PathLike]) -> None:
        error = _api.vit_error()
        _check(_lib.vit_calibration_save(self._handle, _text(path, "path"), error), error)

    def sets(self, pictures: Any, coverage: float = .95, *, score: str = "lac",
             by_class: bool = False) -> List[Any]:
        """The classes that hold the truth with this probability, the likeliest first: of one
        picture a list of labels, of several a list of such."""
        rule, error = ctypes.c_void_p(), _api.vit_error()
        options = _options(_api.vit_set_options, coverage=coverage, by_class=by_class)
        options.score = _choose(_SCORES, score, "score")
        _check(_lib.vit_set_rule_new(rule, self._handle, options, error), error)
        try:
            rows = self._model.probabilities(pictures)
            found, chosen = [], (ctypes.c_size_t * len(self._model.labels))()
            for row in np.atleast_2d(rows):
                count = _lib.vit_prediction_set(rule, _floats(row), chosen)
                found.append([self._model.labels[k] for k in chosen[:count]])
        finally:
            _lib.vit_set_rule_free(rule)
        return found if rows.ndim == 2 else found[0]

    def unknown(self, pictures: Any, rate: float = .01) -> Union[Unknown, List[Unknown]]:
        """Whether pictures are out-of-distribution, with this rate of false alarms."""
        rule, error = ctypes.c_void_p(), _api.vit_error()
        options = _options(_api.vit_unknown_options, rate=rate)
        _check(_lib.vit_unknown_rule_new(rule, self._handle, options, error), error)
        try:
            logits, features = self._model._rows(pictures)
            found = []
            for z, f in zip(np.atleast_2d(logits), np.atleast_2d(features)):
                out = _api.vit_unknown()
                _check(_lib.vit_unknown_test(rule, self._model._model, _floats(z), _floats(f), out,
                                             error), error)
                found.append(Unknown(bool(out.unknown), out.p_value,
                                     {n: out.scores[i] for n, i in _OOD.items()}))
        finally:
            _lib.vit_unknown_rule_free(rule)
        return found if logits.ndim == 2 else found[0]


class Bank(Owner):
    """A memory bank of good pictures for finding defects: of the file `path`, which vit-anomaly
    build or `save` wrote, or of pictures."""

    def __init__(self, model: Any, pictures: Union[str, os.PathLike, Sequence[Any]], *,
                 coreset: float = 1.):
        handle, error = ctypes.c_void_p(), _api.vit_error()
        if isinstance(pictures, (str, os.PathLike)):
            _check(_lib.vit_bank_load(handle, _text(pictures, "pictures"), error), error)
        else:
            kept = self._kept(model, pictures)
            options = _options(_api.vit_bank_options, coreset=coreset, threads=model._threads)
            with model._lock:
                status = _lib.vit_bank_new(handle, model._model, model._session, model._given(kept),
                                           len(kept), options, None, error)
            _check(status, error)
        self._model, self._handle = model, handle
        self._own(handle, (_lib.vit_bank_free, handle.value))
        with model._lock:
            status = _lib.vit_bank_check(handle, model._model, model._session, error)
        _check(status, error)
        info = _lib.vit_bank_describe(handle)
        self._grid = info.rows, info.columns
        self.scores: List[float] = info.scores[:info.pictures]

    @staticmethod
    def _kept(model: Any, pictures: Sequence[Any]) -> List[Any]:
        opened = [model._opened(p) for p in pictures]
        return [np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in opened]

    def save(self, path: Union[str, os.PathLike]) -> None:
        error = _api.vit_error()
        _check(_lib.vit_bank_save(self._handle, _text(path, "path"), error), error)

    def threshold(self, alpha: float = .05) -> float:
        """The lowest score of a defect, with this share of false alarms."""
        out, error = ctypes.c_double(), _api.vit_error()
        _check(_lib.vit_bank_threshold(self._handle, alpha, out, error), error)
        return out.value

    def test(self, pictures: Any) -> Union[Anomaly, List[Anomaly]]:
        """Scores one picture, or several."""
        model, several = self._model, self._model._are_several(pictures)
        kept = self._kept(model, pictures if several else [pictures])
        count = len(kept)
        found, answers = (_api.vit_anomaly * count)(), (_api.vit_answer * count)()
        maps = np.empty((count, *self._grid), np.float32)
        error = _api.vit_error()
        options = _options(_api.vit_bank_options, threads=model._threads)
        with model._lock:
            _check(_lib.vit_bank_test(self._handle, model._model, model._session,
                                      model._given(kept), count, options, found, _floats(maps),
                                      answers, error), error)
        for answer in answers:
            _check(answer.error.status, answer.error)
        rows: List[Anomaly] = [Anomaly(a.score, a.p_value, m) for a, m in zip(found, maps)]
        return rows if several else rows[0]
