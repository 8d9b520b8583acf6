"""Scores on criteria as people hand them in: options, or one JSON object."""

import json
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

from trackrecord.errors import InvalidScores
from trackrecord.learning.criteria.evaluation import checked_scores

_MOST_BYTES: Final = 1024 * 1024


def read_score(text: str) -> tuple[str, float]:
    """Read NAME=SCORE; the name may hold further equals signs.

    Raises:
        ValueError: it is not written so.
    """
    name, equals, number = text.rpartition("=")
    try:
        if equals:
            ((checked, score),) = checked_scores({name: float(number)}).items()
            return checked, score
    except ValueError:
        pass
    except InvalidScores as error:
        raise ValueError(str(error)) from None
    message = "a score is written as NAME=SCORE, for example readable=0.8"
    raise ValueError(message)


def all_scores(source: BinaryIO | None, typed: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the scores of a JSON object and those that were typed.

    Args:
        source: holds a JSON object of scores by criterion; None where none was handed in.
        typed: as `read_score` returns them.

    Raises:
        InvalidScores: a score is none, one criterion is given twice, or none is given.
    """
    scores = {} if source is None else checked_scores(_document(source.read(_MOST_BYTES + 1)))
    for name, score in typed:
        if name in scores:
            message = f"criterion {name!r} was given twice"
            raise InvalidScores(message)
        scores[name] = score
    if not scores:
        message = "no scores were given: use --score NAME=SCORE, or a JSON object on standard input"
        raise InvalidScores(message)
    return checked_scores(scores)


def _document(data: bytes) -> object:
    if len(data) > _MOST_BYTES:
        message = f"the scores have more than {_MOST_BYTES} bytes"
        raise InvalidScores(message)
    try:
        # Two scores on one criterion are a mistake, and not the last one.
        return json.loads(data, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        message = f"invalid JSON: {error}"
        raise InvalidScores(message) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "a criterion was given twice"
        raise InvalidScores(message)
    return found
