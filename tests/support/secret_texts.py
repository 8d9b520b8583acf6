"""Texts that hold a secret, of each kind that agents meet, and texts that look so and hold none.

They lie in secret_texts.json, and were written before any of them was tried.
"""

import json
from pathlib import Path
from typing import Final

# What must not be left of each: the part that is nobody's but its owner's.
VALUE: Final = "Zq7Rk2Wm9x"
PARTS: Final = (VALUE, "3f9a0c7e51", "zubrovka")

_TEXTS: Final = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
SECRET_TEXTS: Final[dict[str, str]] = _TEXTS["secret"]
HARMLESS: Final[tuple[str, ...]] = tuple(_TEXTS["harmless"])
