"""Forms: read within bounds, and only from pages of this server."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request

from trackrecord.errors import InvalidRequest
from trackrecord.resources.declaration.checks import optional_text_of, text_of
from trackrecord_door.protocol.answers import RequestRefused, media_type

MOST_BYTES: Final = 256 * 1024
_MOST_FIELDS: Final = 2000
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Form:
    """The fields of a form that was posted.

    Attributes:
        fields: each field's values.
    """

    fields: Mapping[str, Sequence[str]]

    def text(self, name: str, *, most: int = 1000) -> str:
        """Return the text of a required field.

        Raises:
            InvalidRequest: it is missing, blank or too long.
        """
        return text_of(name, self._last(name) or "", most=most).strip()

    def optional(self, name: str, *, most: int = 1000) -> str | None:
        """Return the text of a field, or None if it is missing or blank.

        Raises:
            InvalidRequest: it is too long.
        """
        given = self._last(name)
        return self.text(name, most=most) if given and given.strip() else None

    def number(self, name: str) -> float:
        """Return the number in a field.

        Raises:
            InvalidRequest: it is not one.
        """
        given = self.text(name)
        with suppress(ValueError):
            if isfinite(number := float(given)):
                return number
        message = f"{name} must be a number, not {given!r:.80}"
        raise InvalidRequest(message)

    def texts(self, name: str) -> list[str]:
        """Return all values of a field, for example of boxes that were ticked."""
        return [checked for each in self.fields.get(name, ()) if (checked := _checked(name, each))]

    def _last(self, name: str) -> str | None:
        given = self.fields.get(name)
        return given[-1] if given else None


def _checked(name: str, given: str) -> str | None:
    return optional_text_of(name, given or None)


def check_same_origin(request: Request) -> None:
    """Check that a form was posted by a page of this server.

    A foreign `Origin` was refused before (see `Access`). Every browser sends one of these two
    headers with a form, and no web page can choose their values.

    Raises:
        RequestRefused: it comes from elsewhere, or does not say from where.
    """
    site = request.headers.get("sec-fetch-site")
    says_so = request.headers.get("origin") is not None or site is not None
    if not says_so or site not in (None, "same-origin"):
        message = "forms are taken from pages of this server only; programs use /api/v1"
        raise RequestRefused(403, message)


def form_of(request: Request, body: bytes) -> Form:
    """Return the form in a request's body.

    Raises:
        RequestRefused: it is not a form.
    """
    if media_type(request) != _FORM:
        raise RequestRefused(415, f"a form is of the type {_FORM}")
    try:
        fields = parse_qs(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:  # too many fields, and what is not UTF-8
        raise RequestRefused(400, "the form cannot be read") from None
    return Form(fields)
