"""Shapes of answers: derived from the classes of the objects that are answered with."""

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Union

import msgspec
from msgspec import UNSET, Meta, UnsetType

from trackrecord.prompt.answers.json_documents import INSTANTS
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.answers.why import Why
from trackrecord.prompt.documents.advice_document import LessonEntry
from trackrecord.prompt.documents.labels import NOT_SHOWN
from trackrecord.resources.declaration.docstrings import read_docstring
from trackrecord.resources.declaration.resource import (
    Answer,
    answer_fields,
    is_instant,
    schema_name,
)
from trackrecord.wire.exposure import ExposureBody

Iso = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

# What classes are called in the document, where that is not their name.
_NAMES: Final[Mapping[type, str]] = {ExposureBody: "Exposure", LessonEntry: "RankedLesson"}
# What JSON has beside the fields of a class.
_MORE: Final[Mapping[type, Mapping[str, Any]]] = {Rankings: {"why": list[Why]}}


def name_of(answer: type) -> str:
    """Return what a class of answers is called in the document."""
    return _NAMES.get(answer) or schema_name(answer)


@cache
def shape_of(answer: type) -> type[msgspec.Struct]:
    """Return the shape of a class of answers: its fields, described by its docstring."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name, hint, is_always_there in _fields_of(answer):
        kind = hint if is_always_there else Union[hint, UnsetType]  # noqa: UP007 - of a value
        fields.append((name, kind) if is_always_there else (name, kind, UNSET))
    fields += _MORE.get(answer, {}).items()
    summary = read_docstring(answer).summary if issubclass(answer, Answer) else None
    return msgspec.defstruct(
        name_of(answer),
        fields,
        kw_only=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": summary},
    )


def _fields_of(answer: type) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the type of each field, and whether it is always there."""
    said: dict[str, str] = {}
    for base in reversed(answer.__mro__):
        said |= read_docstring(base).names
    for name, hint in _hints(answer).items():
        options = typing.get_args(hint)
        is_always_there = UnsetType not in options and not _may_be_omitted(answer, name)
        if not is_always_there and options:
            left_out = UnsetType if UnsetType in options else types.NoneType
            known = tuple(each for each in options if each is not left_out)
            hint = Union[known]  # noqa: UP007 - of a value
        kind = _json_type(hint)
        if name in INSTANTS and not issubclass(answer, Answer):
            kind = Iso | None if types.NoneType in options else Iso
            said[name] = said[name].replace(", seconds since the epoch", "")
        yield (
            name,
            Annotated[kind, Meta(description=said[name])] if name in said else kind,
            is_always_there,
        )


def _hints(answer: type) -> Mapping[str, Any]:
    if issubclass(answer, Answer):
        return answer_fields(answer)
    found = typing.get_type_hints(answer, include_extras=answer is not ExposureBody)
    names = (
        [each.name for each in dataclasses.fields(answer)]
        if dataclasses.is_dataclass(answer)
        else [*getattr(answer, "__struct_fields__", found)]
    )
    return {name: found[name] for name in names if name not in NOT_SHOWN and name[0] != "_"}


def _may_be_omitted(answer: type, name: str) -> bool:
    """Return whether JSON leaves a field out while it is its default."""
    config = getattr(answer, "__struct_config__", None)
    if config is None or not config.omit_defaults:
        return False
    field = next(each for each in msgspec.structs.fields(answer) if each.name == name)
    return field.default is not msgspec.NODEFAULT


def _json_type(hint: Any) -> Any:  # noqa: ANN401 - a type of any form
    if is_instant(hint):
        return Iso | None if type(None) in typing.get_args(hint) else Iso
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[-1] is Ellipsis:
        item: Any = _json_type(typing.get_args(hint)[0])
        return list[item]
    if typing.get_origin(hint) in (Union, types.UnionType):
        return Union[tuple(map(_json_type, typing.get_args(hint)))]  # noqa: UP007 - of a value
    return shape_of(hint) if isinstance(hint, type) and _is_answered_otherwise(hint) else hint


def _is_answered_otherwise(kind: type) -> bool:
    """Return whether the JSON of a class is not what msgspec makes of it."""
    config = getattr(kind, "__struct_config__", None)
    if issubclass(kind, Answer) or kind in _NAMES or (config is not None and config.array_like):
        return True
    return any(name in NOT_SHOWN for name in getattr(kind, "__struct_fields__", ()))
