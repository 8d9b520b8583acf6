"""Kinds of task: tasks that are alike enough to be compared, found by counting.

The trigger tells the kind where agents report one often enough, else the words of the instruction,
else the repository. What is left is one kind, `OTHER`. Kinds depend on the set of runs alone, not
on their order.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Final
from zlib import crc32

from ...text.inert import one_line, unlabelled
from ..runs.runs import Run
from .task_clusters import Clusters, find_clusters

OTHER: Final = "other"
# Kinds by trigger and by repository: the commonest ones.
_MOST_NAMED: Final = 200
_LEAST_RUNS: Final = 3
# Texts that clusters are made from.
_MOST_TEXTS: Final = 600
_MOST_NAME_CHARS: Final = 60
_DIGIT: Final = re.compile(r"\d")
# An id, a number, a date, a path with one of these.
_WITH_DIGITS: Final = re.compile(r"[^\s\d]{0,200}\d\S*")

_TRIGGER: Final = "trigger"
_WORDS: Final = "words"
_REPOSITORY: Final = "repository"


@dataclass(frozen=True)
class Kinds:
    """The kinds of task of a project.

    Attributes:
        names: what people call them, by position; the last one is `OTHER`.
        triggers: the positions of kinds by trigger.
        repositories: the positions of kinds by repository.
        clusters: finds the position of a kind by words.
    """

    names: tuple[str, ...] = (OTHER,)
    triggers: Mapping[str, int] = field(default_factory=dict)
    repositories: Mapping[str, int] = field(default_factory=dict)
    clusters: Clusters = field(default_factory=Clusters)

    @property
    def other(self) -> int:
        """The position of the kind that is left."""
        return len(self.names) - 1

    def position_for(self, text: str = "", *, trigger: str = "", repository: str = "") -> int:
        """Return the position of a task's kind.

        Args:
            text: the task's text, "" if unknown.
            trigger: the signal of its trigger, "" if unknown.
            repository: the repository it works in, "" if unknown.
        """
        found = self.triggers.get(_folded(trigger)) if trigger else None
        if found is None and text:
            found = self.clusters.position_for(text)
            if found is not None:
                found += len(self.triggers)
        if found is None and repository:
            found = self.repositories.get(_folded(repository))
        return self.other if found is None else found

    def positions(self, runs: Iterable[Run]) -> list[int]:
        """Return the positions of the runs' kinds; tasks that look alike are looked up once."""
        known: dict[tuple[str, str, str], int] = {}
        positions = []
        for run in runs:
            key = (run.instruction, run.trigger, run.repository)
            found = known.get(key)
            if found is None:
                found = known[key] = self.position_for(
                    run.instruction, trigger=run.trigger, repository=run.repository
                )
            positions.append(found)
        return positions


def find_kinds(runs: Iterable[Run]) -> Kinds:
    """Return the kinds of task that runs are of."""
    runs = list(runs)
    triggers = _commonest(_folded(run.trigger) for run in runs)
    left = [run for run in runs if _folded(run.trigger) not in triggers]
    texts = Counter(run.instruction for run in left if run.instruction)
    clusters = find_clusters(_of_each_template(texts, _MOST_TEXTS))
    repositories = _commonest(_folded(run.repository) for run in left)
    return Kinds(
        names=_unique(
            [
                *((_TRIGGER, _name(trigger)) for trigger in triggers),
                *((_WORDS, " ".join(words)) for words in clusters.names),
                *((_REPOSITORY, _name(repository)) for repository in repositories),
            ]
        ),
        triggers={trigger: position for position, trigger in enumerate(triggers)},
        repositories={
            repository: len(triggers) + len(clusters.names) + position
            for position, repository in enumerate(repositories)
        },
        clusters=clusters,
    )


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _commonest(names: Iterable[str]) -> list[str]:
    """Return the names that enough runs have, sorted."""
    counts = Counter(name for name in names if name)
    frequent = Counter({name: count for name, count in counts.items() if count >= _LEAST_RUNS})
    return _most_frequent(frequent, _MOST_NAMED)


def _of_each_template(texts: Counter[str], most: int) -> list[str]:
    """Return one text of each template in turn, sorted: so that those of rare tasks are there."""
    if len(texts) <= most:
        return sorted(texts)
    templates: defaultdict[str, list[str]] = defaultdict(list)
    for text in sorted(texts, key=lambda text: (-texts[text], _digest(text), text)):
        templates[_WITH_DIGITS.sub("#", text)].append(text)
    turns = zip_longest(*templates.values())
    in_turn = (text for turn in turns for text in turn if text is not None)
    return sorted(islice(in_turn, most))


def _digest(name: str) -> int:
    return crc32(name.encode("utf-8", "surrogatepass"))


def _most_frequent(counts: Counter[str], most: int) -> list[str]:
    """Return the most frequent ones, sorted; of equally frequent ones some, not the first by name.

    Texts that begin with the same word are often of one kind.
    """
    if len(counts) <= most:
        return sorted(counts)
    return sorted(sorted(counts, key=lambda name: (-counts[name], _digest(name), name))[:most])


def _name(label: str) -> str:
    """Return the name of a trigger or a repository for people, without words that have digits."""
    words = " ".join(word for word in label.split() if not _DIGIT.search(word))
    return one_line(unlabelled(one_line(words)), _MOST_NAME_CHARS)


def _unique(labels: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names, each once: of equal ones the later are numbered."""
    taken = {OTHER}
    names = []
    for source, label in labels:
        name = base = label or source
        number = 1
        while name in taken:
            number += 1
            name = f"{base} ({number})"
        taken.add(name)
        names.append(name)
    return (*names, OTHER)
