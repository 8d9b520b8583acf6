"""The watch over memory and files of the worlds while they are shaken."""

import contextlib
import threading
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import redis

from tests.soak.worlds import World
from trackrecord.redis.dead_letter_stream import MOST_BYTES, MOST_LETTERS

_EVERY_S = 10.0
_MB = 1_000_000
# Of a file that is checkpointed, or rotated; a transaction of a large batch needs room beside it.
_LARGEST_LOG = 100 * _MB
# How much more a process may hold in the last third of a run than in the middle one.
_GROWTH, _GROWTH_MB = 1.3, 25.0


class Watch(threading.Thread):
    """Look at processes and files again and again.

    Args:
        worlds: those to look at.
    """

    def __init__(self, worlds: list[World]) -> None:
        super().__init__(name="watch", daemon=True)
        self._worlds = worlds
        self._over = threading.Event()
        self._begun = time.monotonic()
        # World and kind → the time and the megabytes of the largest process of the kind.
        self.memory: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        self.largest: dict[tuple[str, str], float] = defaultdict(float)

    def run(self) -> None:
        """Look until it is ended."""
        while not self._over.wait(_EVERY_S):
            at = time.monotonic() - self._begun
            for world in self._worlds:
                for kind, processes in world.processes().items():
                    sizes = [size for each in processes if (size := pss_mb(each))]
                    if sizes:
                        self.memory[world.name, kind].append((at, max(sizes)))
                for name, size in files_mb(world).items():
                    place = world.name, name
                    self.largest[place] = max(self.largest[place], size)
                self._look_at_letters(world)

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()

    def thirds(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the median megabytes in the middle and in the last third, by world and kind."""
        found = {}
        for place, looks in self.memory.items():
            looks = looks[len(looks) // 3 :]
            half = len(looks) // 2
            if half:
                middle, last = ([mb for _, mb in part] for part in (looks[:half], looks[half:]))
                found[place] = median(middle), median(last)
        return found

    def failures(self) -> list[str]:
        """Return what grew that must not."""
        grown = [
            f"{world}: the memory of {kind} grew from {before:.0f} to {after:.0f} MB"
            for (world, kind), (before, after) in self.thirds().items()
            if len(self.memory[world, kind]) >= 30
            and after > _GROWTH * before and after > before + _GROWTH_MB
        ]  # fmt: skip
        large = [
            f"{world}: {name} had {size:.0f} MB"
            for (world, name), size in self.largest.items()
            if name in _BOUNDS and size * _MB > _BOUNDS[name]
        ]
        return grown + large

    def _look_at_letters(self, world: World) -> None:
        with contextlib.suppress(redis.RedisError, OSError, AttributeError, ValueError):
            answer: Any = world.client.get(world.settings.keys.dead_size)
            letters, size = map(int, answer.split())
            for name, number in (("dead letters", letters / _MB), ("their bytes", size / _MB)):
                self.largest[world.name, name] = max(self.largest[world.name, name], number)


_BOUNDS = {
    "write-ahead log": _LARGEST_LOG,
    "log": _LARGEST_LOG,
    "dead letters": MOST_LETTERS,
    "their bytes": MOST_BYTES,
}


def pss_mb(process: psutil.Process) -> float:
    """Return the memory of a process in MB, shared pages by their share; 0 if it is gone."""
    with contextlib.suppress(psutil.Error, OSError):
        return float(process.memory_full_info().pss) / _MB
    return 0.0


def files_mb(world: World) -> dict[str, float]:
    """Return the sizes of what a world writes, in MB."""
    home = world.settings.home
    return {
        "database": _mb(home / "trackrecord.db"),
        "write-ahead log": _mb(home / "trackrecord.db-wal"),
        "spool": _folder_mb(world.settings.spool_dir),
        "log": _mb(world.log),
        "Redis's file": _folder_mb(home / "redis") + _folder_mb(world.folder / "appendonlydir"),
    }


def _folder_mb(folder: Path) -> float:
    return sum(_mb(each) for each in folder.rglob("*")) if folder.is_dir() else 0.0


def _mb(file: Path) -> float:
    with contextlib.suppress(OSError):
        return file.stat().st_size / _MB
    return 0.0
