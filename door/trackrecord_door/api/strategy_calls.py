"""HTTP calls for strategies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def find_strategies(*, text: str) -> list[Mapping[str, Any]]:
    """Return the strategies that a text mentions, as they are recognised in an outcome.

    Args:
        text: A plan in prose; of a very long one the beginning is searched.
    """
    import trackrecord

    return [
        {"id": each.slug, "name_en": each.name_en, "name_zh": each.name_zh}
        for each in trackrecord.strategies(text)
    ]
