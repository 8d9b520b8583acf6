"""The verdict on a run from its evidence: one pure function.

Evidence has a rank: an evaluation, a person's explicit word, tests, what looks like it (heuristic).
The highest rank decides, and of several pieces of one rank the last. Without evidence there is no
verdict: that an agent calls its work done is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final

import msgspec

from trackrecord.wire.outcome import GroundKind

from ..agent_run import AgentRun, RunCall, Signal, SignalKind
from ..shell.checks import runs_also
from ..shell.programs import Purpose
from ..shell.scopes import CheckScope
from .checks import (
    Moment,
    Result,
    edited_files,
    first_edit,
    last_edit,
    results_before,
    results_since,
)
from .phrases import goes_on, only_looks, says_wrong

# Of more than these the oldest are left out.
_MOST: Final = 200
_COUNT: Final = re.compile(r"\d{1,9}")
_UNCHECKED: Final[tuple[GroundKind, GroundKind]] = "check before the last edit", "no check"


def last_results(results: Sequence[Result]) -> list[Result]:
    """Return the results that no later one of the same checks takes the place of, in order.

    A failure stands until all that it ran on has passed since; a success until something that
    includes it has run again. A check that did not come to an end says nothing against what the
    same program found.
    """
    later: list[Result] = []
    told = {result.check.scope.program for result in results if result.passed is not None}
    for result in reversed(results[-_MOST:]):
        program = result.check.scope.program
        if result.passed is None:
            if program not in told:
                told.add(program)
                later.append(result)
        elif not (_is_cleared(result, later) or _is_repeated(result, later)):
            later.append(result)
    return later[::-1]


def uncleared(before: Sequence[Result], after: Sequence[Result]) -> tuple[Result, ...]:
    """Return the failures in front of an edit on which nothing behind them has passed as widely.

    A passing task of the whole project, as `make test` is, clears what it may well have run.
    """
    still = [result for result in last_results(before) if result.passed is False]
    passed = [result for result in after if result.passed]
    return tuple(
        result
        for result in still
        if not _is_cleared(result, passed)
        and not any(runs_also(each.check, result.check) for each in passed)
    )


def _is_cleared(failed: Result, later: Iterable[Result]) -> bool:
    if failed.passed:
        return False
    scope = failed.check.scope
    covered: set[str] = set()
    for result in later:
        if result.passed:
            covered |= scope.covered_by(result.check.scope)
    return scope.targets <= covered


def _is_repeated(result: Result, later: Iterable[Result]) -> bool:
    """Return whether one later result, of any kind, repeats the verdict with as wide a scope."""
    scope = result.check.scope
    return any(
        (result.passed or each.passed is False)
        and scope.covered_by(each.check.scope) == scope.targets
        for each in later
        if each.passed is not None
    )


# Types of sub-agents whose makers made them for looking: Claude Code's, Codex's and opencode's.
_LOOKING: Final = frozenset({"explore", "plan", "claude-code-guide", "explorer"})
# Of a longer errand nobody can be sure that it asks for nothing else.
_LONGEST_ERRAND: Final = 400


def last_delegation(run: AgentRun) -> Moment | None:
    """Return when a sub-agent may have changed files for the last time; None if none did.

    Every call that starts a sub-agent, tells it more or waits for it counts as an edit, and so does
    the end of one in the background. They do not if all sub-agents of the run were only to look,
    and neither does one whose own calls are known.
    """
    calls = [(place, call) for place, call in enumerate(run.calls) if _has_worked(call)]
    if not any(_may_edit(call) for _, call in calls):
        return None
    return max((moment for place, call in calls for moment in _moments(run, place, call)))


def _has_worked(call: RunCall) -> bool:
    return call.sub_agent is not None and call.sub_agent.calls is None and call.ok is not False


def _may_edit(call: RunCall) -> bool:
    sub_agent = call.sub_agent
    if sub_agent is None or not sub_agent.starts or sub_agent.kind.lower() in _LOOKING:
        return False
    errand = sub_agent.errand
    return len(errand) > _LONGEST_ERRAND or not only_looks(errand)


def _moments(run: AgentRun, place: int, call: RunCall) -> Iterator[Moment]:
    yield place, 0
    ended = call.sub_agent.ended_at if call.sub_agent is not None else None
    if ended is not None:
        after = (at for at, other in enumerate(run.calls) if (other.started_at or 0.0) >= ended)
        yield next(after, len(run.calls)), 0


MAX_GROUNDS: Final = 100


class Rank(IntEnum):
    """The weight of a piece of evidence; the names are the wire's `outcome_source`."""

    NONE = 0
    HEURISTIC = 1
    TESTS = 2
    EXPLICIT = 3
    EVALUATOR = 4


class WeighedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence on a run, and its verdict.

    Attributes:
        kind: what was seen, as "check passed", "interrupted".
        says: in words: a command and its result, a phrase of the next prompt. Not yet redacted.
        call: the position of the call that it concerns; None if none.
        success: what it says of the run; None if it says nothing but why there is no verdict.
        rank: how much it weighs.
    """

    kind: GroundKind
    says: str = ""
    call: int | None = None
    success: bool | None = None
    rank: Rank = Rank.NONE


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on whether a run succeeded, with its reason.

    Attributes:
        success: whether it did; None if nothing says so.
        outcome_source: the wire's name for the rank of the evidence; None without a verdict.
        grounds: all that was seen, what decided first; at most 100, and never none.
    """

    success: bool | None
    outcome_source: str | None
    grounds: tuple[WeighedEvidence, ...]


def verdict_of(run: AgentRun) -> RunVerdict:
    """Return the verdict on a run, with its grounds."""
    seen = (*_of_checks(run), *_of_signs(run))
    if _api_ended(run):
        # What the agent could not go on with is no failure of its own.
        seen = tuple(_without_blame(evidence) for evidence in seen)
    best = max((evidence.rank for evidence in seen if evidence.success is not None), default=None)
    if best is None:
        return RunVerdict(success=None, outcome_source=None, grounds=_grounds(seen))
    # Of one rank the last decides; checks have been joined to one by then.
    deciding = [each for each in seen if each.success is not None and each.rank == best]
    success = deciding[-1].success
    first = [each for each in reversed(deciding) if each.success == success]
    rest = [each for each in seen if not any(each is other for other in first)]
    return RunVerdict(
        success=success, outcome_source=best.name.lower(), grounds=_grounds((*first, *rest))
    )


def unchecked_file(run: AgentRun) -> str:
    """Return the file that a run changed last, if nothing was checked since; "" if something was.

    So it is, too, for a run that was stopped, or of which the last edit names no file.
    """
    edited = last_edit(run)
    grounds = {each.kind for each in _of_checks(run)}
    if edited is None or _was_stopped(run) or grounds.isdisjoint(_UNCHECKED):
        return ""
    return next(iter(run.calls[edited[0]].edits[::-1]), "")


def _grounds(seen: tuple[WeighedEvidence, ...]) -> tuple[WeighedEvidence, ...]:
    return seen[:MAX_GROUNDS] or (WeighedEvidence(kind="nothing seen"),)


def _without_blame(evidence: WeighedEvidence) -> WeighedEvidence:
    if evidence.success is False and evidence.rank in (Rank.HEURISTIC, Rank.TESTS):
        return msgspec.structs.replace(evidence, success=None)
    return evidence


def _of_checks(run: AgentRun) -> Iterator[WeighedEvidence]:
    """Combine the checks: failure if one failed after the last edit and still does.

    A check that failed before the last edit is no failure, but no success either until it has run
    again at least as widely.
    """
    edited, delegated = last_edit(run), last_delegation(run)
    changed = max((each for each in (edited, delegated) if each is not None), default=None)
    after = results_since(run, changed)
    if all(result.at == changed for result in after) and after and results_before(run, changed):
        after = ()  # a linter that mends makes what was checked before it unchecked
    if not after and changed is not None:
        before = results_before(run, changed)
        yield _nothing_checked(before, "the last edit" if changed == edited else "a sub-agent")
    last = last_results(after)
    told = [result for result in last if result.passed is not None]
    for result in last:
        if result.passed is None:
            yield _of_result("check without a result", result)
    if edited is None and _only_looks(run) and any(not each.passed for each in told):
        yield from (_of_result("only looked", result) for result in told)
        return
    found_so = edited is None and _was_stopped(run)
    open_before: tuple[Result, ...] = ()
    if told and all(each.passed for each in told):
        open_before = uncleared(results_before(run, changed), after)
    yield from (_of_result("check not run again", result) for result in open_before)
    # Linters say nothing of tests that ran unseen.
    is_unseen = any(each.is_hidden for each in last) and not any(
        each.passed and each.check.of_tests for each in told
    )
    # Those that failed stand last, because the last one decides.
    for result in sorted(told, key=lambda result: (not result.passed, result.at)):
        # What was broken before the agent changed anything, and was stopped then, is not its.
        is_open = not result.passed and (
            found_so or _was_found(result, run) or _is_elsewhere(result, run, after)
        )
        if result.passed and (open_before or is_unseen):
            is_open = True
        kind: GroundKind = "check passed" if result.passed else "check failed"
        yield _of_result(kind, result, success=None if is_open else result.passed)


def _was_found(result: Result, run: AgentRun) -> bool:
    """Return whether a linter or the like found no less in as much before the first edit."""
    scope = result.check.scope
    return not result.check.of_tests and any(
        each.passed is False
        and scope.covered_by(each.check.scope) == scope.targets
        and _number(result.words) <= _number(each.words)
        for each in results_before(run, first_edit(run))
    )


def _is_elsewhere(failed: Result, run: AgentRun, after: Sequence[Result]) -> bool:
    """Return whether what a linter found lies in other files than the run changed.

    So it is if these passed alone, whatever the wider check is called by.
    """
    scope, files = failed.check.scope, edited_files(run)
    if failed.check.purpose is not Purpose.LINT or not files:
        return False
    passed: set[str] = set()
    for each in after:
        if each.passed and each.check.purpose is Purpose.LINT:
            other = each.check.scope
            is_same = runs_also(failed.check, each.check) and not other.filters
            own = CheckScope(
                program=other.program if is_same else scope.program,
                targets=files,
                filters=scope.filters,
            )
            passed |= own.covered_by(other)
    return passed == files


def _number(words: str) -> int:
    """Return how many findings words count: the first number; of words without one, 1."""
    found = _COUNT.search(words)
    return int(found.group()) if found else 1


def _nothing_checked(before: tuple[Result, ...], last: str) -> WeighedEvidence:
    early, never = _UNCHECKED
    if before:
        return _of_result(early, before[-1])
    after = last if last == "the last edit" else f"{last} had worked"
    return WeighedEvidence(kind=never, says=f"nothing was checked after {after}")


def _of_result(kind: GroundKind, result: Result, *, success: bool | None = None) -> WeighedEvidence:
    rank = Rank.NONE if success is None else Rank.TESTS
    return WeighedEvidence(
        kind=kind, says=result.says, call=result.at[0], success=success, rank=rank
    )


_STOPS: Final = frozenset({SignalKind.INTERRUPTED, SignalKind.REJECTED, SignalKind.CUT_OFF})


def _only_looks(run: AgentRun) -> bool:
    """Return whether the task asked for no change. A sub-agent's instruction may be unknown."""
    return only_looks(run.instruction) or (bool(run.parent) and not run.instruction)


def _was_stopped(run: AgentRun) -> bool:
    return any(sign.kind in _STOPS for sign in run.signs)


def _of_signs(run: AgentRun) -> Iterator[WeighedEvidence]:
    for place, sign in enumerate(run.signs):
        yield from _of_sign(run, sign, run.signs[place + 1 :])


# Each kind of sign as it is called among the grounds, and how much it weighs.
_SIGNS: Final[Mapping[SignalKind, tuple[GroundKind, Rank]]] = {
    SignalKind.EVALUATED: ("evaluated", Rank.EVALUATOR),
    SignalKind.CONFIRMED: ("confirmed", Rank.EXPLICIT),
    # Who takes the work back has said what to think of it, whatever the tests say.
    SignalKind.UNDONE: ("undone", Rank.EXPLICIT),
    SignalKind.INTERRUPTED: ("interrupted", Rank.HEURISTIC),
    SignalKind.CUT_OFF: ("ended in the middle of a call", Rank.HEURISTIC),
    SignalKind.CRASHED: ("crashed", Rank.HEURISTIC),
    SignalKind.REJECTED: ("rejected", Rank.HEURISTIC),
    SignalKind.API_FAILED: ("api failed", Rank.NONE),
}


def _of_sign(run: AgentRun, sign: Signal, later: tuple[Signal, ...]) -> Iterator[WeighedEvidence]:
    if sign.kind is SignalKind.FOLLOWED_BY:
        if words := says_wrong(sign.says):
            yield WeighedEvidence(kind="next prompt", says=words, success=False, rank=Rank.EXPLICIT)
        return
    kind, rank = _SIGNS[sign.kind]
    success = _told_by(run, sign, later)
    yield WeighedEvidence(
        kind=kind,
        says=sign.says,
        call=sign.call,
        success=success,
        rank=Rank.NONE if success is None else rank,
    )


def _told_by(run: AgentRun, sign: Signal, later: tuple[Signal, ...]) -> bool | None:
    """Return whether a sign speaks for a run, or against it; None if for neither."""
    match sign.kind:
        case SignalKind.EVALUATED | SignalKind.CONFIRMED:
            return sign.success
        case SignalKind.API_FAILED:
            return None
        case SignalKind.REJECTED:
            return None if _went_on(run, sign) else False
        case SignalKind.UNDONE:
            return False
    # The agent may come to its goal yet if it is told to go on.
    is_resumed = any(goes_on(each.says) for each in later if each.kind is SignalKind.FOLLOWED_BY)
    return None if is_resumed else False


def _went_on(run: AgentRun, sign: Signal) -> bool:
    """Return whether the agent did something else after a refusal: it was led, not stopped."""
    if sign.call is not None:
        return any(call.ok for call in run.calls[sign.call + 1 :])
    return _call_after(run, sign.at)


def _call_after(run: AgentRun, at: float | None) -> bool:
    return at is not None and any((call.started_at or 0.0) > at for call in run.calls)


def _api_ended(run: AgentRun) -> bool:
    """Return whether the model's API ended the run: it failed, and no call came after that."""
    failures = [sign for sign in run.signs if sign.kind is SignalKind.API_FAILED]
    return bool(failures) and not _call_after(run, failures[-1].at)
