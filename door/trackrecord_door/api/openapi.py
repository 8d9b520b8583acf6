"""The OpenAPI document, generated from the table of endpoints."""

import inspect
import re
from functools import cache
from typing import Any, Final

import msgspec

import trackrecord
from trackrecord.resources.declaration.docstrings import read_docstring

from ..protocol.answers import JSON
from ..protocol.problems import API, PROBLEM
from .endpoint import MOST_AT_ONCE, USUAL_LIMIT, Endpoint
from .endpoint_table import ENDPOINTS
from .outcomes import TYPES, document_of_taken
from .parameters import Parameter, question_of
from .shape import name_of, shape_of

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
