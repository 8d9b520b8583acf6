"""The model of a world: every entry that was acknowledged, and the agents that send them."""

import random
import threading
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec

DAY_S = 86_400.0
PROJECTS = ("shop", "search")
_PATTERNS = ("Split by feature", "Plan first", "Big bang", "Test first", "Rewrite it all")
_TOOLS = ("grep", "read_file", "edit_file", "run_tests", "build", "apply_patch")
_SOURCES = ("ada", "bob", "eve")
_WORDS = ("port", "cache", "login", "build", "queue", "index", "token", "retry", "shard", "merge")
# How many of the last entries may be delivered once more.
_REMEMBERED = 400
_AGAIN = 0.2


@dataclass(frozen=True)
class Sent:
    """One entry as it is sent.

    Attributes:
        kind: the field of its body on the stream.
        body: its JSON.
        whose: the project and the source by which it may be forgotten; None for what stays.
    """

    kind: str
    body: bytes
    whose: tuple[str, str] | None = None


@dataclass
class Ledger:
    """The entries that a world has acknowledged, and the number of hostile ones.

    Attributes:
        entries: acknowledged, in order, each once.
        hostile: hostile entries that Redis acknowledged.
        unsure: hostile entries whose acknowledgement was lost; each may be there or not.
        happened: other counts, for the report.
    """

    entries: list[Sent] = field(default_factory=list)
    hostile: int = 0
    unsure: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    _known: set[Sent] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def acknowledge(self, sent: list[Sent]) -> None:
        """Note entries that must be on record at the end."""
        with self._lock:
            self.entries += [each for each in sent if each not in self._known]
            self.happened["delivered twice"] += sum(each in self._known for each in sent)
            self._known.update(sent)

    def forget(self, whose: tuple[str, str]) -> int:
        """Note that a source was forgotten; return how many of its entries there were."""
        with self._lock:
            before = len(self.entries)
            self.entries = [each for each in self.entries if each.whose != whose]
            return before - len(self.entries)


class Fleet:
    """Agents whose reports are all different, and mean the same in any order of arrival.

    Each says itself when it happened, at least two days ago: clocks may be set back by one.

    Args:
        chance: the source of all randomness.
        now: seconds since the epoch.
    """

    def __init__(self, chance: random.Random, now: float) -> None:
        self._chance = chance
        self._now = now
        self._number = count(1)
        self._recent: deque[Sent] = deque(maxlen=_REMEMBERED)
        self._told: deque[dict[str, Any]] = deque(maxlen=_REMEMBERED)

    def reports(self, number: int) -> list[Sent]:
        """Return reports out of order, some of which were sent before."""
        sent = [self._report() for _ in range(number)]
        again = [each for each in sent if self._recent and self._chance.random() < _AGAIN]
        again = self._chance.sample(self._recent, min(len(again), len(self._recent)))
        self._recent.extend(sent)
        sent += again
        self._chance.shuffle(sent)
        return sent

    def leavers(self, project: str) -> tuple[tuple[str, str], list[Sent]]:
        """Return the project and the name of a source that will be forgotten, and its reports."""
        whose = (project, f"leaver-{next(self._number)}")
        return whose, [
            Sent("body", _json(self._outcome() | {"project": project, "source": whose[1]}), whose)
            for _ in range(5)
        ]

    def probe(self) -> tuple[str, str, Sent]:
        """Return the project and the id of an outcome, and the outcome."""
        fields = self._outcome()
        return fields["project"], fields["outcome_id"], Sent("body", _json(fields))

    def outcomes(self, number: int) -> list[dict[str, Any]]:
        """Return the fields of outcomes."""
        return [self._outcome() for _ in range(number)]

    def _report(self) -> Sent:
        make = self._chance.choices(
            (self._new_outcome, self._amendment, self._feedback, self._memory, self._exposure,
             self._recall, self._error),
            (60, 15, 8, 4, 6, 3, 4),
        )[0]  # fmt: skip
        return make()

    def _new_outcome(self) -> Sent:
        fields = self._outcome()
        self._told.append(fields)
        return Sent("body", _json(fields))

    def _outcome(self) -> dict[str, Any]:
        chance, number = self._chance, next(self._number)
        fields: dict[str, Any] = {
            "outcome_id": f"o{number}",
            "task_id": f"t{number}",
            "project": chance.choice(PROJECTS),
            "source": chance.choice(_SOURCES),
            "success": chance.choice((True, True, True, False, None)),
            "timestamp": self._time(),
            "duration_ms": chance.randrange(1_000, 900_000),
            "error_count": chance.choice((0, 0, 1, 7)),
            "patterns": chance.sample(_PATTERNS, chance.randrange(3)),
        }
        if chance.random() < 0.5:
            fields["tool_graph"] = [
                {"tool": tool, "args": {"n": number}, "ok": chance.random() > 0.1}
                for tool in chance.choice((_TOOLS[:3], _TOOLS[2:5], _TOOLS[1:4]))
            ]
            fields["trigger"] = {"signal": f"error {number % 7} in the build"}
        if chance.random() < 0.2:
            fields["criteria"] = {chance.choice(("readable", "small")): "helpful"}
        return fields

    def _amendment(self) -> Sent:
        """Return another word on an outcome, which may not have arrived yet."""
        if not self._told:
            return self._new_outcome()
        first = self._chance.choice(self._told)
        names = ("outcome_id", "task_id", "project", "source")
        verdict = {
            "success": self._chance.random() < 0.5,
            "outcome_source": self._chance.choice(("evaluator", "tests", "explicit")),
            "timestamp": first["timestamp"] + self._chance.random() * DAY_S / 2,
        }
        return Sent("body", _json({name: first[name] for name in names} | verdict))

    def _feedback(self) -> Sent:
        thing: dict[str, Any] = self._chance.choice(
            ({"pattern": self._chance.choice(_PATTERNS)}, {"criterion": "readable"})
        )
        return Sent("feedback", _json(thing | {
            "feedback_id": f"f{next(self._number)}", "timestamp": self._time(),
            "verdict": self._chance.choice(("helpful", "harmful", "neutral")),
            "project": self._chance.choice(PROJECTS), "source": self._chance.choice(_SOURCES),
        }))  # fmt: skip

    def _memory(self) -> Sent:
        number = next(self._number)
        words = " ".join(f"{self._chance.choice(_WORDS)}{number}x{n}" for n in range(8))
        return Sent("memory", _json({
            "memory_id": f"m{number}", "project": self._chance.choice(PROJECTS), "text": words,
            "source": self._chance.choice(_SOURCES), "force": True,
        }))  # fmt: skip

    def _exposure(self) -> Sent:
        number = next(self._number)
        return Sent("exposure", _json({
            "exposure_id": f"e{number}", "task_id": f"x{number}", "at": self._time(),
            "project": self._chance.choice(PROJECTS), "entries": ["split-by-feature"],
        }))  # fmt: skip

    def _recall(self) -> Sent:
        return Sent("recall", _json({
            "memories": [f"m{self._chance.randrange(1, 10_000)}"], "at": self._time(),
            "project": self._chance.choice(PROJECTS),
        }))  # fmt: skip

    def _error(self) -> Sent:
        number = next(self._number)
        return Sent("error", _json({
            "task_id": f"t{number % 50}", "error_id": f"e{number}", "message": f"it broke {number}",
            "project": self._chance.choice(PROJECTS),
        }))  # fmt: skip

    def _time(self) -> float:
        return round(self._now - self._chance.uniform(3 * DAY_S, 30 * DAY_S), 3)


class Attacker:
    """Entries that no worker may learn, and that may stop none.

    Each is refused by its construction: a mutation that happens to be valid is not sent.

    Args:
        chance: the source of all randomness.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._large = b'{"task_id":"t","success":true,"metadata":{"x":"' + b"y" * 1_100_000

    def entries(self, number: int) -> Iterator[dict[bytes, bytes]]:
        """Yield the fields of entries of the stream."""
        for _ in range(number):
            yield self._fields()

    def bodies(self, number: int) -> list[bytes]:
        """Return bodies for the front door."""
        return [self._body() for _ in range(number)]

    def _fields(self) -> dict[bytes, bytes]:
        chance = self._chance
        if chance.random() < 0.1:
            return chance.choice((
                {b"body": b'{"task_id":"t","success":true}'}, {b"v": b"2", b"body": b"{}"},
                {b"v": b"1"}, {b"v": b"1", b"body": b"{}", b"memory": b"{}"},
                {chance.randbytes(9): chance.randbytes(30)},
                {f"f{n}".encode(): b"x" for n in range(40)},
            ))  # fmt: skip
        kinds = (b"body", b"body", b"body", b"memory", b"exposure", b"recall", b"feedback",
                 b"error", b"hint")  # fmt: skip
        return {b"v": b"1", chance.choice(kinds): self._body()}

    def _body(self) -> bytes:
        chance = self._chance
        bad: Any = chance.choice((-1, 1.5, 2**60, "", [], {}, "x" * 300, True, "\ud800", "a\0b"))
        whole = json_of_any({
            "task_id": "t" * chance.randrange(1, 40), "success": True, "outcome_id": "h",
            # Each kind has one of these, and none may have such a value.
            "project": "p" * 129, "note": chance.random(),
            chance.choice(("timestamp", "duration_ms", "patterns", "criteria", "tool_graph")): bad,
        })  # fmt: skip
        if chance.random() < 0.0005:
            return self._large
        kind = chance.randrange(6)
        if kind == 0:
            return whole[: chance.randrange(len(whole))]
        if kind == 1:
            return chance.randbytes(chance.randrange(200)) + b"\xff"
        if kind == 2:
            depth = chance.randrange(10, 3000)
            return b'{"task_id":"t","success":' + b"[" * depth
        if kind == 3:
            place = chance.randrange(len(whole))
            # Not UTF-8, wherever it is.
            return whole[:place] + b"\xfe" + chance.randbytes(3) + whole[place:]
        if kind == 4:
            return json_of_any(bad)
        return whole


def json_of_any(value: Any) -> bytes:
    """Return JSON also of lone surrogates, which a strict encoder refuses."""
    import json

    return json.dumps(value).encode()


def _json(fields: dict[str, Any]) -> bytes:
    return msgspec.json.encode(fields)
