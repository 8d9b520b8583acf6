"""Merging: findings whose runs overlap by half tell one fact."""

from collections.abc import Sequence
from dataclasses import replace

from .finding import Finding


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings no two of which share half of the runs that either has.

    Args:
        findings: the one to keep of any two comes first.

    Returns:
        The kept ones; each has the lines of those that it stands for.
    """
    kept: list[Finding] = []
    also: list[list[str]] = []
    for finding in findings:
        place = next((n for n, other in enumerate(kept) if _overlap(finding, other)), None)
        if place is None:
            kept.append(finding)
            also.append([])
        else:
            also[place].append(finding.lines["en"])
    return [replace(each, also=tuple(lines)) for each, lines in zip(kept, also, strict=True)]


def _overlap(one: Finding, other: Finding) -> bool:
    shared = (one.mask & other.mask).bit_count()
    return 2 * shared >= len(one.positions) + len(other.positions) - shared
