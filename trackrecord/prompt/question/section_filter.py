"""The sections of learnt entries that a prompt includes."""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from .rules import ContextRules
from .section_names import ACCEPTED, unknown_section

# What is handed in may have no end.
_MOST_NAMES: Final = 64


@dataclass(frozen=True)
class SectionFilter:
    """Choose sections by the names of their fields.

    Attributes:
        include: only these; None for all.
        exclude: all but these.
    """

    include: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def has(self, field: str) -> bool:
        """Return whether a section is included."""
        return field not in self.exclude and (self.include is None or field in self.include)


ALL = SectionFilter()


def usual_sections(rules: ContextRules) -> SectionFilter:
    """Return the sections of the rules of the settings."""
    return SectionFilter(frozenset(rules.include) or None, frozenset(rules.exclude))


def asked_sections(
    include: object, exclude: object, problems: list[str], usual: SectionFilter = ALL
) -> SectionFilter:
    """Read the requested sections from an argument of any type; never raises.

    Args:
        include: names of sections, one or several; None for those of the settings.
        exclude: names of sections, one or several; None for those of the settings.
        problems: where it is noted what could not be used.
        usual: what the settings say.
    """
    only = _names("include", include, problems)
    without = _names("exclude", exclude, problems)
    return SectionFilter(
        usual.include if only is None else only,
        usual.exclude if without is None else without,
    )


def _names(argument: str, given: object, problems: list[str]) -> frozenset[str] | None:
    if given is None:
        return None
    names = [given] if isinstance(given, str) else _listed(given)
    if names is None:
        problems.append(f"{argument} must be names of sections or None: it is ignored")
        return None
    known = frozenset(name for name in names if isinstance(name, str) and name in ACCEPTED)
    unknown = [name for name in names if name not in known]
    if unknown:
        problems.append(f"{argument}: {unknown_section(unknown[0])}")
    # Nothing that is known: what was meant cannot be told, and all is better than nothing.
    return None if unknown and not known else known


def _listed(given: object) -> list[object] | None:
    try:
        return list(islice(given, _MOST_NAMES))  # type: ignore[call-overload]  # what cannot be iterated raises
    except Exception:  # noqa: BLE001 - whatever was handed in
        return None
