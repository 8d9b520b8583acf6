"""The runs that count: of those who disagree about one thing, none has more than its share.

What runs are counted for is a tool, a pattern, a procedure, how well a kind of task goes, and how
it is done, see `numbers/speakers`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from ...competences.episodes.signatures import signature_of
from ...numbers.speakers import CapRules, shares
from ..runs.runs import NotedRun, Run, with_verdict
from .kinds import find_kinds

# What a run speaks of.
_Item = tuple[str, str | int]


def heard_runs(runs: Sequence[NotedRun], rules: CapRules) -> list[NotedRun]:
    """Return the runs without the older ones of a speaker beyond its share of one thing.

    Args:
        runs: the runs of one project, the oldest first.
        rules: the share.
    """
    if len({run.speaker for run in runs}) < 2:
        return list(runs)
    judged = with_verdict(runs)
    kinds = find_kinds(judged)
    positions = kinds.positions(judged)
    kind_of = {
        run.outcome: kind
        for run, kind in zip(judged, positions, strict=True)
        if kind != kinds.other
    }
    usual = _usual_ways(judged, kind_of)
    said: dict[_Item, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for run in runs:
        for item, is_good in _items(run, kind_of, usual):
            said[item][run.speaker][not is_good] += 1
    left = {
        (item, speaker): ceil(share * sum(by_speaker[speaker]))
        for item, by_speaker in said.items()
        for speaker, share in shares(
            rules, {who: (float(won), float(lost)) for who, (won, lost) in by_speaker.items()}
        ).items()
    }
    kept: list[NotedRun] = []
    for run in reversed(runs):
        bounded = [
            key for item, _ in _items(run, kind_of, usual) if (key := (item, run.speaker)) in left
        ]
        if all(left[key] > 0 for key in bounded):
            kept.append(run)
            for key in bounded:
                left[key] -= 1
    return kept[::-1]


def _items(
    run: NotedRun, kind_of: dict[int, int], usual: dict[int, str]
) -> Iterator[tuple[_Item, bool]]:
    """Yield what a run speaks of, each once, and whether it speaks for it."""
    failed = {step.tool for step in run.steps if step.failed}
    for tool in {step.tool for step in run.steps}:
        yield ("tool", tool), tool not in failed
    if run.success is None:
        return
    for slug in set(run.patterns):
        yield ("pattern", slug), run.success
    procedure = signature_of(run.order)
    yield ("procedure", procedure), run.success
    if (kind := kind_of.get(run.outcome)) is not None:
        yield ("kind", kind), run.success
        if run.success and kind in usual:
            yield ("way", kind), procedure == usual[kind]


def _usual_ways(runs: Sequence[Run], kind_of: dict[int, int]) -> dict[int, str]:
    """Return by kind of task the procedure that most speakers succeeded with."""
    won = {
        (kind, signature_of(run.order), run.speaker)
        for run in runs
        if run.success and (kind := kind_of.get(run.outcome)) is not None
    }
    speakers = Counter((kind, procedure) for kind, procedure, _ in won)
    return {kind: procedure for (kind, procedure), _ in sorted(speakers.items(), key=_by_count)}


def _by_count(counted: tuple[tuple[int, str], int]) -> tuple[int, tuple[int, str]]:
    # The last one of each kind is taken: the commonest.
    return counted[1], counted[0]
