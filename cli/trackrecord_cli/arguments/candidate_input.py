"""Candidates as people hand them in: one JSON document."""

import json
from dataclasses import dataclass
from typing import Any

from trackrecord.errors import InvalidCandidate

_PARTS = ("candidates", "config", "budget")


@dataclass(frozen=True)
class RankingQuestion:
    """The question of a ranking of candidates.

    Attributes:
        candidates: as they were given.
        config: rules that differ from the settings, None for none.
        budget: in tokens, None for no limit.
    """

    candidates: list[Any]
    config: dict[str, Any] | None = None
    budget: int | None = None


def read_question(data: bytes) -> RankingQuestion:
    """Read a list of candidates, or an object with candidates, config and budget.

    Raises:
        InvalidCandidate: it is neither; what is wrong with a candidate, its own check says.
    """
    given = _document(data)
    if isinstance(given, list):
        return RankingQuestion(given)
    if not isinstance(given, dict) or not isinstance(given.get("candidates"), list):
        message = "candidates are a JSON list, or stand as `candidates` in a JSON object"
        raise InvalidCandidate(message)
    if unknown := [name for name in given if name not in _PARTS]:
        message = f"there is no {unknown[0]!r} beside candidates; there are {', '.join(_PARTS[1:])}"
        raise InvalidCandidate(message)
    budget = given.get("budget")
    if budget is not None and type(budget) is not int:
        message = f"budget must be a whole number of tokens, not {budget!r}"
        raise InvalidCandidate(message)
    return RankingQuestion(given["candidates"], given.get("config"), budget)


def _document(data: bytes) -> object:
    # This parser takes NaN and 1e999 for numbers, so that their candidate can be named.
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"invalid JSON: {error}"
        raise InvalidCandidate(message) from None
