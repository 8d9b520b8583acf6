"""Read a run's facts from a span, in any known vocabulary."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from ..encodings.span import Span, SpanEvent
from . import vocabulary
from .evaluations import evaluations_on
from .fact import Fact, bounded
from .values import (
    as_exit_code,
    as_text,
    document,
    first_count,
    first_number,
    first_text,
    seconds_of,
)
from .vocabulary import SpanKind

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


_ID_CHARS: Final = 256
_NAME_CHARS: Final = 200
_PROMPT_CHARS: Final = 1024 * 1024
# A request to a model repeats the whole conversation; the first one of a run is short.
_CHAT_CHARS: Final = 64 * 1024
_SPREAD: Final = 4
_EXCEPTION: Final = "exception"
_NOTHING: Final = ("null", "None")


def fact_of(span: Span) -> Fact:
    """Return the bounded fact of a span; it shares no memory with it."""
    kind = kind_of(span)
    if kind is SpanKind.OTHER:
        return _ancestry(span)
    attributes = span.attributes
    raised = _exception(span.events)
    tool, is_tool = "", kind is SpanKind.TOOL
    if is_tool:
        # DSPy names the method of a tool that was called.
        name = span.name.removeprefix("execute_tool ").removesuffix(".__call__")
        tool = first_text(attributes, vocabulary.TOOL) or name
    return Fact(
        span=span.span_id,
        parent=span.parent_id,
        kind=kind,
        name=span.name[:_NAME_CHARS],
        scope=span.scope[:_NAME_CHARS],
        start=seconds_of(span.start_ns),
        end=seconds_of(span.end_ns),
        status=span.status,
        tool=tool[:_NAME_CHARS],
        call=first_text(attributes, vocabulary.CALL_ID)[:_ID_CHARS] if is_tool else "",
        arguments=_arguments(span) if is_tool else None,
        command=bounded(first_text(attributes, vocabulary.COMMAND)) if is_tool else "",
        edited=first_text(attributes, vocabulary.EDITED)[:_CHAT_CHARS] if is_tool else "",
        result=_result(span) if is_tool else None,
        failed=_failed(attributes),
        error=bounded(_error(span, kind, raised)),
        error_type=_error_type(attributes, raised)[:_NAME_CHARS],
        exit_code=_exit_code(attributes),
        decision=as_text(attributes.get("decision") or "")[:_NAME_CHARS],
        agent=first_text(attributes, vocabulary.AGENT_NAME)[:_NAME_CHARS],
        service=as_text(span.resource.get("service.name") or "")[:_NAME_CHARS],
        session=_session(attributes)[:_ID_CHARS],
        prompt_id=_prompt_id(span),
        prompt=_prompt(span, kind),
        model=first_text(attributes, vocabulary.MODEL)[:_NAME_CHARS],
        tokens_in=first_count(attributes, vocabulary.TOKENS_IN),
        tokens_out=first_count(attributes, vocabulary.TOKENS_OUT),
        usd=first_number(attributes, vocabulary.USD),
        folder=_told(span, vocabulary.FOLDER),
        project=_told(span, vocabulary.PROJECT),
        repository=_told(span, vocabulary.REPOSITORY),
        branch=_told(span, vocabulary.BRANCH),
        evaluations=evaluations_on(span),
        resumes=kind in (SpanKind.RUN, SpanKind.STEP) and _resumes(span.attributes),
    )


def _resumes(attributes: Mapping[str, Any]) -> bool:
    """Return whether a graph was called with nothing, or with a person's answer to it."""
    given = as_text(attributes.get("input.value") or attributes.get("traceloop.entity.input") or "")
    if given in _NOTHING:
        return True
    told = document(given[:_CHAT_CHARS]) if '"resume"' in given else None
    return isinstance(told, Mapping) and told.get("resume") is not None


def _prompt_id(span: Span) -> str:
    """Return the id of the prompt; sub-agents of Claude Code use their own id for it."""
    own = ("agent_id",) if span.name.startswith("claude_code.") else ()
    return first_text(span.attributes, (*own, *vocabulary.PROMPT_ID))[:_ID_CHARS]


def kind_of(span: Span) -> SpanKind:
    """Return the kind of a span, by the first vocabulary that knows it."""
    attributes = span.attributes
    for name, kinds in vocabulary.KINDS:
        value = attributes.get(name)
        if value is not None and isinstance(value, str) and (kind := kinds.get(value)):
            return kind
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation.startswith(vocabulary.INVOCATION):
        return SpanKind.RUN
    return vocabulary.NAMED.get((span.scope, span.name), SpanKind.OTHER)


def _ancestry(span: Span) -> Fact:
    """Return the bare fact of a span without content: its place in the tree and its owner."""
    attributes = span.attributes
    return Fact(
        span=span.span_id,
        parent=span.parent_id,
        kind=SpanKind.OTHER,
        name=span.name[:_NAME_CHARS],
        start=seconds_of(span.start_ns),
        end=seconds_of(span.end_ns),
        service=as_text(span.resource.get("service.name") or "")[:_NAME_CHARS],
        # Codex names the session beside the turn only here.
        session=first_text(attributes, ("conversation.id",))[:_ID_CHARS],
        prompt_id=_prompt_id(span),
        folder=first_text(attributes, ("cwd",))[:_CHAT_CHARS],
        is_end=span.name == "session_task.turn",
        evaluations=evaluations_on(span),
    )


def _told(span: Span, names: tuple[str, ...]) -> str:
    found = first_text(span.attributes, names) or first_text(span.resource, names)
    return found[:_CHAT_CHARS]


def _session(attributes: Mapping[str, Any]) -> str:
    found = first_text(attributes, vocabulary.SESSION)
    if found or "metadata" not in attributes:
        return found
    metadata = document(as_text(attributes["metadata"]))  # OpenInference's, of LangChain
    if not isinstance(metadata, Mapping):
        return ""
    return first_text(metadata, ("session_id", "thread_id", "conversation_id"))


def _exit_code(attributes: Mapping[str, Any]) -> int | None:
    codes = (as_exit_code(attributes.get(name)) for name in vocabulary.EXIT_CODE)
    return next((code for code in codes if code is not None), None)


def _failed(attributes: Mapping[str, Any]) -> bool | None:
    for name, words in vocabulary.FAILED.items():
        value = attributes.get(name)
        if value is not None:
            return as_text(value).lower() in words
    return None


def _exception(events: tuple[SpanEvent, ...]) -> Mapping[str, Any]:
    """Return the attributes of the last exception that a span recorded."""
    for event in reversed(events):
        if event.name == _EXCEPTION:
            return event.attributes
    return {}


def _error(span: Span, kind: SpanKind, raised: Mapping[str, Any]) -> str:
    """Return the error: an exception's own message rather than a traceback."""
    told = as_text(raised.get("exception.message") or "")
    told = told or _error_attribute(span.attributes)
    if not told and span.status == "error":
        told = span.status_message
        if kind is SpanKind.RUN:  # Agno has the exception only in what the agent "answered"
            answer = first_text(span.attributes, vocabulary.RESULT)
            told = f"{told}\n{answer[:_NAME_CHARS]}".strip()
    return told.partition("Traceback (most recent call last)")[0].strip() or told


def _error_type(attributes: Mapping[str, Any], raised: Mapping[str, Any]) -> str:
    held = (attributes.get(name) for name in vocabulary.ERROR_TYPE)
    # False says that there was no error.
    return as_text(next(filter(None, held), None) or raised.get("exception.type") or "")


def _error_attribute(attributes: Mapping[str, Any]) -> str:
    found = first_text(attributes, vocabulary.ERROR)
    return "" if found == "true" else found  # an old convention's flag


def _arguments(span: Span) -> str | None:
    """Return the arguments as they were recorded, in attributes or (Strands) in an event."""
    found = first_text(span.attributes, vocabulary.ARGUMENTS)
    for event in span.events if not found else ():
        if event.name in vocabulary.CALL_EVENTS:
            found = found or _body(event, ("content", "bash_command", "input"))
    return bounded(found) if found else None


def _result(span: Span) -> str | None:
    found = first_text(span.attributes, vocabulary.RESULT)
    for event in span.events if not found else ():
        if event.name in (*vocabulary.RESULT_EVENTS, "tool.output"):
            found = found or _body(event, ("message", "output", "content"))
    return bounded(found) if found else None


def _body(event: SpanEvent, names: tuple[str, ...]) -> str:
    return first_text(event.attributes, names)


def _prompt(span: Span, kind: SpanKind) -> str:
    """Return the person's prompt, where looking for it in a span is worth its cost."""
    if (
        kind is SpanKind.MODEL
        or kind is SpanKind.RUN
        or (kind is SpanKind.STEP and not span.parent_id)
    ):
        most = _CHAT_CHARS if kind is SpanKind.MODEL else _PROMPT_CHARS
        for text in _recorded_prompts(span):
            if len(text) <= most and text not in _NOTHING and (found := prompt_in(text)):
                return found
    if kind is SpanKind.STEP:  # LlamaIndex has what was asked only in the steps of its workflow
        return prompt_in_repr(as_text(span.attributes.get("input.value") or ""))
    return ""


def _recorded_prompts(span: Span) -> Iterator[str]:
    attributes = span.attributes
    for name in vocabulary.PROMPT:
        value = attributes.get(name)
        if value:
            yield as_text(value)
    for role, content in vocabulary.SPREAD_PROMPTS:
        for position in range(_SPREAD):
            if attributes.get(role.format(position)) in ("user", "human"):
                yield as_text(attributes.get(content.format(position)) or "")
    for event in span.events:
        if event.name in vocabulary.PROMPT_EVENTS:
            yield from _prompts_in(event)


def _prompts_in(event: SpanEvent) -> Iterator[str]:
    held = event.attributes.get("gen_ai.input.messages")
    if held:
        yield as_text(held)
    content = event.attributes.get("content")
    if content:
        yield as_text([{"role": "user", "content": document(as_text(content))}])
