"""Puts libvit.so, which make builds, and the shipped models into the package."""
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r'VERSION = "(.*?)"', (ROOT / "python/vit/_api.py").read_text())[1]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        subprocess.run(["make", "-s", "-C", str(ROOT), "build/lib/libvit.so"], check=True)
        package = pathlib.Path(self.build_lib) / "vit"
        (package / "models").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "build/lib/libvit.so", package)
        for model in (ROOT / "models").glob("*.safetensors"):
            shutil.copy(model, package / "models")


class OfOnePlatform(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, cmdclass={"build_py": BuildWithLibrary}, distclass=OfOnePlatform)
