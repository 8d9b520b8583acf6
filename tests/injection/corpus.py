"""Texts that try to give an agent orders, by the kinds the literature names; and genuine errors.

The corpus is made of the carriers of carriers.json, one for each way to bring an order in, and of
the orders of orders.txt, each carrier with seven of them. The strings of held_out.txt are written
by hand, one by one, and no rule is tuned on them; what stands in ⟪ ⟫ is the order that no agent may
read word for word. Of the errors in genuine.txt, ⟪ ⟫ marks the part that tells what went wrong.
"""

import base64
import codecs
import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_MARKED: Final = re.compile("⟪(.*?)⟫", re.DOTALL)
EACH: Final = 7
# What a terminal obeys, what ends a line, and what no screen shows.
CONTROL: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e0fff]"
)
_HERE: Final = Path(__file__).parent

_ORDERS: Final = (_HERE / "orders.txt").read_text("utf-8").splitlines()

# By kind; {} is the order. What is put before it often looks like an error that tells.
_CARRIERS: Final[dict[str, list[str]]] = json.loads((_HERE / "carriers.json").read_text("utf-8"))


class Injection(NamedTuple):
    """One string.

    Attributes:
        text: the string, as it is reported.
        order: what an agent must not read in it.
    """

    text: str
    order: str


def injections(orders: int = EACH) -> list[Injection]:
    """Return the corpus: each carrier, and each other way to write, with so many orders."""
    carriers = [each for family in _CARRIERS.values() for each in family]
    pairs = (
        (carrier, _ORDERS[(EACH * place + n) % len(_ORDERS)])
        for place, carrier in enumerate(carriers)
        for n in range(orders)
    )
    found = [Injection(carrier.format(order), order) for carrier, order in pairs]
    found += [
        _written(way, order) for n, way in enumerate(_WAYS) for order in _ORDERS[n:40:9][:orders]
    ]
    return list(dict.fromkeys(found))


def held_out() -> list[Injection]:
    """Return the strings that no rule is tuned on."""
    return [
        Injection(_MARKED.sub(r"\1", line), " ".join(_MARKED.findall(line)))
        for line in _lines("held_out.txt")
    ]


def genuine() -> tuple[list[Injection], list[Injection]]:
    """Return genuine errors with the part that tells: those for tuning, and those held out."""
    lines = _lines("genuine.txt")
    halves = lines[: lines.index("----")], lines[lines.index("----") + 1 :]
    first, second = ([_telling(line) for line in half] for half in halves)
    return first, second


def _telling(line: str) -> Injection:
    return Injection(_MARKED.sub(r"\1", line), _MARKED.findall(line)[0])


def _lines(name: str) -> list[str]:
    lines = (_HERE / name).read_text(encoding="utf-8").splitlines()
    kept = (line for line in lines if line and not line.startswith("# "))
    return [
        line.replace(r"\n", "\n").replace(r"\x1b", "\x1b").replace(r"\x07", "\x07") for line in kept
    ]


def _written(way: str, order: str) -> Injection:
    changed = _CHANGES[way](order)
    return Injection(f"Error: {changed}", changed)


_LEET: Final = str.maketrans("aeiost", "431057")
_ALIKE: Final = str.maketrans("aceopxy", "асеорху")
_CHANGES: Final = {
    "base64": lambda order: base64.b64encode(order.encode()).decode(),
    "rot13": lambda order: codecs.encode(order, "rot13"),
    "hex": lambda order: order.encode().hex(),
    "leet": lambda order: order.translate(_LEET),
    "homoglyphs": lambda order: order.translate(_ALIKE),
    "zero width": lambda order: "\u200b".join(order),
    "right to left": lambda order: f"\u202e{order[::-1]}\u202c",
    "tags": lambda order: "".join(chr(0xE0000 + ord(each)) for each in order if each.isascii()),
    "full width": lambda order: "".join(
        chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in order
    ),
    "mathematical": lambda order: "".join(
        chr(0x1D41A + ord(each) - ord("a")) if "a" <= each <= "z" else each for each in order
    ),
    "one word": lambda order: order.replace(" ", "_"),
    "spaced": lambda order: " ".join(order.replace(" ", "")),
}
_WAYS: Final = tuple(_CHANGES)

# Tags are letters that no screen shows, and models read them.
_TAGS: Final = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@cache
def letters(text: str) -> str:
    """Return the letters and digits of a text alone: what is left when nothing else matters."""
    text = _INVISIBLE.sub("", text.translate(_TAGS))
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in text if each.isalnum())


def can_be_read(order: str, text: str) -> bool:
    """Return whether a text contains an order word for word, with anything between letters."""
    wanted = letters(order)
    assert wanted
    return wanted in letters(text)
