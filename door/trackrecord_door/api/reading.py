"""Read an endpoint's arguments from query string and body; each mistake is named."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.requests import Request

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.project_names import MAX_CHARS, ProjectName
from trackrecord.learning.text.spelling import closest
from trackrecord.resources.declaration.checks import Argument
from trackrecord.wire.storable import storable

from ..protocol.answers import JSON, RequestRefused, media_type
from .endpoint import Endpoint
from .parameters import Parameter, question_of

_UNREADABLE: Final = 400
_NOT_ACCEPTED: Final = 415
# What pages and projects are asked for with, whatever the call.
_COMMON: Final = ("project", "limit", "after", "sort")


class Reader:
    """Reads the requests to one endpoint.

    Args:
        endpoint: what may be given.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._queried = self._of_place("query")
        self._query = question_of("Query", self._queried)
        self.has_body = bool(self._of_place("body"))
        self.body_type = question_of("Body", self._of_place("body"))
        self._body = msgspec.json.Decoder(self.body_type)
        self._names = endpoint.names_given

    def _of_place(self, place: str) -> dict[str, Parameter]:
        parameters = self._endpoint.parameters.items()
        return {name: each for name, each in parameters if each.place == place}

    def query(self, request: Request) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the arguments in a query string, and the texts that every endpoint has.

        Raises:
            RequestRefused: a parameter is unknown, or given twice.
            InvalidRequest: a value cannot be used.
        """
        given: dict[str, Any] = {}
        for name, value in request.query_params.multi_items():
            if name not in self._names:
                raise RequestRefused(_UNREADABLE, self._unknown(name, self._names, "parameter"))
            parameter = self._queried.get(name)
            if parameter is not None and parameter.is_repeated:
                given.setdefault(name, []).append(value)
            elif name in given:
                raise RequestRefused(_UNREADABLE, f"the parameter {name!r} is given twice")
            else:
                given[name] = value
        _check_storable(given)
        common: dict[str, str] = {
            name: given.pop(name) for name in _COMMON if name in given and name not in self._queried
        }
        try:
            question = msgspec.convert(given, self._query, strict=False)
        except msgspec.ValidationError as error:
            self._check(given, self._queried, are_texts=True)
            raise InvalidRequest(_said(error)) from None
        return _as_given(question), common

    def body(self, request: Request, data: bytes) -> dict[str, Any]:
        """Return the arguments in a body; an empty one is an empty object.

        Raises:
            RequestRefused: it is of another type, or not JSON.
            InvalidRequest: a value cannot be used.
        """
        if data and media_type(request) != JSON:
            raise RequestRefused(_NOT_ACCEPTED, f"send {JSON}")
        data = storable(data)
        try:
            try:
                question = self._body.decode(data or b"{}")
            except msgspec.ValidationError as error:
                # The first error is told; behind it there may be what is no JSON at all.
                self._check(msgspec.json.decode(data), self._of_place("body"))
                raise InvalidRequest(self._said_of_body(error)) from None
        except (msgspec.DecodeError, UnicodeError):
            raise RequestRefused(_UNREADABLE, "the body is not JSON") from None
        except RecursionError:
            raise RequestRefused(_UNREADABLE, "the body is nested too deeply") from None
        return _as_given(question)

    def _check(
        self, given: object, known: Mapping[str, Parameter], *, are_texts: bool = False
    ) -> None:
        """Refuse a value in the words of the other surfaces.

        Raises:
            InvalidRequest: a value is none that its argument may have.
        """
        for name, value in given.items() if isinstance(given, dict) else ():
            if name in known:
                argument = Argument.of(known[name].kind)
                is_typed = are_texts and isinstance(value, str)
                argument.check(name, argument.from_text(value) if is_typed else value)

    def _said_of_body(self, error: msgspec.ValidationError) -> str:
        _, is_unknown, name = str(error).partition("unknown field `")
        if is_unknown and " - at " not in name:
            names = [*self._of_place("body")]
            return self._unknown(name.removesuffix("`"), names, "field of the body")
        return _said(error)

    def _unknown(self, name: str, known: list[str], what: str) -> str:
        shown = ascii(name[:MAX_CHARS])
        nearest = closest(name[:MAX_CHARS], known)
        if nearest is not None:
            return f"there is no {what} {shown}; did you mean {nearest!r}?"
        hint = f"; there are {', '.join(known)}" if known else ""
        return f"there is no {what} {shown}{hint}"


def path_arguments(request: Request) -> dict[str, str]:
    """Return the arguments in a path.

    Raises:
        InvalidRequest: one of them cannot be an id.
    """
    arguments: dict[str, str] = dict(request.path_params)
    _check_storable(arguments)
    for name, value in arguments.items():
        if not value.strip() or len(value) > 1024:
            message = f"{name} must be a text of 1 to 1024 characters, and not blank"
            raise InvalidRequest(message)
    return arguments


def checked_project_of(name: str) -> str:
    """Return a project's name.

    Raises:
        InvalidRequest: no project can have it.
    """
    try:
        return msgspec.convert(name, ProjectName)
    except msgspec.ValidationError:
        message = f"project must be a name of 1 to {MAX_CHARS} characters"
        raise InvalidRequest(message) from None


def _as_given(question: msgspec.Struct) -> dict[str, Any]:
    given = {name: getattr(question, name) for name in question.__struct_fields__}
    return {name: value for name, value in given.items() if value is not msgspec.UNSET}


def _said(error: msgspec.ValidationError) -> str:
    """Return the error, with the name of the argument in front."""
    message, _, place = str(error).partition(" - at `$.")
    message = message[:1].lower() + message[1:]
    return f"{place.removesuffix('`')}: {message}" if place else message


def _check_storable(value: object) -> None:
    """Check that databases have room for all texts.

    Raises:
        InvalidRequest: one holds NUL.
    """
    if isinstance(value, str):
        if "\0" in value:
            message = "a text holds NUL, which cannot be stored"
            raise InvalidRequest(message)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            _check_storable(name)
            _check_storable(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_storable(each)
