"""Kinds of secret, each in a text of kinds.json as it comes up in an agent's work."""

import json
from functools import reduce
from pathlib import Path
from typing import Final

# What must not be left of any of them, and nothing else holds.
MARKER: Final = "Vk7Qp3Lx9T"
HEX_MARKER: Final = "b7e4d90c6f"
_LONG: Final = f"Jt5R{MARKER}w2Ns8Yb4Gd6Hc1Mf0Za"
_HEX: Final = f"{HEX_MARKER}48a1f2c35d7e9b06a4c8d1e2f3{HEX_MARKER}"

_PUT: Final = {
    "@LONG@": _LONG,
    "@HEX@": _HEX,
    "@HEX32@": _HEX[:32],
    "@HEX48@": f"{HEX_MARKER}48a1f2c35d7e9b06a4c8d1e2f348a1f2c35d7e9b",
    "@MARKER@": MARKER,
}
KINDS: Final = {
    name: reduce(lambda said, put: said.replace(*put), _PUT.items(), text)
    for name, text in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()
}
PARTS: Final = tuple(part.encode()[:8] for part in (MARKER, MARKER.upper(), HEX_MARKER))
assert len(KINDS) == 71
