"""Shapes of answers: derived from the types of the objects that are answered with."""

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Union

import msgspec
from msgspec import Meta

from trackrecord.resources.docstrings import read_docstring
from trackrecord.resources.resource import Answer, answer_fields, is_instant, schema_name

Iso = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


def shape(
    name: str,
    *sources: type,
    without: Iterable[str] = (),
    moments: Iterable[str] = (),
    more: Mapping[str, Any] | None = None,
    maybe: Mapping[str, Any] | None = None,
) -> type[msgspec.Struct]:
    """Return a type that has all fields of some types, and no other ones.

    Args:
        name: what it is called in the document.
        sources: dataclasses, structs or other shapes, whose fields it has, with what their
            docstrings say of these.
        without: fields of these that it has not.
        moments: fields that are times: texts in ISO 8601 in an answer.
        more: further fields, or other types of fields.
        maybe: fields that an answer need not have.
    """
    fields: dict[str, Any] = {}
    for source in sources:
        fields |= _fields_of(source)
    left_out, times = set(without), set(moments)
    fields = {each: kind for each, kind in fields.items() if each not in left_out}
    for each in times:
        fields[each] = Iso if type(None) not in typing.get_args(_bare(fields[each])) else Iso | None
    fields |= more or {}
    told: list[tuple[str, Any] | tuple[str, Any, Any]] = [*fields.items()]
    for each, kind in (maybe or {}).items():
        told.append((each, Union[kind, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007 - of a value
    return msgspec.defstruct(name, told, kw_only=True, forbid_unknown_fields=True)


@cache
def shape_of(answer: type) -> type[msgspec.Struct]:
    """Return the shape of a class of answers: its fields, described by its docstring."""
    said: dict[str, str] = {}
    for base in reversed(answer.__mro__):
        said |= read_docstring(base).names
    told: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name, hint in answer_fields(answer).items():
        options = [each for each in typing.get_args(hint) if each is not msgspec.UnsetType]
        is_always_there = msgspec.UnsetType not in typing.get_args(hint)
        known = hint if is_always_there else Union[tuple(options)]  # noqa: UP007 - of a value
        kind: Any = Annotated[_json_type(known), Meta(description=said[name])]
        if is_always_there:
            told.append((name, kind))
        else:
            told.append((name, Union[kind, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007 - as above
    namespace = {"__doc__": read_docstring(answer).summary}
    return msgspec.defstruct(
        schema_name(answer), told, kw_only=True, forbid_unknown_fields=True, namespace=namespace
    )


def _json_type(hint: Any) -> Any:  # noqa: ANN401 - a type of any form
    if is_instant(hint):
        return Iso | None if type(None) in typing.get_args(hint) else Iso
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[-1] is Ellipsis:
        return listed(_json_type(typing.get_args(hint)[0]))
    if typing.get_origin(hint) in (Union, types.UnionType):
        return Union[tuple(map(_json_type, typing.get_args(hint)))]  # noqa: UP007 - of a value
    return shape_of(hint) if isinstance(hint, type) and issubclass(hint, Answer) else hint


def listed(kind: Any) -> Any:  # noqa: ANN401 - a type that is made here
    """Return the type of a list of something."""
    return list[kind]


def _fields_of(source: type) -> dict[str, Any]:
    said = read_docstring(source).names
    hints = _hints(source)
    names = (
        [each.name for each in dataclasses.fields(source)]
        if dataclasses.is_dataclass(source)
        else [*getattr(source, "__struct_fields__", hints)]
    )
    return {
        name: Annotated[hints[name], Meta(description=said[name])] if name in said else hints[name]
        for name in names
        if not name.startswith("_")
    }


def _hints(source: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(source, include_extras=True)
    except NameError:  # what is imported for type checkers alone
        return dict.fromkeys(source.__annotations__, Any)


def _bare(kind: Any) -> Any:  # noqa: ANN401 - a type of any form
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
