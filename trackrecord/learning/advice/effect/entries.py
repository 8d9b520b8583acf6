"""The effect of single entries: how often exposed, how often followed, and the difference made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ...text.slug import ANTI_PREFIX
from .. import entry_ids
from ..runs.runs import NotedRun
from .comparison import SUCCESS, Comparison, compare
from .sequence import ALPHA
from .trials import Trial

# Past tasks are shown to hardly any other task: nothing can be counted of one.
_UNCOUNTED: Final = entry_ids.PAST_TASK
# So many entries share half of what may go wrong; all later ones, however many, share the rest.
_SHARED_BY: Final = 20


@dataclass(frozen=True)
class EntryEffect:
    """The effect of one entry.

    Attributes:
        entry: its id.
        handed_out: the ended tasks that it was handed to.
        would_have: the ended tasks of the holdout that it would have been handed to.
        followed: of those that it was handed to, those that did what it says; None where a run does
            not show it.
        succeeded: of those that it was handed to, those that reached their goal.
        effect: the success of both, compared.
    """

    entry: str
    handed_out: int
    would_have: int
    followed: int | None
    succeeded: int
    effect: Comparison

    @property
    def is_harmful(self) -> bool:
        """Return whether the whole confidence sequence is below 0: the entry is withdrawn."""
        return self.effect.verdict == "hurts"


def level_of(position: int, alpha: float = ALPHA) -> float:
    """Return the error level of one entry's sequence: all together at most alpha.

    The level of an entry never changes, however many entries follow: the first twenty share half
    of alpha, and the n-th gets 10/n² of it from then on.

    Args:
        position: the entry's place in the order of first exposure, from 1.
        alpha: the share of cases in which any sequence may ever miss the truth.
    """
    if position <= _SHARED_BY:
        return alpha / (2 * _SHARED_BY)
    return alpha * _SHARED_BY / (2 * position * position)


def entry_effects(
    trials: Iterable[Trial], tools_of: Mapping[str, frozenset[str]], alpha: float = ALPHA
) -> list[EntryEffect]:
    """Return the effect of each entry among the tasks that it was chosen for.

    Args:
        trials: in the order of their exposures.
        tools_of: the tools of records, by id.
        alpha: the share of cases in which any entry's sequence may ever miss the truth.
    """
    chosen: dict[str, list[Trial]] = {}
    for trial in trials:
        for entry in dict.fromkeys(trial.exposure.entries):
            if not entry.startswith(_UNCOUNTED):
                chosen.setdefault(entry, []).append(trial)
    return [
        _effect(entry, found, tools_of, level_of(position, alpha))
        for position, (entry, found) in enumerate(chosen.items(), start=1)
    ]


def _effect(
    entry: str, trials: list[Trial], tools_of: Mapping[str, frozenset[str]], alpha: float
) -> EntryEffect:
    given = [trial for trial in trials if trial.is_given]
    followed = [is_followed(entry, trial.run, tools_of) for trial in given]
    return EntryEffect(
        entry=entry,
        handed_out=len(given),
        would_have=len(trials) - len(given),
        followed=None if None in followed else sum(map(bool, followed)),
        succeeded=sum(trial.run.success for trial in given),
        effect=compare(trials, SUCCESS, alpha),
    )


def is_followed(entry: str, run: NotedRun, tools_of: Mapping[str, frozenset[str]]) -> bool | None:
    """Return whether a run followed an entry; None if its calls cannot show it.

    A pattern is followed by naming it, a procedure by using all of its tools; a warning is followed
    by doing neither.

    Args:
        entry: its id, as it was handed out.
        run: the run.
        tools_of: the tools of records, by id.
    """
    if entry.startswith(entry_ids.FAILING):
        return run.tools != frozenset(entry.removeprefix(entry_ids.FAILING).split("+"))
    if entry in tools_of:
        return tools_of[entry] <= run.tools
    if ":" in entry:  # of a field whose entries no run names
        return None
    if entry.startswith(ANTI_PREFIX):
        return entry.removeprefix(ANTI_PREFIX) not in run.patterns
    return entry in run.patterns
