"""Loaded by the interpreter of a program that `trackrecord run` started, before its first line.

Whatever goes wrong here, the program runs as if it had been started without.
"""

import contextlib
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _watch():
    tracing = _load("_trackrecord_tracing", os.path.join(_HERE, "trackrecord_tracing.py"))
    tracing.watch(_HERE)


def _load_the_other():
    """Load the environment's own sitecustomize, which this one hides."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.origin:
        _load("sitecustomize", spec.origin)


with contextlib.suppress(Exception):
    _watch()
_load_the_other()
