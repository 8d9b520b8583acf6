"""Find failures of checks that no later check of at least the same scope has cleared."""

from collections.abc import Iterable, Sequence
from typing import Final

from ..shell.checks import runs_also
from .checks import Result

# Of more than these the oldest are left out.
_MOST: Final = 200


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
