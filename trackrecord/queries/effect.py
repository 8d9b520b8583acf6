"""The effect of advice, for the command line and explanations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from sqlalchemy import Connection

from trackrecord.learning.advice.effect.comparison import Comparison
from trackrecord.learning.advice.effect.entries import EntryEffect
from trackrecord.learning.advice.effect.report import EffectReport
from trackrecord.learning.advice.entry_ids import PREFIXES
from trackrecord.store.advice.effect import read_effect
from trackrecord.store.advice.effect_decisions import (
    EffectDecision,
    EffectDecisions,
    effect_decisions_in_force,
)
from trackrecord.times import iso

from .project_rows import project_row
from .short_ids import matching, whole_id

# What the ids of entries of some kinds begin with in a prompt, unlike in the lists of their kind.
_KINDS: Final = (*PREFIXES, "skill-")


@dataclass(frozen=True)
class MeasuredEffect:
    """The effect of a project's advice.

    Attributes:
        project: whose advice.
        report: what was measured.
        decisions: the holdout, and which entries are withdrawn.
        holdout: the share of tasks that is withheld advice now.
        at: the moment that it was asked for; None for now.
    """

    project: str
    report: EffectReport
    decisions: EffectDecisions
    holdout: float
    at: float | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the effect as a JSON object; shares are 0..1."""
        report = self.report
        return {
            "project": self.project,
            "as_of": iso(self.at),
            "holdout": self.holdout,
            "tasks": {"given": report.tasks[0], "withheld": report.tasks[1]},
            "without_outcome": {"given": report.open[0], "withheld": report.open[1]},
            "nothing_to_hand_out": report.empty,
            "more_tasks_needed": report.needed,
            "measures": [_comparison(each) for each in report.overall],
            "kinds": [
                {"kind": kind, **_comparison(each)} for kind, each in (report.kinds or {}).items()
            ],
            "entries": [_entry(each, self.decisions.entries) for each in report.entries],
            "withdrawn": [
                _decision(self.decisions.entries[name]) for name in self.decisions.withdrawn
            ],
        }


def measure_effect(
    connection: Connection, project: str, *, setting: float, at: float | None = None
) -> MeasuredEffect:
    """Return whether the advice of a project helps.

    Args:
        connection: a reading transaction.
        project: whose advice.
        setting: the holdout of the settings, where nobody decided about the project.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    decisions = effect_decisions_in_force(connection, project_id, at=at)
    holdout = setting if decisions.holdout is None else decisions.holdout
    report = read_effect(connection, project_id, at=at)
    return MeasuredEffect(project, report, decisions, holdout, at)


def _comparison(found: Comparison) -> dict[str, Any]:
    low, high = found.interval.low, found.interval.high
    return {
        "measure": found.measure.name,
        "given": {"tasks": found.given.tasks, "mean": found.given.mean},
        "withheld": {"tasks": found.withheld.tasks, "mean": found.withheld.mean},
        "difference": found.difference,
        "low": low if isfinite(low) else None,
        "high": high if isfinite(high) else None,
        "verdict": found.verdict,
    }


def _entry(found: EntryEffect, decided: Mapping[str, EffectDecision]) -> dict[str, Any]:
    decision = decided.get(found.entry)
    return {
        "id": found.entry,
        "handed_out": found.handed_out,
        "would_have_been": found.would_have,
        "followed": found.followed,
        "succeeded": found.succeeded,
        **_comparison(found.effect),
        "withdrawn": decision is not None and decision.action == "withdraw",
    }


def _decision(decision: EffectDecision) -> dict[str, Any]:
    return {
        "id": decision.entry,
        "by": decision.actor,
        "reason": decision.reason,
        "at": iso(decision.at),
    }


def decided_entry(connection: Connection, project: str, given: str) -> str:
    """Return the id of an entry with an exposure or a decision.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: nothing with that id, or that begins so, was ever handed out.
        AmbiguousId: several ids begin so.
    """
    project_id = project_row(connection, project)
    known = set(effect_decisions_in_force(connection, project_id).entries)
    known.update(each.entry for each in read_effect(connection, project_id).entries)
    return whole_id(
        given,
        entries_named(given, known),
        f"no entry {given!r} was handed to a task of project {project!r} that ended",
        hint="`trackrecord effect --by entry` lists those that were",
        near=lambda: {*known, *map(_without_kind, known)},
    )


def entries_named(given: str, known: Iterable[str]) -> list[str]:
    """Return the entry with the given id, else those whose id begins with it.

    What stands before the id that other commands show, such as `lesson:`, may be left out. Fewer
    than four characters stand for themselves alone.
    """
    known = sorted(known)
    if given in known:
        return [given]
    bare = {each: _without_kind(each) for each in known}
    if same := [each for each in known if bare[each] == given]:
        return same
    return [each for each in known if matching(given, (each, bare[each]))]


def _without_kind(entry: str) -> str:
    kind = next((each for each in _KINDS if entry.startswith(each)), "")
    return entry[len(kind) :]
