"""Kinds of task: tasks that are alike enough to be compared, found by counting.

The trigger tells the kind where agents report one often enough, else the words of the instruction,
else the repository. What is left is one kind, `OTHER`. Kinds depend on the set of runs alone, not
on their order.

By words, instructions form clusters: texts that share their rare words, as spherical k-means finds
them. The beginning is greedy: the text with the most similar ones leads the first cluster, and so
on.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from math import fsum, sqrt
from typing import Final
from zlib import crc32

from ...text.inert import one_line, unlabelled
from ..runs.runs import Run
from .task_index import TaskIndex, build_index, idf, index_words

# Texts at least so similar belong together; a text may be further from the middle of its cluster.
_ALIKE: Final = 0.2
_NEAR_CENTRE: Final = 0.15
_MOST_CLUSTERS: Final = 40
_LEAST_TEXTS: Final = 3
_NEIGHBOURS: Final = 60
_PASSES: Final = 3
# The words of a cluster that count when a text is assigned, and those of its name.
_WORDS_KEPT: Final = 40
_WORDS_OF_NAME: Final = 3
_LEAST_TEXTS_OF_NAME: Final = 2
_SHORTEST_WORD: Final = 3
# A word of one text makes it like no other; it is a name or a typing error.
_LEAST_TEXTS_OF_WORD: Final = 2
_DIGIT_OR_AT: Final = re.compile(r"[\d@]")

_Vector = Mapping[str, float]


@dataclass(frozen=True)
class Clusters:
    """Clusters of texts by their words.

    Attributes:
        names: the most characteristic words of each cluster, by position.
        centres: for each word, the clusters that it speaks for, and how much.
        rarity: how much each word counts in a text.
    """

    names: tuple[tuple[str, ...], ...] = ()
    centres: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)

    def position_for(self, text: str) -> int | None:
        """Return the position of the cluster a text belongs to; None if it resembles none."""
        return _nearest(_vector(index_words(text), self.rarity), self.centres)


def find_clusters(texts: Collection[str]) -> Clusters:
    """Return the clusters of distinct texts, in which each has a few texts at least."""
    texts = sorted(set(texts))
    rarity = _rarity(build_index(texts))
    vectors = [_vector(index_words(text), rarity) for text in texts]
    groups = _beginning([" ".join(vector) for vector in vectors])
    for _ in range(_PASSES):
        centres = _by_word(_centre(vectors[each] for each in group) for group in groups)
        groups = _assigned(vectors, centres)
    found = sorted(
        (_name_of_cluster(centre, [texts[each] for each in group]), sorted(centre.items()))
        for group in groups
        for centre in (_centre(vectors[each] for each in group),)
    )
    centres = _by_word(dict(centre) for _, centre in found)
    return Clusters(tuple(name for name, _ in found), centres, rarity)


def _rarity(index: TaskIndex) -> dict[str, float]:
    """Return how much each word counts that several texts have."""
    counts = {word: len(array("I", positions)) for word, positions in index.words.items()}
    return {
        word: idf(count, index.size)
        for word, count in counts.items()
        if count >= _LEAST_TEXTS_OF_WORD and (len(word) >= _SHORTEST_WORD or not word.isascii())
    }


def _vector(words: Iterable[str], rarity: _Vector) -> dict[str, float]:
    """Return the vector of a text, of length 1, with its words in a fixed order."""
    weights = {word: rarity[word] for word in sorted(words) if word in rarity}
    length = sqrt(fsum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()}


def _beginning(texts: Sequence[str]) -> list[list[int]]:
    """Return groups around the texts that have the most similar ones."""
    index = build_index(texts)
    alike = [
        [position for position, cosine in index.similar(text, most=_NEIGHBOURS) if cosine >= _ALIKE]
        for text in texts
    ]
    free = set(range(len(texts)))
    groups = []
    for leader in sorted(free, key=lambda each: (-len(alike[each]), each)):
        if leader not in free:
            continue
        group = [each for each in alike[leader] if each in free]
        free.difference_update(group)
        if len(group) >= _LEAST_TEXTS:
            groups.append(sorted(group))
        if len(groups) == _MOST_CLUSTERS:
            break
    return groups


def _centre(vectors: Iterable[_Vector]) -> dict[str, float]:
    """Return the mean direction of vectors, reduced to its heaviest words."""
    parts: dict[str, list[float]] = defaultdict(list)
    for vector in vectors:
        for word, weight in vector.items():
            parts[word].append(weight)
    sums = {word: fsum(weights) for word, weights in parts.items()}
    heaviest = sorted(sums, key=lambda word: (-sums[word], word))[:_WORDS_KEPT]
    length = sqrt(fsum(sums[word] ** 2 for word in heaviest)) or 1.0
    return {word: sums[word] / length for word in heaviest}


def _by_word(centres: Iterable[_Vector]) -> dict[str, tuple[tuple[int, float], ...]]:
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for position, centre in enumerate(centres):
        for word, weight in centre.items():
            found[word].append((position, weight))
    return {word: tuple(clusters) for word, clusters in sorted(found.items())}


def _nearest(vector: _Vector, centres: Mapping[str, tuple[tuple[int, float], ...]]) -> int | None:
    cosines: dict[int, float] = {}
    for word, weight in vector.items():
        for position, share in centres.get(word, ()):
            cosines[position] = cosines.get(position, 0.0) + weight * share
    if not cosines:
        return None
    best = min(cosines, key=lambda position: (-cosines[position], position))
    return best if cosines[best] >= _NEAR_CENTRE else None


def _assigned(
    vectors: Sequence[_Vector], centres: Mapping[str, tuple[tuple[int, float], ...]]
) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for each, vector in enumerate(vectors):
        nearest = _nearest(vector, centres)
        if nearest is not None:
            groups[nearest].append(each)
    return [group for _, group in sorted(groups.items()) if len(group) >= _LEAST_TEXTS]


def _name_of_cluster(centre: _Vector, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the heaviest words of a centre that several texts have as a common noun or verb."""
    counts = Counter(word for text in texts for word in index_words(_common_words(text)))
    common = [word for word in centre if counts[word] >= _LEAST_TEXTS_OF_NAME]
    return tuple(sorted(common, key=lambda word: (-centre[word], word))[:_WORDS_OF_NAME])


def _common_words(text: str) -> str:
    """Return a text without names of people and places, addresses, numbers and identifiers."""
    return " ".join(
        word for word in text.split() if word == word.lower() and not _DIGIT_OR_AT.search(word)
    )


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
