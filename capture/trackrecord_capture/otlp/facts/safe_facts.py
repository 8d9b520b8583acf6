"""Facts of spans without their secrets, which must not reach the disk either."""

from typing import Final

import msgspec

from trackrecord.learning.text.redaction import PLACEHOLDER, redacted, redacted_value

from .fact import MOST_CHARS, Fact, SpanScore
from .values import as_text, document

_TEXTS: Final = ("prompt", "command", "error")
_DOCUMENTS: Final = ("arguments", "result")
# They hold command lines, which are still to be read as a shell reads them: to a shell, "<" and ">"
# mean something.
_COMMANDS: Final = frozenset({"command", "arguments"})
_STANDS_FOR_IT: Final = "SECRET"


def without_secrets(fact: Fact) -> Fact:
    """Return a fact with the secrets in its texts replaced; documents keep their shape."""
    texts = {name: redacted(text) for name in _TEXTS if (text := getattr(fact, name))}
    texts |= {name: _without_secrets(text) for name in _DOCUMENTS if (text := getattr(fact, name))}
    changed: dict[str, object] = {
        name: text.replace(PLACEHOLDER, _STANDS_FOR_IT) if name in _COMMANDS else text
        for name, text in texts.items()
    }
    if fact.evaluations:
        changed["evaluations"] = tuple(map(evaluation_without_secrets, fact.evaluations))
    return msgspec.structs.replace(fact, **changed) if changed else fact


def evaluation_without_secrets(evaluation: SpanScore) -> SpanScore:
    """Return a score with the secrets in its words replaced."""
    return msgspec.structs.replace(evaluation, says=redacted(evaluation.says))


def _without_secrets(text: str) -> str:
    value = document(text)
    if isinstance(value, str):
        return redacted(text)
    return as_text(redacted_value(value, MOST_CHARS))
