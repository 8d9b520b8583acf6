"""Find a person's words in the many shapes in which frameworks record their input."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from .fact import bounded
from .values import as_text, document

_USERS: Final = frozenset({"user", "human"})
# Where an input that is a mapping keeps the task, the better-known name first.
_TASKS: Final = ("task", "prompt", "input", "question", "query", "user_input", "instruction")
_MESSAGES: Final = ("messages", "inputs", "input_args", "kwargs", "data")
_DEEPEST: Final = 6
# Messages of LlamaIndex and AutoGen, as in "role=<MessageRole.USER: 'user'>, … text='Fix it'".
_LONGEST_REPR: Final = 64 * 1024
_SPEAKER: Final = re.compile(r"\b(?:role|source)=(?:<[\w.]{1,60}: )?'(\w{1,60})'")
_SAID: Final = re.compile(
    r"""\b(?:content|text)=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL
)


def prompt_in(text: str) -> str:
    """Return the person's words in a recorded input; "" if there are none."""
    found = _asked(document(text), _DEEPEST)
    return bounded(found.strip()) if found else ""


def _asked(value: Any, depth: int) -> str:  # noqa: ANN401 - of any shape
    if depth == 0:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _asked_in_mapping(value, depth)
    if isinstance(value, Sequence):
        return _asked_in_messages(value, depth)
    return ""


def prompt_in_repr(text: str) -> str:
    """Return the person's last words in messages that were written with Python's repr."""
    if len(text) > _LONGEST_REPR or not _SPEAKER.search(text):
        return ""
    value = document(text)
    if isinstance(value, Mapping):
        texts = (held for held in value.values() if isinstance(held, str))
        return next(filter(None, map(_last_asked_in_repr, texts)), "")
    return _last_asked_in_repr(text)


def _last_asked_in_repr(text: str) -> str:
    asked = ""
    speakers = list(_SPEAKER.finditer(text))
    for speaker, behind in zip_longest(speakers, speakers[1:]):
        said = text[speaker.end() : behind.start() if behind else None]
        words = _SAID.search(said) if speaker[1] in _USERS else None
        asked = _unquoted(words[1]) if words else asked
    return bounded(asked.strip())


def _unquoted(quoted: str) -> str:
    try:
        return str(ast.literal_eval(quoted))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return quoted[1:-1]


def _asked_in_mapping(value: Mapping[Any, Any], depth: int) -> str:
    if _role(value) in _USERS:
        return _content(value)
    for name in _TASKS:
        if isinstance(value.get(name), str) and value[name]:
            return str(value[name])
    for name in (*_MESSAGES, *_TASKS):
        if isinstance(value.get(name), (Mapping, list)) and (
            found := _asked(value[name], depth - 1)
        ):
            return found
    return _given(value)


def _given(value: Mapping[Any, Any]) -> str:
    """Return the one text that a function was called with, as Langfuse's decorator records it."""
    args, kwargs = value.get("args"), value.get("kwargs")
    if not isinstance(args, list) or not isinstance(kwargs, Mapping):
        return ""
    texts = [held for held in (*args, *kwargs.values()) if isinstance(held, str)]
    return texts[0] if len(texts) == 1 else ""


def _asked_in_messages(messages: Sequence[Any], depth: int) -> str:
    """Return the person's last words: the messages before them are the conversation so far."""
    asked = ""
    for message in messages:
        if isinstance(message, Mapping):
            asked = (_content(message) if _role(message) in _USERS else "") or asked
            asked = asked or _described(message)
        elif _is_pair(message):  # LangChain's ("user", "…")
            asked = message[1] if message[0] in _USERS else asked
        elif isinstance(message, str):
            asked = prompt_in_repr(message) or asked
        elif isinstance(message, list):  # batches of messages
            asked = _asked(message, depth - 1) or asked
    return asked


def _described(message: Mapping[Any, Any]) -> str:
    """Return the first of the tasks that a crew was given, which has no role but a description."""
    described = message.get("description")
    return described if isinstance(described, str) and "expected_output" in message else ""


def _is_pair(message: Any) -> bool:  # noqa: ANN401 - as above
    return (
        isinstance(message, (list, tuple))
        and len(message) == 2
        and all(isinstance(part, str) for part in message)
    )


def _role(message: Mapping[Any, Any]) -> str:
    role = message.get("role") or message.get("type")
    if role == "constructor":  # LangChain's serialised objects name their class in `id`
        names = message.get("id")
        role = "human" if isinstance(names, list) and names[-1:] == ["HumanMessage"] else ""
    return role if isinstance(role, str) else ""


def _content(message: Mapping[Any, Any]) -> str:
    for name in ("content", "parts", "kwargs", "data", "text"):
        held = message.get(name)
        if isinstance(held, str) and held:
            return held
        if isinstance(held, Mapping) and (found := _content(held)):
            return found
        if isinstance(held, list) and (found := _texts(held)):
            return found
    return ""


def _texts(parts: Iterable[Any]) -> str:
    """Return the texts of a message's parts; results of tools are not a person's words."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in ("text", "input_text"):
            texts.append(as_text(part.get("text") or part.get("content") or ""))
    return "\n".join(text for text in texts if text)
