"""Merge findings about the same fact.

What then works, or must come first, is told with the failure that it mends; findings whose runs
overlap by half are one.
"""

from collections.abc import Sequence
from dataclasses import replace

from .finding import Finding
from .lesson import LessonKind


def with_remedies(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with each remedy in the line of the failure that it mends.

    A remedy of which no failure is known stands for itself.

    Args:
        findings: the strongest of any two comes first.
    """
    failures: dict[tuple[str, str], int] = {}
    kept = list(findings)
    for place, each in enumerate(kept):
        # Of several errors of a tool, the one of most calls.
        known = failures.get((each.tools[0], each.actor))
        if each.kind is LessonKind.FAILS and (
            known is None or kept[known].failing_calls < each.failing_calls
        ):
            failures[each.tools[0], each.actor] = place
    told = set()
    for place, each in enumerate(findings):
        failure = failures.get((each.tools[0], each.actor))
        if each.kind is LessonKind.THEN_WORKS and failure is not None:
            kept[failure] = _told_with(kept[failure], each)
            told.add(place)
    return [each for place, each in enumerate(kept) if place not in told]


def _told_with(failure: Finding, mended: Finding) -> Finding:
    if failure.remedy is not None:  # the better one stands in the line
        return replace(failure, also=(*failure.also, mended.lines["en"]))
    assert mended.remedy is not None  # noqa: S101 - every finding of what then works has one
    remedy = mended.remedy
    lines, wordless = (
        {language: f"{line}; {remedy[language]}" for language, line in lines.items()}
        for lines in (failure.lines, failure.wordless_lines)
    )
    tools = tuple(dict.fromkeys((*failure.tools, *mended.tools)))
    return replace(failure, lines=lines, wordless_lines=wordless, tools=tools, remedy=remedy)


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings no two of which share half of the runs that either has.

    Args:
        findings: the one to keep of any two comes first.

    Returns:
        The kept ones; each has the lines of those that it stands for.
    """
    kept: list[Finding] = []
    also: list[tuple[str, ...]] = []
    for finding in findings:
        place = next((n for n, other in enumerate(kept) if _overlap(finding, other)), None)
        if place is None:
            kept.append(finding)
            also.append(finding.also)
        elif _mends(finding, kept[place]):
            kept[place] = _told_with(kept[place], finding)
            also[place] += finding.also
        else:
            also[place] += (finding.lines["en"], *finding.also)
    return [replace(each, also=lines) for each, lines in zip(kept, also, strict=True)]


def _mends(finding: Finding, failure: Finding) -> bool:
    """Return whether a finding says what must come before the call that fails."""
    return (
        finding.kind is LessonKind.NEEDS_FIRST
        and failure.kind is LessonKind.FAILS
        and failure.remedy is None
        and (finding.tools[0], finding.actor) == (failure.tools[0], failure.actor)
    )


def _overlap(one: Finding, other: Finding) -> bool:
    shared = (one.mask & other.mask).bit_count()
    return 2 * shared >= len(one.positions) + len(other.positions) - shared
