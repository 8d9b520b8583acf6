"""Estimates in words: a rate with its interval, its origin, and its comparison."""

from typing import Final

from ...numbers.percent import percent
from ...text.numerals import counted
from .effects import Effect
from .estimates import Estimate, Level
from .posterior import PRIOR_STRENGTH, DecayedTally, Posterior

_OF_OTHERS: Final = {
    Level.KIND: "no run of it is on record; such tasks succeed in",
    Level.PROJECT: "no run of it is on record; tasks of the project succeed in",
}


def sentence(estimate: Estimate) -> str:
    """Return an estimate as one sentence.

    For example "succeeds in 54% of runs (41 to 66%, from 31 runs of 12 tasks); 12 points above what
    such tasks do otherwise (+2 to +22)".
    """
    if not estimate.tally.runs:
        return "no run is on record yet"
    said = _OF_OTHERS.get(estimate.level, "succeeds in")
    rate = f"{said} {rate_in_words(estimate.posterior, estimate.tally, _where(estimate.level))}"
    return f"{rate}; {effect_in_words(estimate.effect)}" if estimate.effect.is_known else rate


def _where(level: Level) -> str:
    return " at such tasks" if level in (Level.PROCEDURE_IN_KIND, Level.PATTERN_IN_KIND) else ""


def rate_in_words(posterior: Posterior, tally: DecayedTally, where: str = "") -> str:
    """Return a rate with its interval and the counts behind it."""
    low, high = posterior.interval
    return (
        f"{percent(posterior.mean, 1)}% of runs ({percent(low, 1)} to {percent(high, 1)}%, "
        f"from {counted(tally.runs, 'run')}{where} of {counted(tally.tasks, 'task')})"
    )


def effect_in_words(effect: Effect) -> str:
    """Return the difference to other runs of such tasks, in words."""
    if not effect.is_known:
        return "nothing else was tried at comparable tasks, so its effect is not known"
    points = _points(effect.difference)
    between = f"({_points(effect.low):+d} to {_points(effect.high):+d})"
    if points == 0:
        return f"level with what such tasks do otherwise {between}"
    side = "above" if points > 0 else "below"
    return f"{counted(abs(points), 'point')} {side} what such tasks do otherwise {between}"


def why(estimate: Estimate) -> tuple[str, ...]:
    """Return the lines that explain an estimate, from its level to its effect."""
    tally, effect = estimate.tally, estimate.effect
    lines = [f"estimate: {sentence(estimate)}"]
    if estimate.level is Level.PROJECT:
        return tuple(lines)
    lines.append(
        f"counted at the level of the {estimate.level}: {tally.successes} of "
        f"{counted(tally.runs, 'run')} succeeded; weighed by age, {tally.decayed_successes:.2f} of "
        f"{tally.decayed_runs:.2f}"
    )
    if estimate.level is Level.KIND:
        lines.append(f"other tasks of the project {_expected(estimate, 'succeed in')}")
        return tuple(lines)
    lines.append(f"without it, such tasks {_expected(estimate, 'are expected to succeed in')}")
    if effect.is_known:
        lines.append(
            "compared within the same task where it was tried again whatever came of it, else "
            "within the kind of task after as many failures: in "
            f"{counted(effect.strata, 'such group')}, as much as {effect.weight:.1f} runs could be "
            "set against others"
        )
    else:
        lines.append(effect_in_words(effect))
    return tuple(lines)


def _expected(estimate: Estimate, verb: str) -> str:
    return (
        f"{verb} {percent(estimate.usual, 1)}%; that weighs as much as {PRIOR_STRENGTH:.0f} runs, "
        f"which gives {percent(estimate.posterior.mean, 1)}%"
    )


def _points(difference: float) -> int:
    """Return a difference of rates in whole percentage points, half away from 0."""
    size = percent(abs(difference), 1)
    return size if difference >= 0 else -size
