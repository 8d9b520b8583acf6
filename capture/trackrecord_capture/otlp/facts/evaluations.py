"""Scores of a run: from attributes and from events."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...tables import Tables
from ..encodings.span import LogRecord, Span
from .fact import SpanScore, bounded
from .values import as_flag, as_number, as_text, seconds_of

EVENT: Final = "gen_ai.evaluation.result"
_SAYS_CHARS: Final = 1000
_NAME_CHARS: Final = 200
_MOST: Final = 50
_TABLES: Final = Tables(__file__)
_GOOD: Final = _TABLES.phrases("good")
_BAD: Final = _TABLES.phrases("bad")
_FAULTS: Final = _TABLES.in_order("faults")
_FLATTENED: Final = _TABLES.read("flattened", dict[str, str])


def evaluations_on(span: Span) -> tuple[SpanScore, ...]:
    """Return the scores that a span carries in its attributes or its events."""
    found = [
        _evaluation(event.attributes, "gen_ai.evaluation.", event.at_ns)
        for event in span.events
        if event.name == EVENT
    ]
    for prefix, term in _FLATTENED.items():
        if f"{prefix}.0.{term}.name" in span.attributes or prefix in span.attributes:
            found += _flattened(span, prefix, term)
    if "gen_ai.evaluation.name" in span.attributes:
        found.append(_evaluation(span.attributes, "gen_ai.evaluation.", span.end_ns))
    return tuple(found[:_MOST])


def evaluation_in(record: LogRecord) -> SpanScore:
    """Return the score in an evaluation event."""
    attributes = record.attributes
    if isinstance(record.body, Mapping):
        attributes = {**record.body, **attributes}
    return _evaluation(attributes, "gen_ai.evaluation.", record.at_ns)


def _flattened(span: Span, prefix: str, term: str) -> list[SpanScore]:
    return [
        _evaluation(entry, f"{term}.", span.end_ns, scope=prefix)
        for entry in _entries(span.attributes, prefix)
    ]


def _entries(attributes: Mapping[str, Any], prefix: str) -> Iterator[Mapping[str, Any]]:
    held = attributes.get(prefix)
    if isinstance(held, list):
        yield from (entry for entry in held[:_MOST] if isinstance(entry, Mapping))
        return
    for position in range(_MOST):
        start = f"{prefix}.{position}."
        entry = {
            name.removeprefix(start): value
            for name, value in attributes.items()
            if name.startswith(start)
        }
        if not entry:
            return
        yield entry


def _evaluation(
    attributes: Mapping[str, Any],
    prefix: str,
    at_ns: int,
    *,
    scope: str = "",
) -> SpanScore:
    def held(*names: str) -> Any:  # noqa: ANN401 - an attribute of any type
        for name in names:
            value = attributes.get(prefix + name)
            if value is not None:
                return value
        return None

    name = as_text(held("name") or "evaluation")
    label = as_text(held("score.label", "label") or "")
    value = held("score.value", "score")
    success = _by_flag(name, value) if isinstance(value, bool) else _by_label(name, label)
    return SpanScore(
        name=name[:_NAME_CHARS],
        success=success,
        says=_words(name, as_number(value), label, as_text(held("explanation") or "")),
        at=seconds_of(at_ns) or None,
        of_trace=scope.startswith("trace."),
    )


def _by_label(name: str, label: str) -> bool | None:
    word = label.strip().lower()
    if word in ("true", "yes", "false", "no"):
        return _by_flag(name, word)
    if word in _GOOD:
        return True
    return False if word in _BAD else None


def _by_flag(name: str, value: object) -> bool | None:
    flag = as_flag({0.0: False, 1.0: True}.get(value) if isinstance(value, float) else value)
    is_fault = any(fault in name.lower() for fault in _FAULTS)
    return None if flag is None else flag is not is_fault


def _words(name: str, number: float | None, label: str, explanation: str) -> str:
    score = " ".join(part for part in ("" if number is None else f"{number:g}", label) if part)
    words = f"{name}: {score}" if score else name
    return bounded(f"{words} ({explanation})" if explanation else words, _SAYS_CHARS)
