"""Tests of the package; tests/project/python.sh runs them against build/lib/libvit.so."""
import base64
import copy
import ctypes
import gc
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import vit  # noqa: E402

CLIP = HERE.parent / "tests/fixtures/words/clip"
NINE = HERE.parent / "examples" / "photographed-nine.jpg"


def drawn(count, seed=3):
    """Digits that the library draws, and their labels."""
    images = np.empty((count, 28, 28), np.uint8)
    labels = [vit._lib.vit_draw_digit(images[i].ctypes.data_as(
        vit.ctypes.POINTER(vit.ctypes.c_uint8)), seed, i) for i in range(count)]
    return images, np.array(labels)


def inherit(model):
    """In a worker of multiprocessing: the model of its parent."""
    drawn_logits.model = model


def drawn_logits(model=None):
    images, _ = drawn(64)
    model = model or drawn_logits.model
    return model.logits([np.repeat(np.repeat(one, 4, 0), 4, 1) for one in images]).tobytes()


class TestVit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = vit.Model("mnist")

    def test_structures_are_those_of_the_header(self):
        subprocess.run([sys.executable, str(HERE / "generate.py"), "--check"], check=True)

    def test_structures_are_as_long_as_the_compilers(self):
        names = [name for name, kind in vars(vit._api).items()
                 if isinstance(kind, type) and name.startswith("vit_") and
                 issubclass(kind, vit.ctypes.Structure)]
        headers = sorted((HERE.parent / "vit").glob("*.h"))
        source = "#include <stdio.h>\n" + "".join(
            [f'#include "vit/{header.name}"\n' for header in headers] +
            ["int main(void) {"] + [
                f'printf("%zu ", sizeof({name}));' for name in names] + ["}"])
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "sizes"
            subprocess.run(["cc", "-I", str(HERE.parent), "-x", "c", "-", "-o", str(program)],
                           input=source, text=True, check=True)
            sizes = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.assertGreater(len(names), 10)
        self.assertEqual([int(size) for size in sizes.split()],
                         [vit.ctypes.sizeof(getattr(vit._api, name)) for name in names])

    def test_a_file_is_read(self):
        answers = self.model.classify(NINE)
        self.assertEqual(answers[0].label, "9")
        self.assertEqual(answers[0].index, 9)
        self.assertEqual(len(answers), 5)
        self.assertGreater(answers[0].probability, answers[1].probability)

    def test_file_bytes_and_list_give_the_same_logits(self):
        one = self.model.logits(str(NINE))
        np.testing.assert_array_equal(one, self.model.logits(NINE.read_bytes()))
        both = self.model.logits([NINE, NINE.read_bytes()])
        np.testing.assert_array_equal(both, np.stack([one, one]))

    def test_pixels(self):
        image = drawn(1)[0][0]
        grey = self.model.logits(image)
        rgb = np.repeat(image[..., None], 3, axis=2)
        self.assertEqual(grey.shape, (10,))
        np.testing.assert_array_equal(grey, self.model.logits(rgb))
        # rows need not lie side by side
        wide = np.zeros((28, 60), np.uint8)
        wide[:, :28] = image
        np.testing.assert_array_equal(grey, self.model.logits(wide[:, :28]))
        mixed = self.model.logits([NINE, image])
        np.testing.assert_array_equal(mixed, np.stack([self.model.logits(NINE), grey]))

    def test_pictures_of_cameras_are_turned(self):
        fixtures = pathlib.Path(__file__).parent.parent / "tests/fixtures"
        pictures = [fixtures / f"image_exif_{i}.png" for i in (1, 6)]
        for turn, same in (("model", True), ("exif", True), ("never", False)):
            logits = vit.Model(fixtures / "published/hf_4", exif_orientation=turn).logits(pictures)
            self.assertEqual(np.array_equal(*logits), same)
        with self.assertRaisesRegex(ValueError,
                                    "exif_orientation 'x', expected model or exif or never"):
            vit.Model(exif_orientation="x")

    def test_channels_first(self):
        colours, first = vit.Model("cifar10", threads=1), np.zeros((3, 32, 32), np.uint8)
        with self.assertRaisesRegex(TypeError, "channels are first"):
            colours.logits(first)
        self.assertEqual(colours.logits(first[..., None]).shape, (3, 10))
        self.assertEqual(self.model.logits(first).shape, (3, 10))

    def test_stacks(self):
        images = drawn(4)[0]
        want = np.stack([self.model.logits(image) for image in images])
        np.testing.assert_array_equal(self.model.logits(images), want)
        colours = np.repeat(images[..., None], 3, axis=3)
        np.testing.assert_array_equal(self.model.logits(colours), want)
        self.assertEqual(len(self.model.classify(images, top=1)), 4)
        self.assertEqual(self.model.embed(images[:1]).shape[0], 1)
        with self.assertRaisesRegex(TypeError, "uint8"):
            self.model.logits(images.astype(np.float32))

    def test_arrays_are_answered_together(self):
        images = drawn(40)[0]
        arrays = [np.repeat(np.repeat(one, 3, 0), 3, 1) for one in images]
        want = np.stack([vit.Model("mnist", threads=1).embed(array) for array in arrays])
        np.testing.assert_array_equal(vit.Model("mnist", threads=2).embed(arrays), want)
        self.assertEqual(self.model.logits([]).shape, (0, 10))
        with self.assertRaisesRegex(vit.Error, "picture 2 of 3: pixels"):
            self.model.logits([images[0], np.zeros((0, 5), np.uint8), images[1]])
        with self.assertRaisesRegex(TypeError, "picture 3 of 3 is an array of uint8"):
            self.model.logits([images[0], NINE, images[1].astype(float)])

    def test_base64(self):
        code = base64.b64encode(NINE.read_bytes()).decode()
        lines = "\r\n".join(code[i:i + 76] for i in range(0, len(code), 76))
        want = self.model.logits(NINE)
        self.assertTrue("+" in code and "/" in code)
        for text in (code, lines + "\n", code.rstrip("="),
                     code.replace("+", "-").replace("/", "_")):
            got = self.model.logits("data:image/jpeg;base64," + text)
            np.testing.assert_array_equal(got, want)
        for bad in ("data:image/png,xx", "data:;base64,@@@@"):
            with self.assertRaises(ValueError):
                self.model.logits(bad)

    def test_pictures_of_pil(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("PIL is not installed")
        fixtures = pathlib.Path(__file__).parent.parent / "tests/fixtures"
        names = ["image_rgb.png", "image_palette.png", "image_grey.jpg", "image_exif_6.jpg",
                 "published/picture.png", "image_cmyk.jpg"]
        opened = [Image.open(fixtures / name) for name in names]
        for model in (self.model, vit.Model(fixtures / "published/hf_4"),
                      vit.Model(fixtures / "published/timm_gap")):
            want = model.logits([fixtures / name for name in names])
            np.testing.assert_array_equal(model.logits(opened), want)
            np.testing.assert_array_equal(model.logits(opened[0]), want[0])

    def test_sizes_and_numbers_out_of_range(self):
        for top in (0, -1):
            with self.assertRaisesRegex(ValueError, "expected at least 1"):
                self.model.classify(NINE, top=top)
        self.assertEqual(len(self.model.classify(NINE, top=99)), 10)
        for size in ((28,), (28, 28, 3)):
            with self.assertRaisesRegex(ValueError, "height and width"):
                vit.Model(size=size)

    def test_prepared(self):
        images, labels = drawn(64)
        logits = self.model.prepared(images)
        np.testing.assert_array_equal(logits, self.model.prepared(images[..., None]))
        self.assertGreater(np.mean(logits.argmax(axis=1) == labels), 0.8)
        for wrong in (images.astype(float), images[:, :27], np.repeat(images[..., None], 3, 3)):
            with self.assertRaises(TypeError):
                self.model.prepared(wrong)

    def test_probabilities_and_embeddings(self):
        probabilities = self.model.probabilities([NINE, NINE])
        self.assertEqual(probabilities.shape, (2, 10))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
        features = self.model.embed(NINE)
        self.assertEqual(features.shape, (self.model.info["features"],))
        self.assertTrue(np.isfinite(features).all())

    def test_probabilities_have_the_models_temperature(self):
        model = vit.train("digits", steps=60)
        temperature = model.info["temperature"]
        self.assertNotEqual(temperature, 1)
        image = drawn(1)[0][0]
        scaled = model.logits(image).astype(np.float64) / temperature
        want = np.exp(scaled - scaled.max())
        np.testing.assert_allclose(model.probabilities(image), want / want.sum(), rtol=1e-5)

    def test_info(self):
        self.assertEqual(self.model.labels, [str(i) for i in range(10)])
        self.assertEqual(self.model.info["config"]["image"], [28, 28])

    def test_a_model_of_bytes_is_that_of_its_file(self):
        path, (images, _) = HERE.parent / "models" / "mnist.safetensors", drawn(2)
        for options in ({}, {"precision": "bf16"}):
            try:
                want = vit.Model(path, **options)
            except vit.Error as error:
                self.assertIn("bf16", str(error))  # which this processor has no instructions for
                continue
            got = vit.Model(path.read_bytes(), **options)
            np.testing.assert_array_equal(got.logits(list(images)), want.logits(list(images)))
        with self.assertRaises(vit.Error) as caught:
            vit.Model(b"no model at all")
        self.assertIn("a model in memory", str(caught.exception))

    def test_errors_are_the_librarys_sentences(self):
        for call in (lambda: vit.Model("/nonexistent/model"),
                     lambda: self.model.classify("/nonexistent/picture.png"),
                     lambda: vit.train("/nonexistent/data", steps=1)):
            with self.assertRaises(vit.Error) as caught:
                call()
            self.assertIn("/nonexistent/", str(caught.exception))
            self.assertEqual(caught.exception.status, "io")
        with self.assertRaises(TypeError):
            vit.train("digits", stepps=1)
        with self.assertRaises(ValueError):
            vit.Model("mnist", precision="f64")
        with self.assertRaises(TypeError):
            self.model.classify(np.zeros((28, 28)))

    def test_training_calls_back_and_gives_a_model(self):
        events = []
        with tempfile.TemporaryDirectory() as directory:
            out = pathlib.Path(directory) / "digits.safetensors"
            model = vit.train("digits", steps=3, out=out, callback=events.append)
            images, _ = drawn(4)
            np.testing.assert_array_equal(model.prepared(images), vit.Model(out).prepared(images))
        self.assertEqual([events[0]["event"], events[-1]["event"]], ["start", "done"])
        self.assertEqual(events[-1]["step"], 3)
        result = vit.evaluate(model, "digits")
        self.assertEqual(result.confusion.sum(), result.images)
        self.assertEqual(result.correct, np.trace(result.confusion))

    def test_keys_of_a_preset_are_set(self):
        small = {"dim": 16, "depth": 1, "heads": 2, "mlp": 16, "activation": "relu",
                 "balance": True}
        one = vit.train("digits", steps=1, set=small)
        self.assertEqual([one.info["config"][key] for key in ("dim", "activation")], [16, "relu"])
        self.assertTrue(one.info["recipe"]["train"]["balance"])
        images, _ = drawn(2)
        pairs = ["dim=16", "depth=1", "heads=2", "mlp=16", "activation=relu", "balance=true"]
        other = vit.train("digits", steps=1, set=pairs)
        np.testing.assert_array_equal(one.prepared(images), other.prepared(images))
        for wrong in ({"checkpoint": True}, {"labels": 3}, {"epochs": "3"}, {"batch": 1.5},
                      {"resume": 1}, {"threads": True}, {"init": 5}):
            with self.assertRaises(TypeError, msg=str(wrong)):
                vit.train("digits", **wrong)
        for wrong in ({"seed": -1}, {"threads": 2 ** 40}, {"steps": 2 ** 64}, {"batch": -1},
                      {"out": "a\0b"}, {"checkpoint": b"a\0b"}, {"precision": "f16"}):
            with self.assertRaises(ValueError, msg=str(wrong)):
                vit.train("digits", **wrong)
        with self.assertRaises(TypeError):
            vit.Model(labels=True)
        with self.assertRaises(TypeError):
            vit.evaluate(vit.Model(), -1)
        with self.assertRaisesRegex(vit.Error, 'did you mean "lr"'):
            vit.train("digits", steps=1, set={"learning_rate": 1})

    def test_what_is_no_picture_is_refused(self):
        for nothing in (None, 7, [None]):
            with self.assertRaisesRegex(TypeError, "the picture is a path, the bytes of a file"):
                self.model.classify(nothing)

    def test_arrays_train_and_evaluate(self):
        random = np.random.default_rng(1)
        labels = np.arange(60) % 2
        images = random.integers(0, 100, (60, 16, 16, 3), np.uint8)
        images[labels == 1, 4:12, 4:12] += 150
        events = []
        model = vit.train(images=images[:48], labels=labels[:48].astype(np.uint8), steps=40,
                          test=(images[48:], labels[48:]), names=["plain", "square"], threads=1,
                          callback=events.append)
        self.assertEqual(events[-1]["event"], "done")
        self.assertEqual(model.classify(images[0])[0].label, "plain")
        result = model.evaluate(images, labels)
        self.assertEqual((result.images, result.top1), (60, 1))
        self.assertEqual(result.confusion.tolist(), [[30, 0], [0, 30]])
        self.assertEqual(model.embed(images).shape, (60, model.info["features"]))
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.npz")
            np.savez_compressed(path, x_train=images[:48], y_train=labels[:48, None],
                                x_test=np.asfortranarray(images[48:]), y_test=labels[48:] == 1)
            self.assertEqual(vit.evaluate(model, path).images, 12)
        for wrong in ({"images": images / 255.0, "labels": labels}, {"images": images},
                      {"images": images, "labels": labels[:9]}, {"data": "digits", "val": (1, 2)}):
            with self.assertRaises(TypeError):
                vit.train(**wrong)
        with self.assertRaisesRegex(vit.Error, "picture 3 is -1"):
            vit.train(images=images, labels=np.where(np.arange(60) == 3, -1, labels))

    def test_a_training_is_stopped(self):
        with self.assertRaises(vit.Error) as caught:
            vit.train("digits", steps=50, callback=lambda event: event["event"] != "step")
        self.assertEqual(caught.exception.status, "cancelled")

        def fails(event):
            raise KeyError("of the caller")
        with self.assertRaises(KeyError):
            vit.train("digits", steps=50, callback=fails)

    def test_classes_are_taught_by_a_few_pictures(self):
        rng = np.random.default_rng(3)
        light = [rng.integers(150, 256, (28, 28), np.uint8) for _ in range(6)]
        dark = [rng.integers(0, 106, (28, 28), np.uint8) for _ in range(6)]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "taught.safetensors")
            model = vit.teach("mnist", {"light": light[:5], "dark": dark[:5]}, out=out)
            self.assertEqual(model.labels, ["light", "dark"])
            self.assertEqual(model.learnt["pictures"], 10)
            self.assertEqual(model.learnt["accuracy"], 1)
            self.assertEqual([a[0].label for a in model.classify([light[5], dark[5]])],
                             ["light", "dark"])
            saved = vit.Model(out)
            self.assertEqual(saved.logits(light[5]).tobytes(), model.logits(light[5]).tobytes())
            backbone = os.path.join(folder, "network.safetensors")
            shutil.copyfile(vit._find("mnist"), backbone)
            vit.teach(backbone, {"light": light[:5], "dark": dark[:5]}, out=out, backbone=backbone)
            self.assertLess(os.path.getsize(out), 10000)
            saved = vit.Model(out)
            self.assertEqual(saved.logits(light[5]).tobytes(), model.logits(light[5]).tobytes())
        with self.assertRaisesRegex(vit.Error, "two or more"):
            vit.teach("mnist", {"light": light})

    def test_taught_pictures_are_forgotten(self):
        rng = np.random.default_rng(4)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.pgm") for i in range(7)]
            for i, path in enumerate(paths):
                pathlib.Path(path).write_bytes(
                    b"P5 28 28 255\n" + rng.integers(i % 2 * 90, 160, 784, np.uint8).tobytes())
            kept, all_, never = [os.path.join(folder, n) for n in ("kept", "all", "never")]
            vit.teach("mnist", {"a": paths[:4], "b": paths[4:6]}, lessons=kept)
            model = vit.reteach("mnist", kept, forget=["a/0.pgm"], relabel={"1.pgm": "b"},
                                add={"c": paths[6]}, out=all_)
            vit.teach("mnist", {"c": paths[6:], "b": [paths[5], paths[1], paths[4]],
                                "a": paths[2:4]}, lessons=os.path.join(folder, "l"), out=never)
            self.assertEqual(model.labels, ["a", "b", "c"])
            self.assertEqual(pathlib.Path(all_).read_bytes(), pathlib.Path(never).read_bytes())
            with self.assertRaisesRegex(vit.Error, "0.pgm: no picture of the 6"):
                vit.reteach("mnist", kept, forget=["0.pgm"])
            with self.assertRaises(TypeError):
                vit.reteach("mnist", kept, forget="1.pgm")
            with self.assertRaisesRegex(TypeError, "paths are expected"):
                vit.teach("mnist", {"a": np.zeros((28, 28), np.uint8), "b": paths[1:2]},
                          lessons=os.path.join(folder, "none"))

    def test_threads_share_a_model(self):
        want, got = self.model.logits(NINE), []
        threads = [threading.Thread(target=lambda: got.append(self.model.logits(NINE)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in got:
            np.testing.assert_array_equal(one, want)
        self.assertEqual(len(got), 4)

    def test_children_of_fork(self):
        want = drawn_logits(self.model)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if drawn_logits(self.model) == want else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        with multiprocessing.get_context("fork").Pool(2, inherit, [self.model]) as pool:
            got = pool.map_async(drawn_logits, [None] * 4).get(timeout=60)
        self.assertEqual(got, [want] * 4)

    def test_reliance(self):
        model = vit.Model("mnist")
        digits = np.zeros((120, 28, 28), np.uint8)
        for i, picture in enumerate(digits):
            vit._lib.vit_draw_digit(picture.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)), 2, i)
        bank = vit.Bank(model, list(digits[:25]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bank")
            bank.save(path)
            again = vit.Bank(model, path)
        self.assertEqual(again.scores, bank.scores)
        good, bad = again.test(digits[0]), again.test([255 - digits[0]])[0]
        self.assertLess(good.score, 1e-4)
        self.assertEqual(good.map.shape, (model.info["rows"], model.info["columns"]))
        self.assertEqual(bad.p_value <= .05, bad.score >= bank.threshold(.05))
        self.assertRaises(vit.Error, bank.threshold, .01)
        labels = [vit._lib.vit_draw_digit((ctypes.c_uint8 * 784)(), 2, i) for i in range(120)]
        with tempfile.TemporaryDirectory() as folder:
            data, path = os.path.join(folder, "d.npz"), os.path.join(folder, "calibration")
            np.savez(data, test_images=digits, test_labels=np.array(labels))
            made = vit.Calibration.of(model, data)
            made.save(path)
            calibration = vit.Calibration(model, path)
        sets = calibration.sets(digits, .9)
        held = sum(str(label) in chosen for label, chosen in zip(labels, sets))
        self.assertGreaterEqual(held, 108)
        self.assertEqual(calibration.sets(digits[3], .9), sets[3])
        answers = calibration.unknown(digits, .05)
        self.assertLessEqual(sum(a.unknown for a in answers), 18)
        self.assertEqual(calibration.unknown(digits[5], .05)[:2], answers[5][:2])
        self.assertRaises(ValueError, calibration.sets, digits, .9, score="best")
        self.assertRaises(vit.Error, vit.Calibration, model, "no-such-file")

    def test_words(self):
        fixtures = pathlib.Path(__file__).parent.parent / "tests/fixtures"
        clip, picture = fixtures / "words/clip", fixtures / "published/picture.png"
        words, labels = vit.TextEncoder(clip), ["cat", "a dog, a red bus", "house.no"]
        rows = words.embed(labels, unit=True)
        self.assertEqual(rows.shape, (3, words.features))
        self.assertEqual(words.embed(labels[1], unit=True).tobytes(), rows[1].tobytes())
        self.assertEqual(words.tokens(""), 2)
        image = vit.Model(clip, labels=labels).embed(picture)
        want = words.scale * rows @ (image / np.linalg.norm(image))
        np.testing.assert_allclose(vit.Model(clip, labels=labels).logits(picture), want, rtol=2e-5,
                                   atol=2e-5 * abs(want).max())
        photos, alone = (vit.Model(clip, labels=labels, templates=t).logits(picture)
                         for t in ("a photo of a {}", ["{}"]))
        self.assertNotEqual(photos.tobytes(), alone.tobytes())
        for wrong in (lambda: words.embed("word " * 90),
                      lambda: vit.TextEncoder("mnist.safetensors"),
                      lambda: vit.Model(clip, labels=["cat", "cat"]),
                      lambda: vit.Model("mnist", templates="a {}")):
            self.assertRaises(vit.Error, wrong)
        self.assertRaises(TypeError, words.embed, [1])
        self.assertEqual(words.embed([]).shape, (0, words.features))

    def test_copies_and_pickles(self):
        for one, use in ((vit.Model(), lambda m: m.logits(NINE).tobytes()),
                         (vit.TextEncoder(CLIP), lambda w: w.embed("a cat").tobytes())):
            want = use(one)
            copies = [copy.copy(one), copy.deepcopy({"it": one})["it"]]
            del one
            gc.collect()
            self.assertEqual([use(each) for each in copies], [want, want])
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(copies[0])
            copies[0].__init__(*(() if isinstance(copies[0], vit.Model) else (CLIP,)))
            gc.collect()
            self.assertEqual(use(copies[1]), want)

    def test_nothing_is_said_at_exit(self):
        source = ("import vit, builtins\nclass Ring: pass\nring = Ring()\nring.ring = ring\n"
                  f"ring.held = builtins.held = [vit.Model(), vit.TextEncoder({str(CLIP)!r})]\n")
        done = subprocess.run([sys.executable, "-c", source], cwd=HERE, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_wrong_types_are_refused(self):
        array, model = np.zeros((28, 28), np.uint8), self.model
        for wrong in (lambda: vit.train("digits", cluster=True),
                      lambda: vit.train("digits", user=7), lambda: vit.TextEncoder(None),
                      lambda: vit.teach("mnist", [array]),
                      lambda: vit.teach("mnist", {1: [array], "b": [array]}),
                      lambda: vit.teach("mnist", {"a": None, "b": [array]}),
                      lambda: vit.evaluate("mnist", "digits"), lambda: vit.Model(None),
                      lambda: vit.evaluate(model, "digits", note=3),
                      lambda: vit.Model(size=(28, "a")), lambda: model.prepared(None)):
            self.assertRaises(TypeError, wrong)
        turned = np.zeros((28, 28, 2, 2), np.uint8)
        turned[3:9] = 200
        turned = turned[:, ::-1, 0, 1]
        self.assertEqual(model.logits(turned).tobytes(), model.logits(turned.copy()).tobytes())
        self.assertEqual(model.logits(array[:0, None]).shape, (0, 10))

    def test_names_of_classes(self):
        images, labels = np.zeros((8, 16, 16), np.uint8), np.arange(8) % 2
        for names, error in ((["a", "a"], vit.Error), (["a", ""], vit.Error),
                             (["a\0", "a"], ValueError), (["a"], vit.Error)):
            with self.assertRaises(error, msg=str(names)):
                vit.train(images=images, labels=labels, names=names, steps=1)
        for names, error in ((("", "b"), vit.Error), (("a\0", "a"), ValueError),
                             (("a", b"a"), vit.Error)):
            with self.assertRaises(error, msg=str(names)):
                vit.teach("mnist", {name: list(images[:, :4]) for name in names})

    def test_an_array_is_taught_as_one_picture(self):
        rng = np.random.default_rng(2)
        four = rng.integers(0, 256, (4, 32, 32, 3), np.uint8)
        taught = vit.teach("cifar10", {"a": four[0] // 2, "b": four})
        self.assertEqual(taught.learnt["pictures"], 5)

    def test_models_are_freed(self):
        for _ in range(3):
            vit.Model("mnist").classify(NINE)
        gc.collect()


class Tap(unittest.TextTestResult):
    """A line a test, as tests/run counts them."""
    count = 0

    def report(self, test, verdict):
        Tap.count += 1
        print(f"{verdict} {Tap.count} - {test._testMethodName}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.report(test, "ok")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.report(test, "not ok")

    def addError(self, test, error):
        super().addError(test, error)
        self.report(test, "not ok")


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Tap, verbosity=0))
