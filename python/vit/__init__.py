"""Vision Transformers on a CPU: a door to libvit, the C library.

    import vit
    model = vit.Model("mnist")
    print(model.classify("digit.png")[0])      # Answer(label='7', probability=0.99..., index=7)
    model = vit.train("cifar10", minutes=10, out="cifar10.safetensors", callback=print)
    print(vit.evaluate(model, "cifar10").top1)
    pets = vit.teach("cifar10", {"cat": ["a.jpg", "b.jpg"], "dog": ["c.jpg", "d.jpg"]})
    print(pets.learnt["accuracy"], pets.classify("new.jpg"))

A picture is a path, the bytes of a picture file, such bytes in base64 as a URL that begins with
"data:", a picture of PIL, or a NumPy array of uint8: [height][width] (grey) or
[height][width][channels] (1 grey, 2 grey and alpha, 3 RGB, 4 RGBA). Where one picture is taken, a
list of them is, too, and a stack, an array [pictures][height][width] or
[pictures][height][width][channels]; the answer then is a list, or has one row for each. Three
dimensions are one picture if the last is of 1 to 4 channels; [3][height][width] is refused by a
model of colours, as its channels may be first.

The library is looked for in $VIT_LIBRARY, beside this file, in the source tree's build/lib, and
where the system looks. Errors are `vit.Error`, with the library's sentence.
"""
import base64
import ctypes
import json
import os
import pathlib
import sys
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _api
from ._library import (_HERE, _PRECISIONS, _SOURCE, Error, Owner, _available, _check, _choose,
                       _floats, _lib, _options, _text, _values)
from ._reliance import Anomaly, Bank, Calibration, Unknown
from ._text_encoder import TextEncoder, _as_file, _as_texts, _templates_of

__all__ = ["Anomaly", "Answer", "Bank", "Calibration", "Error", "Evaluation", "LabelEvaluation",
           "Model", "TextEncoder", "Unknown", "evaluate", "evaluate_labels", "reteach", "teach",
           "train"]
__version__ = _api.VERSION

Picture = Union[str, os.PathLike, bytes, np.ndarray, "PIL.Image.Image"]  # noqa: F821

_ORIENTATIONS = _values("VIT_ORIENTATION_")
_SPLITS = _values("VIT_SPLIT_")
_EVENTS = {value: name for name, value in _values("VIT_EVENT_").items()}


class Answer(NamedTuple):
    """One of a picture's likeliest classes."""
    label: str
    probability: float
    index: int


class Evaluation(NamedTuple):
    """Fractions are 0..1; confusion: [classes][classes], rows the true class. unknown: how many
    pictures there are of each class that the model does not know; they are in no other figure."""
    images: int
    correct: int
    top1: float
    top5: float
    loss: float
    seconds: float
    confusion: np.ndarray
    unknown: Dict[str, int] = {}


def _find(model: Union[str, os.PathLike]) -> str:
    """The path of a shipped model's name; any other text is a path already."""
    name = os.fspath(model)
    if os.path.exists(name) or os.sep in name:
        return name
    places = [os.environ.get("VIT_MODELS"), _HERE / "models", _SOURCE / "models",
              "/usr/local/share/vit/models", "/usr/share/vit/models"]
    for place in filter(None, places):
        path = pathlib.Path(place) / f"{name}.safetensors"
        if path.exists():
            return str(path)
    return name


def _data_of(url: str) -> bytes:
    """The bytes in "data:TYPE;base64,...": in lines or not, of either alphabet."""
    head, _, text = url.partition(",")
    text = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    if not head.lower().endswith(";base64"):
        raise ValueError(f"{url[:40]!r} is no picture, expected \"data:image/png;base64,...\"")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _pixels_of(image: Any, turns: bool) -> np.ndarray:
    """The pixels of a picture of PIL, with its channels; turned upright where files are, too."""
    if turns:
        from PIL import ImageOps  # is there, since a picture of it is
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):
        return (np.asarray(image) >> 8).astype(np.uint8)
    if image.mode not in ("L", "LA", "RGB", "RGBA"):
        has_alpha = "transparency" in image.info or image.mode in ("PA", "La", "RGBa")
        image = image.convert("L" if image.mode == "1" else "RGBA" if has_alpha else "RGB")
    return np.asarray(image)


def _pair(size: Optional[Sequence[int]]) -> Sequence[int]:
    """Height and width; 0, 0 where no size is given."""
    if size is None:
        return 0, 0
    if len(size) != 2:
        raise ValueError(f"size={size!r}, expected one number, or height and width")
    return size


class Model(Owner):
    """A model: a file of this library, published weights (a file or a directory), the bytes of such
    a file, or the name of a shipped one, such as "mnist".

    size: the network's input, (height, width) or one number for both; config: of published weights,
    in place of the config.json beside them; labels: a list of names of the classes, a file of them,
    or "imagenet-1k", in place of the model's; of CLIP and SigLIP they are class prompts of
    zero-shot classification, and templates the texts with {} that they are put into, or "imagenet";
    exif_orientation: "exif" turns pictures upright as they say, "never" takes them as they are
    stored, "model" does what the model's preprocessing says; threads: 0 for all; precision: "f32",
    "bf16" or "int8". Threads of Python may share a model; their calls wait for each other. A copy
    of a model is the model itself, and it cannot be pickled.
    """

    def __init__(self, model: Union[str, os.PathLike, bytes] = "mnist", *,
                 size: Union[int, Sequence[int], None] = None,
                 config: Union[str, os.PathLike, None] = None,
                 labels: Union[str, os.PathLike, Sequence[str], None] = None,
                 templates: Union[str, Sequence[str]] = (), exif_orientation: str = "model",
                 threads: int = 0, precision: str = "f32"):
        height, width = (size, size) if isinstance(size, int) else _pair(size)
        handle, error = ctypes.c_void_p(), _api.vit_error()
        precision = _available(precision)
        texts = _templates_of(templates)
        with _as_file(labels) as names:
            options = _options(_api.vit_model_options, config=config, labels=names, height=height,
                               width=width,
                               exif_orientation=_choose(_ORIENTATIONS, exif_orientation,
                                                        "exif_orientation"),
                               precision=precision, threads=threads)
            if isinstance(model, bytes):
                status = _lib.vit_model_load_memory(handle, model, len(model), b"a model in memory",
                                                    options, error)
            else:
                status = _lib.vit_model_load_zero_shot(handle, _text(_find(model)), options, texts,
                                                   len(texts), error)
        _check(status, error)
        self._open(handle, threads, precision)

    def _open(self, handle: ctypes.c_void_p, threads: int, precision: str) -> None:
        session, error = ctypes.c_void_p(), _api.vit_error()
        options = _options(_api.vit_session_options, threads=threads, precision=precision)
        status = _lib.vit_session_new(session, handle, options, error)
        self._own(session, (_lib.vit_session_free, session.value),
                  (_lib.vit_model_free, handle.value))
        _check(status, error)
        self._model, self._session, self._lock = handle, session, threading.Lock()
        self._precision, self._threads = precision, threads
        self._info = _lib.vit_model_describe(handle)
        self.labels: List[str] = [_lib.vit_model_label(handle, i).decode(errors="replace")
                                  for i in range(self._info.classes)]

    @property
    def info(self) -> dict:
        """What the model is: sizes, parameters, and config, preprocessing and recipe as objects."""
        info = {name: getattr(self._info, name) for name, *_ in self._info._fields_}
        for name in ("config", "preprocessing", "recipe"):
            info[name] = json.loads(info[name])
        return info

    @classmethod
    def _given(cls, kept: Sequence[Any]) -> Any:
        """Pictures as the library takes them; `kept` must live as long."""
        count = len(kept)
        given = (_api.vit_picture * count)()
        for i, picture in enumerate(kept):
            cls._give(given[i], picture,
                      f"picture {i + 1} of {count}" if count > 1 else "the picture")
        return given

    def _answer(self, pictures: Sequence[Picture]) -> "tuple[np.ndarray, np.ndarray]":
        """Logits and features, a row for each picture, computed together on all threads."""
        count = len(pictures)
        logits = np.empty((count, self._info.classes), np.float32)
        features = np.empty((count, self._info.features), np.float32)
        # the arrays are kept until the end, as the library reads them
        kept = [np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in pictures]
        given, answers = self._given(kept), (_api.vit_answer * count)()
        error = _api.vit_error()
        with self._lock:
            if count > 0:
                _check(_lib.vit_classify_many(self._session, given, count, _floats(logits),
                                              _floats(features), answers, error), error)
        for answer in answers:
            _check(answer.error.status, answer.error)
        return logits, features

    @staticmethod
    def _give(out: _api.vit_picture, picture: Any, name: str) -> None:
        """Says to the library what the picture is; it must live as long as `out`."""
        out.name = name.encode()
        if isinstance(picture, np.ndarray):
            if picture.dtype != np.uint8 or picture.ndim not in (2, 3):
                raise TypeError(f"{name} is an array of uint8, [height][width] or [height][width]"
                                f"[channels], not of {picture.dtype} {list(picture.shape)}")
            out.height, out.width, out.channels = (*picture.shape, 1)[:3]
            out.stride = out.width * out.channels
            out.pixels = picture.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        elif isinstance(picture, bytes):
            out.bytes, out.size = ctypes.cast(picture, ctypes.c_void_p), len(picture)
        elif isinstance(picture, (str, os.PathLike)):
            out.name = _text(picture, name)
        else:
            raise TypeError(f"{name} is a path, the bytes of a file or an array of uint8, not "
                            f"{type(picture).__name__}")

    def logits(self, pictures: Union[Picture, Sequence[Picture]]) -> np.ndarray:
        """[classes], or [pictures][classes] of a list or a stack. float32, the same bytes
        on every machine."""
        return self._rows(pictures)[0]

    def embed(self, pictures: Union[Picture, Sequence[Picture]]) -> np.ndarray:
        """What the head sees: [features], or [pictures][features] of a list or a stack."""
        return self._rows(pictures)[1]

    def _rows(self, pictures: Any) -> "tuple[np.ndarray, np.ndarray]":
        if self._are_several(pictures):
            return self._answer([self._opened(picture) for picture in pictures])
        logits, features = self._answer([self._opened(pictures)])
        return logits[0], features[0]

    def _are_several(self, pictures: Any) -> bool:
        """Whether it is a list or a stack of pictures; otherwise it is one."""
        is_stack = isinstance(pictures, np.ndarray) and (
            pictures.ndim == 4 or (pictures.ndim == 3 and pictures.shape[2] > 4))
        if is_stack and pictures.ndim == 3 and len(pictures) == 3 and self._info.channels == 3:
            raise TypeError(f"an array {list(pictures.shape)} is either a picture whose channels "
                            "are first, of which array.transpose(1, 2, 0) is right, or a stack of "
                            "three grey ones, of which array[..., None] is")
        return is_stack or isinstance(pictures, (list, tuple))

    def _opened(self, picture: Any) -> Any:
        """A picture of PIL as an array, a URL as bytes; all else as it is."""
        pil = sys.modules.get("PIL.Image")  # who has such a picture has imported it
        if pil and isinstance(picture, pil.Image):
            operations = json.loads(self._info.preprocessing)
            return _pixels_of(picture, any(o["op"] == "orient" for o in operations))
        if isinstance(picture, str) and picture[:5].lower() == "data:":
            return _data_of(picture)
        return picture

    def probabilities(self, pictures: Union[Picture, Sequence[Picture]]) -> np.ndarray:
        """Of the classes, at the model's temperature; shaped as `logits` is."""
        return self._probabilities(self.logits(pictures))

    def _probabilities(self, logits: np.ndarray) -> np.ndarray:
        rows = np.empty_like(logits)
        for row, out in zip(np.atleast_2d(logits), np.atleast_2d(rows)):
            _lib.vit_model_probabilities(self._model, _floats(row), _floats(out))
        return rows

    def classify(self, pictures: Union[Picture, Sequence[Picture]],
                 top: int = 5) -> Union[List[Answer], List[List[Answer]]]:
        """The `top` likeliest classes, the likeliest first."""
        if top < 1:
            raise ValueError(f"top={top!r}, expected at least 1")
        probabilities = self.probabilities(pictures)
        answers = [[Answer(self.labels[i], float(row[i]), int(i))
                    for i in np.argsort(-row, kind="stable")[:top]]
                   for row in np.atleast_2d(probabilities)]
        return answers if probabilities.ndim == 2 else answers[0]

    def evaluate(self, images: Any, labels: Optional[np.ndarray] = None,
                 **options: Any) -> Evaluation:
        """evaluate() of this module: of pictures and their labels, or of a data set by its name."""
        if labels is None:
            return evaluate(self, images, **options)
        return evaluate(self, images=images, labels=labels, **options)

    def prepared(self, images: np.ndarray) -> np.ndarray:
        """Logits, [count][classes], of pictures that are as the network takes them, only to be
        normalised: uint8 [count][height][width][channels], as the records of a data set are."""
        info = self._info
        shape = (info.height, info.width, info.channels)
        images = np.ascontiguousarray(images)
        whole = images if images.ndim == 4 else images[..., None]
        if images.dtype != np.uint8 or whole.shape[1:] != shape:
            raise TypeError(f"prepared pictures are an array of uint8, [count]{list(shape)}, not "
                            f"of {images.dtype} {list(images.shape)}")
        logits, error = np.empty((len(images), info.classes), np.float32), _api.vit_error()
        with self._lock:
            _check(_lib.vit_classify_prepared(self._session, images.ctypes.data_as(
                ctypes.POINTER(ctypes.c_uint8)), len(images), _floats(logits), error), error)
        return logits


def _part(images: Any, labels: Any) -> "tuple[np.ndarray, np.ndarray]":
    """Pictures [N][H][W] or [N][H][W][C] of bytes, and as many integers."""
    images, labels = np.asarray(images), np.asarray(labels)
    if images.dtype != np.uint8 or images.ndim not in (3, 4):
        raise TypeError(f"images of type {images.dtype} and shape {images.shape}, expected uint8 "
                        "[N, height, width] or [N, height, width, channels]")
    if labels.dtype.kind not in "iub" or labels.shape not in ((len(images),), (len(images), 1)):
        raise TypeError(f"labels of type {labels.dtype} and shape {labels.shape}, expected "
                        f"{len(images)} integers")
    if images.ndim == 3:
        images = images[..., np.newaxis]
    return np.ascontiguousarray(images), np.ascontiguousarray(labels.reshape(-1), np.int64)


def _arrays(names: Optional[Sequence[str]] = None, **parts: Any) -> _api.vit_arrays:
    """The parts (images, labels) that are not None, as the library takes them."""
    out, kept = _api.vit_arrays(), []
    for name, pair in parts.items():
        if pair is None:
            continue
        images, labels = _part(*pair)
        size = images.shape[1:]
        if kept and size != (out.height, out.width, out.channels):
            raise ValueError(f"the pictures of {name} are {size}, those before them "
                             f"{(out.height, out.width, out.channels)}")
        out.height, out.width, out.channels = size
        setattr(out, name, _api.vit_array_part(
            images.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)),
            labels.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), len(images)))
        kept.append((images, labels))
    if names is not None:
        texts = _as_texts([str(name) for name in names], "names")
        out.names, out.classes = texts, len(names)
        kept.append(texts)
    out.kept = kept  # what it points to
    return out


def _source(data: Any, images: Any, labels: Any) -> Any:
    """(images, labels), or None where `data` names them; exactly one of the two is given."""
    if (images is None) != (labels is None):
        raise TypeError("images and labels belong together")
    if (data is None) == (images is None):
        raise TypeError("expected either data, or images and labels")
    return None if images is None else (images, labels)


def _takes(model: Any, note: Any) -> None:
    """TypeError unless it is a model, and a function or nothing."""
    if not isinstance(model, Model):
        raise TypeError(f"model={model!r}, expected a vit.Model")
    if note is not None and not callable(note):
        raise TypeError(f"note={note!r}, expected a function")


def evaluate(model: Model, data: Union[str, os.PathLike, None] = None, split: str = "test",
             note: Optional[Callable[[str], Any]] = None, *,
             images: Optional[np.ndarray] = None, labels: Optional[np.ndarray] = None,
             class_column: Optional[str] = None, exclude: Union[str, os.PathLike, None] = None,
             relabel: Union[str, os.PathLike, None] = None,
             tag_branch: Optional[str] = None) -> Evaluation:
    """Accuracy and loss on a data set: a directory, a file of arrays or a known name; or on
    `images`, uint8 [N, H, W] or [N, H, W, C], and their `labels`. `split`, of data: "test", "train"
    or "val"; `note` is called with what a person should know about the data. class_column: the
    column of a table that names the classes; None: chosen by its name (docs/data.md). exclude,
    relabel: tables of pictures that are left out, or have another class. tag_branch: the classes
    are the tags of a photo library under this branch; "": all (docs/photos.md)."""
    _takes(model, note)
    part = _source(data, images, labels)
    arrays = None if part is None else ctypes.pointer(_arrays(test=part))
    told = _api.vit_note(lambda text, _: note(text.decode(errors="replace")) if note else None)
    options = _options(_api.vit_evaluate_options, data=data, arrays=arrays, note=told,
                       threads=model._threads, class_column=class_column, exclude=exclude,
                       relabel=relabel, tag_branch=tag_branch,
                       split=_choose(_SPLITS, split, "split"), precision=model._precision)
    result, error = _api.vit_evaluation(), _api.vit_error()
    _check(_lib.vit_evaluate(model._model, options, result, error), error)
    classes = result.classes
    confusion = np.ctypeslib.as_array(result.confusion, (classes, classes)).astype(np.int64)
    values = (result.images, result.correct, result.top1, result.top5, result.loss, result.seconds)
    unknown = {result.unknown[i].label.decode(errors="replace"): result.unknown[i].images
               for i in range(result.unknown_classes)}
    _lib.vit_evaluation_clear(result)
    return Evaluation(*values, confusion, unknown)


class LabelEvaluation(NamedTuple):
    """How good a model of any number of classes a picture is (evaluate_labels)."""

    images: int
    exact: int  # pictures of which all classes are right
    loss: float
    mean_average_precision: float
    micro_f1: float
    macro_f1: float
    average_precision: dict  # of each class, by its name; NaN: no picture is of it


def evaluate_labels(model: Model, data: Union[str, os.PathLike], split: str = "test",
                    note: Optional[Callable[[str], Any]] = None, *,
                    class_column: Optional[str] = None,
                    tag_branch: Optional[str] = None) -> LabelEvaluation:
    """Average precision and F1 of a model of any number of classes a picture: of a directory with a
    table of pictures and their classes, or a folder for each class (docs/data.md)."""
    _takes(model, note)
    told = _api.vit_note(lambda text, _: note(text.decode(errors="replace")) if note else None)
    options = _options(_api.vit_evaluate_options, data=data, note=told, threads=model._threads,
                       class_column=class_column, tag_branch=tag_branch,
                       split=_choose(_SPLITS, split, "split"), precision=model._precision)
    result, error = _api.vit_label_evaluation(), _api.vit_error()
    _check(_lib.vit_evaluate_labels(model._model, options, result, error), error)
    precision = {model.labels[i]: result.scores[i].average_precision
                 for i in range(result.classes)}
    values = (result.images, result.exact, result.loss, result.mean_average_precision,
              result.micro_f1, result.macro_f1)
    _lib.vit_label_evaluation_clear(result)
    return LabelEvaluation(*values, precision)


def _event(event: _api.vit_event) -> dict:
    """Of the fields, those that hold something; "event" is "start", "step", "epoch", ..."""
    values = {name: getattr(event, name) for name, *_ in event._fields_}
    values["event"] = _EVENTS[values.pop("kind")]
    return {name: value.decode(errors="replace") if isinstance(value, bytes) else value
            for name, value in values.items() if value is not None and value == value}


def _sets(pairs: Any, precision: Optional[str]) -> Any:
    """Keys of a preset and their values, as the library takes them."""
    if isinstance(pairs, dict):
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                 for key, value in pairs.items()]
    pairs = [pairs] if isinstance(pairs, str) else list(pairs or [])
    if precision is not None:
        _choose(_PRECISIONS, precision, "precision")
        pairs.append(f"precision={precision}")
    return _as_texts(pairs, "set")


def train(data: Union[str, os.PathLike, None] = None, *,
          images: Optional[np.ndarray] = None, labels: Optional[np.ndarray] = None,
          val: "Optional[tuple[np.ndarray, np.ndarray]]" = None,
          test: "Optional[tuple[np.ndarray, np.ndarray]]" = None,
          names: Optional[Sequence[str]] = None,
          callback: Optional[Callable[[dict], Any]] = None,
          threads: int = 0, precision: Optional[str] = None, **options: Any) -> Model:
    """Trains a network and returns it: on a data set, or on `images`, uint8 [N, H, W] or
    [N, H, W, C], and their `labels`, integers from 0; `val` and `test` are more of such pairs,
    `names` those of the classes. `options` are those of vit_train_options in vit.h: preset,
    init, out, checkpoint, resume, epochs, steps, minutes, batch, lr, seed, ...; `set` is a
    dictionary of keys of a preset, {"dim": 96}, or a list of "KEY=VALUE". A precision of None is
    the preset's.

    callback(event) gets a dict; when it returns False, or raises, the training stops: the first is
    an Error of status "cancelled", the second goes on to the caller."""
    raised: List[BaseException] = []
    part, arrays = _source(data, images, labels), None
    if part is not None:
        arrays = ctypes.pointer(_arrays(names, train=part, val=val, test=test))
    elif val is not None or test is not None or names is not None:
        raise TypeError("val, test and names go with images and labels")

    def tell(event: Any, _: Any) -> bool:
        try:
            return callback is None or callback(_event(event.contents)) is not False
        except BaseException as error:  # it must not pass through C
            raised.append(error)
            return False

    sets = _sets(options.pop("set", None), precision)
    filled = _options(_api.vit_train_options, data=data, arrays=arrays, threads=threads,
                      set=sets, set_count=len(sets), callback=_api.vit_callback(tell), **options)
    handle, error = ctypes.c_void_p(), _api.vit_error()
    status = _lib.vit_train(handle, filled, error)
    if raised:
        raise raised[0]
    _check(status, error)
    model = Model.__new__(Model)
    model._open(handle, threads, "f32")
    return model


def teach(model: Union[Model, str, os.PathLike], classes: Any, *, head: str = "ridge",
          views: int = 1, balance: bool = False, out: Union[str, os.PathLike, None] = None,
          backbone: Union[str, os.PathLike, None] = None, threads: int = 0,
          class_column: Optional[str] = None, exclude: Union[str, os.PathLike, None] = None,
          relabel: Union[str, os.PathLike, None] = None, tag_branch: Optional[str] = None,
          lessons: Union[str, os.PathLike, None] = None) -> Model:
    """A model that knows `classes`, {"cat": [picture, ...], "dog": [...]}, where an array may be
    one picture or a stack as elsewhere, or a folder or data set by its path or name: the network of
    `model`, with a few-shot head, computed from its features, in seconds (docs/few-shot.md). head:
    "ridge" or "logistic"; views: of each picture, crops and mirrored ones, that are learnt from as
    well; balance: each class weighs the same; out: its model file; backbone: the file that `model`
    comes from, whose name and checksum `out` has in place of its weights; class_column: of a folder
    with a table, the column that names the classes; exclude, relabel: tables of pictures that
    are left out, or have another class; tag_branch: the classes are the tags of a photo library
    under this branch, "": all (docs/photos.md); lessons: a file that keeps what is learnt from, for
    `reteach`: pictures are then paths.

    `learnt` of the model says how good it is, each picture being answered without itself:
    "accuracy" with its "interval", "curve", "suspects" (pictures that may be of another class),
    "confused", ..."""
    if not isinstance(classes, (dict, str, os.PathLike)):
        raise TypeError("classes are a dictionary, {name: [picture, ...]}, or the path or name of "
                        f"a data set, not {type(classes).__name__}")
    network = model if isinstance(model, Model) else Model(model, threads=threads)
    teaching, error = ctypes.c_void_p(), _api.vit_error()
    options = _options(_api.vit_few_shot_options, head=head, views=views, balance=balance,
                       threads=threads, class_column=class_column, exclude=exclude, relabel=relabel,
                       tag_branch=tag_branch,
                       keep_lessons=lessons is not None)
    _check(_lib.vit_few_shot_new(teaching, network._model, options, error), error)
    try:
        if isinstance(classes, (str, os.PathLike)):
            _check(_lib.vit_few_shot_add_data(teaching, _text(classes, "classes"), None,
                                              _api.vit_note(), None, error), error)
        else:
            for name, pictures in classes.items():
                listed = pictures if network._are_several(pictures) else [pictures]
                _add_taught(teaching, network, name, listed, lessons is not None)
        if lessons is not None:
            _check(_lib.vit_few_shot_save_lessons(teaching, _text(lessons, "lessons"), error),
                   error)
        return _learn(teaching, threads, out, backbone)
    finally:
        _lib.vit_few_shot_free(teaching)


def reteach(model: Union[Model, str, os.PathLike], lessons: Union[str, os.PathLike], *,
            forget: Any = (), relabel: Optional[dict] = None, add: Optional[dict] = None,
            out: Union[str, os.PathLike, None] = None,
            backbone: Union[str, os.PathLike, None] = None, threads: int = 0) -> Model:
    """The model that `teach` would have made of other pictures than those of its file `lessons`,
    byte for byte: without those that `forget` lists, with the classes that `relabel`, {picture:
    class}, gives, and with the files that `add`, {class: [path, ...]}, names. A picture is called
    NAME, CLASS/NAME or by the SHA-256 of its file. `model` is the one that `teach` had; `lessons`
    is written again, after `out` (docs/few-shot.md). Other arguments: as for `teach`."""
    if isinstance(forget, (str, os.PathLike)):
        raise TypeError("forget is a list of pictures, not one")
    for what, given, form in (("relabel", relabel, "{picture: class}"),
                              ("add", add, "{class: [path, ...]}")):
        if given is not None and not isinstance(given, dict):
            raise TypeError(f"{what} is a dictionary, {form}, not {type(given).__name__}")
    network = model if isinstance(model, Model) else Model(model, threads=threads)
    teaching, error, index = ctypes.c_void_p(), _api.vit_error(), ctypes.c_size_t()
    options = _options(_api.vit_few_shot_options, threads=threads, keep_lessons=True)
    _check(_lib.vit_few_shot_new(teaching, network._model, options, error), error)
    try:
        _check(_lib.vit_few_shot_load_lessons(teaching, _text(lessons, "lessons"), error), error)
        for name in forget:
            _check(_lib.vit_few_shot_find(index, teaching, _text(name, "forget"), error), error)
            _check(_lib.vit_few_shot_forget(teaching, index, error), error)
        for name, label in (relabel or {}).items():
            _check(_lib.vit_few_shot_find(index, teaching, _text(name, "relabel"), error), error)
            _check(_lib.vit_few_shot_correct(teaching, index, _text(label, "a class"), error),
                   error)
        for name, pictures in (add or {}).items():
            listed = pictures if isinstance(pictures, (list, tuple)) else [pictures]
            _add_taught(teaching, network, name, listed, True)
        taught = _learn(teaching, threads, out, backbone)
        _check(_lib.vit_few_shot_save_lessons(teaching, _text(lessons, "lessons"), error), error)
        return taught
    finally:
        _lib.vit_few_shot_free(teaching)


def _add_taught(teaching: Any, network: Model, name: Any, pictures: Any, files: bool) -> None:
    error = _api.vit_error()
    for picture in pictures if files else ():
        if not isinstance(picture, (str, os.PathLike)) or str(picture)[:5].lower() == "data:":
            raise TypeError("lessons are kept of files: their paths are expected, not "
                            f"{type(picture).__name__}")
    kept = [network._opened(picture) for picture in pictures]
    kept = [np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in kept]
    _check(_lib.vit_few_shot_add(teaching, _text(name, "a class"), Model._given(kept), len(kept),
                                 None, error), error)


def _learn(teaching: Any, threads: int, out: Any, backbone: Any) -> Model:
    """What a teaching makes of its pictures, and its files."""
    handle, error = ctypes.c_void_p(), _api.vit_error()
    _check(_lib.vit_few_shot_learn(teaching, None, error), error)
    learnt = json.loads(_lib.vit_few_shot_json(teaching))
    if out is not None and backbone is None:
        _check(_lib.vit_few_shot_save(teaching, _text(out, "out"), error), error)
    elif out is not None:
        _check(_lib.vit_few_shot_save_head(teaching, _text(out, "out"),
                                           _text(backbone, "backbone"), error), error)
    _check(_lib.vit_few_shot_model(handle, teaching, error), error)
    taught = Model.__new__(Model)
    taught._open(handle, threads, "f32")
    taught.learnt = learnt
    return taught
