"""Parameters of an endpoint, from the signature of its call: names, types, bounds, descriptions."""

import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Union

import msgspec
from msgspec import Meta

from trackrecord.learning.outcomes.gate import CHECKS
from trackrecord.prompt.question.rules import ACCEPTED
from trackrecord.resources.declaration.checks import Argument, Share, Text
from trackrecord.resources.declaration.docstrings import read_docstring

Place = Literal["path", "query", "body"]

_IN_PATH: Final = re.compile(r"\{(\w+)(?::path)?\}")
_MOST_ITEMS: Final = 1000

# The head of a request has at most 64 KiB; a character may take twelve bytes of it.
_MOST_IN_QUERY: Final = 4096
ShortText = Annotated[str, Meta(min_length=1, max_length=_MOST_IN_QUERY)]
Name = Annotated[str, Meta(min_length=1, max_length=1024)]
Amount = Annotated[float, Meta(ge=0, le=1e9)]
Moment = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        examples=["2026-11-21T03:00:00Z", "1763694000"],
        extra_json_schema={"format": "moment"},
    ),
]
Section: Any = Literal[tuple(sorted(ACCEPTED))]
Names = Annotated[list[Name], Meta(max_length=_MOST_ITEMS)]
Object = dict[str, Any]
Condition = Annotated[str, Meta(min_length=2, max_length=1024, pattern="^[^=]+=.*$")]
Check: Any = Literal[CHECKS]

# Where a signature says less than what the call accepts.
_KNOWN: Final[Mapping[str, Any]] = {
    "at": Moment,
    "since": Moment,
    "limit": Annotated[int, Meta(ge=1, le=_MOST_ITEMS)],
    "budget": Annotated[int, Meta(ge=0, le=10_000_000)],
    "min_confidence": Share,
    "confidence": Share,
    "half_life_days": Annotated[float, Meta(gt=0, le=1e6)],
    "conditions": Object,
    "scores": dict[str, Any],
    "config": Object,
    "candidates": Annotated[list[Object], Meta(max_length=10_000)],
    "include": list[Section],
    "exclude": list[Section],
    "checks": list[Check],
    "add": Names,
    "remove": Names,
    "ids": Annotated[list[Name], Meta(min_length=1, max_length=10_000)],
    "failure_modes": Names,
    "tags": Names,
    "tools": Annotated[list[Name | Object], Meta(min_length=1, max_length=_MOST_ITEMS)],
    "triggers": Annotated[list[Name | Object], Meta(min_length=1, max_length=_MOST_ITEMS)],
    "by": Annotated[str, Meta(min_length=1, max_length=128)],
    "reason": Annotated[str, Meta(min_length=1, max_length=1000)],
}
_NEVER_GIVEN: Final = ("return", "service", "caller", "project")
# In a query string, which has texts alone.
_KNOWN_IN_QUERY: Final[Mapping[str, Any]] = {
    "conditions": Annotated[list[Condition], Meta(max_length=64)],
    "tools": ShortText,
}


@dataclass(frozen=True)
class Parameter:
    """One argument of a call.

    Attributes:
        name: as the call has it.
        kind: its type with its bounds.
        place: where it is given.
        default: what stands for it when it is not given; `inspect.Parameter.empty` if it must be.
        description: one or more sentences.
    """

    name: str
    kind: Any
    place: Place
    default: Any
    description: str

    @property
    def is_required(self) -> bool:
        """Return whether the parameter is required."""
        return self.default is inspect.Parameter.empty

    @property
    def is_repeated(self) -> bool:
        """Return whether a query string may have it several times."""
        return typing.get_origin(_bare(self.kind)) is list


def parameters_of(call: Callable[..., Any], path: str, method: str) -> dict[str, Parameter]:
    """Return the arguments of a call, by name."""
    in_path = set(_IN_PATH.findall(path))
    said = read_docstring(call).names
    hints = _hints(call)
    found: dict[str, Parameter] = {}
    for name, each in inspect.signature(call).parameters.items():
        place: Place = "path" if name in in_path else "query" if method == "GET" else "body"
        kind = _kind(name, hints.get(name, str), place)
        found[name] = Parameter(name, kind, place, each.default, said.get(name, ""))
    return found


def question_of(name: str, parameters: Mapping[str, Parameter]) -> type[msgspec.Struct]:
    """Return a type for the values of parameters; missing ones are unset."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for each in parameters.values():
        said: Any = Annotated[each.kind, Meta(description=each.description)]
        if each.is_required:
            fields.append((each.name, said))
        elif each.default is None and each.place == "body":
            fields.append((each.name, Union[said, None, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007 - of a value
        else:
            fields.append((each.name, Union[said, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007 - as above
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _hints(call: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of arguments; those imported for type checkers alone are any object."""
    call = inspect.unwrap(call)
    names = {**vars(collections.abc), **vars(typing), **getattr(call, "__globals__", {})}
    found: dict[str, Any] = {}
    for name, hint in getattr(call, "__annotations__", {}).items():
        if name not in _NEVER_GIVEN and (name not in _KNOWN or "Literal" in str(hint)):
            holder = types.SimpleNamespace(__annotations__={name: hint})
            found |= typing.get_type_hints(holder, globalns=names, include_extras=True)
    return found


def _kind(name: str, hint: Any, place: Place) -> Any:  # noqa: ANN401 - a type of any form
    known = (_KNOWN_IN_QUERY if place == "query" else {}).get(name) or _KNOWN.get(name)
    if known is not None and typing.get_origin(hint) is not Literal:
        return known
    options = [each for each in typing.get_args(hint) if each is not types.NoneType]
    if typing.get_origin(hint) in (Union, types.UnionType) and len(options) == 1:
        hint = options[0]
    argument = Argument.of(hint)
    if argument.choices:
        return Literal[argument.choices]
    if typing.get_origin(hint) is Annotated:
        is_too_long = (argument.bounds.max_length or 0) > _MOST_IN_QUERY
        return ShortText if is_too_long and place == "query" else hint
    if hint is str:
        if place == "path" or name.endswith("id"):
            return Name
        return Text if place == "body" else ShortText
    return hint


def _bare(kind: Any) -> Any:  # noqa: ANN401 - as above
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
