"""300 texts that attack a page: what an agent may write anywhere, because anybody may tell it to.

Each that could run calls `alert`, asks for something at `elsewhere.invalid`, or sets
`window.hostile`; a page on which nothing of it happens, and which is not wider than before, has
shown it as text. Beside this file are elements, what may end the place where a text stands so that
they are read as such, and texts that attack alone; a long one is what it begins with, what it
repeats, how often, and what it ends with.
"""

import json
from pathlib import Path
from typing import Any, Final

_STANDS_FOR: Final = {
    "CALL": "window.hostile=1;alert(1);fetch('//elsewhere.invalid/x')",
    "URL": "//elsewhere.invalid/x",
}


def _text(given: str | list[Any]) -> str:
    if not isinstance(given, str):
        begun, repeated, times, ended = given
        return f"{begun}{repeated * times}{ended}"
    for name, meant in _STANDS_FOR.items():
        given = given.replace(name, meant)
    return given


_GIVEN: Final = json.loads(Path(__file__).with_suffix(".json").read_text())
_ALONE: Final = [_text(each) for each in _GIVEN["alone"]]
_BROKEN: Final = [
    before + _text(element) for before in _GIVEN["breaks"] for element in _GIVEN["elements"]
]
HOSTILE_TEXTS: Final = (*_BROKEN[: 300 - len(_ALONE)], *_ALONE)
