"""Read the objects of a JSON array one by one, without the whole file in memory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

from trackrecord.errors import ImportFormatError

_CHUNK = 256 * 1024
# One recorded run; the longest that was seen has 200 thousand characters.
_LONGEST_OBJECT = 64 * 1024 * 1024
_BLANK = " \t\r\n"


def read_items(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the items of a file that holds a JSON array, numbered from 1.

    They should be objects; one of another kind is yielded, too, so that it can be named.

    Raises:
        ImportFormatError: the file cannot be read, or is not such an array; the message names
            the file and the record.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _Array(file, path).items()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ImportFormatError(message) from None
    except UnicodeDecodeError:
        message = f"{path} is not UTF-8"
        raise ImportFormatError(message) from None


class _Array:
    """A JSON array that is being read."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._text = ""
        self._record = 0
        self._decoder = json.JSONDecoder(parse_constant=self._not_a_number)

    def items(self) -> Iterator[tuple[int, Any]]:
        if self._next_sign() != "[":
            self._fail("is not a JSON array of runs")
        sign = self._next_sign()
        while sign != "]":
            self._record += 1
            if sign != "{":
                self._text = sign + self._text
            yield self._record, self._item()
            sign = self._next_sign()
            if sign == ",":
                sign = self._next_sign()
            elif sign != "]":
                self._fail("is not followed by a comma or the array's end")

    def _next_sign(self) -> str:
        """Return the next character that is not a blank; consume it unless it begins an object."""
        self._text = self._text.lstrip(_BLANK)
        while not self._text:
            if not self._read_on():
                return ""
            self._text = self._text.lstrip(_BLANK)
        sign = self._text[0]
        if sign != "{":
            self._text = self._text[1:]
        return sign

    def _item(self) -> Any:  # noqa: ANN401 - JSON of any kind
        while True:
            try:
                decoded, end = self._decoder.raw_decode(self._text)
            except RecursionError:
                self._fail("is nested too deeply")
            except ValueError:
                # Twice as much each time, so that a long object is not parsed over and over.
                if len(self._text) > _LONGEST_OBJECT or not self._read_on(len(self._text)):
                    self._fail("is not JSON, or is cut off")
            else:
                # A number that ends with the text may go on in the next part of the file.
                if end == len(self._text) and not isinstance(decoded, dict) and self._read_on():
                    continue
                self._text = self._text[end:]
                return decoded

    def _read_on(self, at_least: int = 0) -> bool:
        more = self._file.read(max(_CHUNK, at_least))
        self._text += more
        return bool(more)

    def _not_a_number(self, constant: str) -> NoReturn:
        message = f"{constant} is not JSON"
        raise ValueError(message)

    def _fail(self, what: str) -> NoReturn:
        where = f"{self._path}, record {self._record}," if self._record else str(self._path)
        message = f"{where} {what}"
        raise ImportFormatError(message)
