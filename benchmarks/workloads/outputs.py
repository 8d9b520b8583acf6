"""Reproducible outputs of tools, of each kind and of any size."""

import json
import random
from collections.abc import Callable

_LEVELS = ("INFO", "INFO", "INFO", "INFO", "DEBUG", "WARNING", "ERROR")
_CODE = '''
class Account{n}(Base):
    """One account."""

    def deposit(self, amount: int) -> None:
        if amount <= 0:
            raise ValueError(amount)
        self.total += amount


def open_account_{n}(name: str) -> Account{n}:
    return Account{n}(name, total=0)
'''


def output_of(kind: str, size: int, seed: int) -> str | bytes:
    """Return bytes of JSON, log, code, text or binary; another seed gives other bytes."""
    rng = random.Random(seed)
    if kind == "binary":
        return rng.randbytes(size)
    if kind == "JSON":
        return _json(size, rng)
    parts: list[str] = [f"{seed}\n"]
    length = 0
    while length < size:
        parts.append(_PARTS[kind](rng, len(parts)))
        length += len(parts[-1])
    return "".join(parts)[:size]


def _json(size: int, rng: random.Random) -> str:
    items: list[str] = []
    length = 0
    while length < size - 100:
        items.append(json.dumps(_item(rng, len(items))))
        length += len(items[-1]) + 2
    return f'{{"results": [{", ".join(items)}], "total": {len(items)}}}'


def _item(rng: random.Random, number: int) -> dict[str, object]:
    return {
        "id": number,
        "name": f"user, {rng.randrange(10**6)}",
        "tags": ["a", "b"],
        "place": {"x": rng.random(), "y": [1, 2]},
    }


def _log(rng: random.Random, number: int) -> str:
    return (
        f"2026-11-21T06:{number // 60 % 60:02}:{number % 60:02}.000 {rng.choice(_LEVELS)} "
        f"worker-{number % 7} handled request {number} in {rng.randrange(300)} ms\n"
    )


def _code(_rng: random.Random, number: int) -> str:
    return _CODE.format(n=number)


def _text(rng: random.Random, _number: int) -> str:
    words = ("agents", "report", "how", "each", "task", "went", "and", "go", "on", "so")
    return " ".join(rng.choices(words, k=12)) + ".\n"


_PARTS: dict[str, Callable[[random.Random, int], str]] = {
    "log": _log,
    "code": _code,
    "text": _text,
}
KINDS = ("JSON", "log", "code", "text", "binary")
