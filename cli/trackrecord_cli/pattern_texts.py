"""`patterns list --format prompt`: the patterns asked for, as they stand in a prompt."""

from collections.abc import Iterable

from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.patterns.texts import (
    Inversion,
    PatternWording,
    TextRules,
    anti_patterns_text,
    deprecated_text,
    patterns_text,
)
from trackrecord.learning.text.language import Language
from trackrecord.prompt.presenting import NameOf


def prompt_of(
    standings: Iterable[Standing],
    name_of: NameOf,
    rules: TextRules,
    language: Language,
    *,
    with_deprecated: bool,
) -> str:
    """What to avoid, then what is recommended, best first within each section; "" for nothing.

    Args:
        standings: the patterns.
        name_of: gives (slug, content, language) a pattern's content in that language.
        rules: how patterns are worded.
        language: of the text.
        with_deprecated: whether deprecated patterns that are no warnings are to be avoided by name.
    """
    best_first = sorted(standings, key=_rank)
    warnings, wordings = [], []
    for each in best_first:
        name = name_of(each.facts.slug, each.facts.content, language)
        if each.is_inverted:
            failures = each.failure_count
            warnings.append(Inversion(name, failures, failures + each.success_count))
        else:
            wordings.append(PatternWording(name, each.state, each.evidence))
    parts = (
        anti_patterns_text(warnings, language, rules=rules),
        deprecated_text(wordings, language, rules=rules) if with_deprecated else "",
        patterns_text(wordings, language, rules=rules),
    )
    return "\n\n".join(part for part in parts if part)


def _rank(standing: Standing) -> tuple[float, str]:
    score = standing.failure_score if standing.is_inverted else standing.score
    return -score, standing.facts.slug
