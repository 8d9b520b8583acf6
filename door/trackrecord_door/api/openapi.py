"""The OpenAPI document, generated from the table of endpoints."""

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Union

import msgspec
from msgspec import UNSET, Meta, UnsetType

import trackrecord
from trackrecord.prompt.answers import why
from trackrecord.prompt.answers.json_documents import INSTANTS, NOT_IN_JSON
from trackrecord.prompt.answers.rankings_answer import Rankings
from trackrecord.prompt.documents.advice_document import LessonEntry
from trackrecord.prompt.documents.labels import NOT_SHOWN
from trackrecord.prompt.documents.rankings_document import (
    RankedCompetence,
    RankedFailure,
    RankedMemory,
    RankedPattern,
    RankedProcedure,
)
from trackrecord.prompt.question.rules import FIELDS
from trackrecord.resources.declaration.docstrings import read_docstring
from trackrecord.resources.declaration.resource import (
    Answer,
    answer_fields,
    is_instant,
    schema_name,
)
from trackrecord.wire.exposure import ExposureBody

from ..protocol.answers import API, JSON, PROBLEM
from .endpoint import MOST_AT_ONCE, USUAL_LIMIT, Endpoint
from .endpoint_table import ENDPOINTS
from .outcomes import TYPES, document_of_taken
from .parameters import Parameter, question_of

Iso = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

# What classes are called in the document, where that is not their name.
_NAMES: Final[Mapping[type, str]] = {ExposureBody: "Exposure", LessonEntry: "RankedLesson"}


def _told_by(answer: type, name: str) -> Any:  # noqa: ANN401 - a type of any form
    """Return the type of a property."""
    return typing.get_type_hints(getattr(answer, name).fget, vars(why))["return"]


# What JSON has beside the fields of a class.
_OF_ENTRIES: Final = {"fits": bool, "is_told": bool}
_MORE: Final[Mapping[type, Mapping[str, Any]]] = {
    Rankings: {name: _told_by(Rankings, name) for name in (*FIELDS, "why")},
    RankedPattern: {**_OF_ENTRIES, "success_rate": float | None, "interval": tuple[float, float]},
    RankedCompetence: {**_OF_ENTRIES, "interval": tuple[float, float]},
    **dict.fromkeys((LessonEntry, RankedFailure, RankedProcedure, RankedMemory), _OF_ENTRIES),
}


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
    fields += ((name, _json_type(hint)) for name, hint in _MORE.get(answer, {}).items())
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
    return {name: found[name] for name in names if name not in (*NOT_SHOWN, *NOT_IN_JSON)}


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


_REF: Final = "#/components/schemas/{name}"
_TEXT: Final = {"type": "string"}
_PROBLEM: Final = {
    "type": "object",
    "description": "An error, as RFC 9457 describes it.",
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": {**_TEXT, "description": "One line: what is wrong, and what to do."},
        "errors": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/BadLine"},
            "description": "What is wrong with each of several outcomes.",
        },
    },
}
_BAD_LINE: Final = {
    "type": "object",
    "required": ["place", "reason"],
    "additionalProperties": False,
    "properties": {"place": _TEXT, "reason": _TEXT},
}
_REMOVED: Final = {
    **_TEXT,
    "description": "What the answer lacks because retention has removed it; missing where it lacks "
    "nothing.",
}
_INTRODUCTION: Final = (
    "What the command line and the Python calls of trackrecord do, over HTTP. Each answer is what "
    "the command prints with `--json`, a list as `items` with the `cursor` of the next page. "
    "Errors are problems as RFC 9457 describes them."
)


def openapi_document() -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, dict[str, Any]] = {"/outcomes": {"post": _outcomes()}}
    schemas: dict[str, Any] = {"Problem": _PROBLEM, "BadLine": _BAD_LINE}
    for endpoint in ENDPOINTS:
        path = re.sub(r":path\}", "}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "trackrecord",
            "version": trackrecord.__version__,
            "description": _INTRODUCTION,
        },
        "servers": [{"url": API}],
        "security": [{}, {"token": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {"Problem": _content("An error.", "Problem", PROBLEM)},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `trackrecord token create` made. Without one, "
                    "programs of the same machine may do everything.",
                }
            },
        },
    }


@cache
def encoded_document() -> bytes:
    """Return the document as it is served."""
    return msgspec.json.encode(openapi_document())


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    said = read_docstring(endpoint.call)
    found: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.name}",
        "tags": [endpoint.tag],
        "summary": said.summary.rstrip("."),
        "description": (
            said.text + f"\n\nNeeds a token to {endpoint.permission.name.lower()}."
        ).strip(),
        "parameters": _parameters(endpoint, schemas),
        "responses": _responses(endpoint, schemas),
    }
    body = {name: each for name, each in endpoint.parameters.items() if each.place == "body"}
    if endpoint.method == "POST":
        name = "".join(word.title() for word in endpoint.name.split("_")) + "Body"
        schema = _schema(question_of(name, body), schemas)
        must = any(each.is_required for each in body.values())
        found["requestBody"] = {"required": must, "content": {JSON: {"schema": schema}}}
    return found


def _parameters(endpoint: Endpoint, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    found = [
        _parameter(each, schemas) for each in endpoint.parameters.values() if each.place != "body"
    ]
    if endpoint.scope != "none":
        whose = "the caller's or the settings' one" if endpoint.scope == "project" else "all"
        found.append(
            _common(
                "project",
                {**_TEXT, "minLength": 1, "maxLength": 128},
                f"The project; {whose} when not given.",
            )
        )
    if endpoint.paging is not None:
        limit = {"type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE, "default": USUAL_LIMIT}
        found += [
            _common("limit", limit, "The maximum number of entries of the page."),
            _common(
                "after",
                {**_TEXT, "minLength": 1, "maxLength": 4096},
                "The `cursor` of the page before.",
            ),
        ]
        if endpoint.paging.sorting is not None:
            keys = [*endpoint.paging.sorting.keys]
            orders = [*keys, *(f"-{key}" for key in keys)]
            said = "The order; with a minus before it, the largest or newest come first."
            found.append(_common("sort", {**_TEXT, "enum": orders}, said))
    return found


def _common(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _parameter(each: Parameter, schemas: dict[str, Any]) -> dict[str, Any]:
    schema = dict(_schema(each.kind, schemas))
    if isinstance(each.default, bool | int | float | str) and "$ref" not in schema:
        schema["default"] = each.default
    said: dict[str, Any] = {
        "name": each.name,
        "in": each.place,
        "schema": schema,
        "description": each.description,
    }
    if each.default is inspect.Parameter.empty:
        said["required"] = True
    return said


def _responses(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    name = name_of(endpoint.answer)
    schemas |= {
        part: each
        for part, each in _components(shape_of(endpoint.answer)).items()
        if part not in schemas
    }
    if endpoint.paging is not None or endpoint.is_list:
        page = f"{name}List"
        schemas[page] = {
            "type": "object",
            "required": ["items", "cursor"],
            "additionalProperties": False,
            "properties": {
                "items": {"type": "array", "items": {"$ref": _REF.format(name=name)}},
                "cursor": {
                    "type": ["string", "null"],
                    "description": "What `after` takes for the next page; null after the last.",
                },
            },
        }
        name = page
    if endpoint.rests_on:
        schemas[name]["properties"]["removed"] = _REMOVED
    answer = _content("The answer.", name, JSON)
    responses: dict[str, Any] = {
        str(endpoint.status): answer,
        "default": {"$ref": "#/components/responses/Problem"},
    }
    if endpoint.method == "GET":
        answer["headers"] = {
            "ETag": {"schema": _TEXT, "description": "The same while the answer is the same."}
        }
        responses["304"] = {"description": "The answer is still the one that If-None-Match names."}
    return responses


def _content(description: str, name: str, media_type: str) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=name)}
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any type
    (found,), components = msgspec.json.schema_components([kind], ref_template=_REF)
    schemas |= {name: _plain(each) for name, each in components.items()}
    schema: dict[str, Any] = _plain(found)
    return schema


def _components(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    _, components = msgspec.json.schema_components([kind], ref_template=_REF)
    return {name: _plain(each) for name, each in components.items()}


def _plain(schema: Any) -> Any:  # noqa: ANN401 - a part of a schema
    """Return a schema without the titles that only repeat names."""
    if isinstance(schema, dict):
        return {
            name: _plain(each)
            for name, each in schema.items()
            if not (name == "title" and isinstance(each, str))
        }
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema


def _outcomes() -> dict[str, Any]:
    outcome = {"type": "object", "description": "An outcome as docs/wire.md describes it."}
    lines = {"schema": {"type": "string", "description": "One outcome on each line."}}
    schema = {"anyOf": [outcome, {"type": "array", "items": outcome}]}
    return {
        "operationId": "post_outcomes",
        "tags": ["outcomes"],
        "summary": "Report how tasks went",
        "description": "Takes one outcome, a list of them, or JSON Lines. When it answers, those "
        "in order are with Redis or in the spool; a bad one keeps no other one back, and is "
        "named in "
        "`bad`. An outcome without an `outcome_id` gets one from its content, so that posting it "
        "again changes nothing.\n\nNeeds a token to write.",
        "parameters": [
            _common(
                "project",
                {**_TEXT, "minLength": 1, "maxLength": 128},
                "The project of outcomes that name none.",
            )
        ],
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": schema}, **dict.fromkeys(TYPES[1:], lines)},
        },
        "responses": {
            "202": {
                "description": "They are taken.",
                "content": {JSON: {"schema": document_of_taken()}},
            },
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
