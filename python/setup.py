"""Puts libvit.so, which make builds, and the shipped models into the package. VIT_LIBRARY names one
that is already built (scripts/wheel)."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r'VERSION = "(.*?)"', (ROOT / "python/vit/_api.py").read_text())[1]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = os.environ.get("VIT_LIBRARY")
        if not library:
            subprocess.run(["make", "-s", "-C", str(ROOT), "build/lib/libvit.so"], check=True)
            library = ROOT / "build/lib/libvit.so"
        package = pathlib.Path(self.build_lib) / "vit"
        (package / "models").mkdir(parents=True, exist_ok=True)
        shutil.copy(library, package / "libvit.so")
        for model in (ROOT / "models").glob("*.safetensors"):
            shutil.copy(model, package / "models")


class OfOnePlatform(Distribution):
    def has_ext_modules(self):
        return True


class OfEveryPython(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(version=VERSION, distclass=OfOnePlatform,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": OfEveryPython})
