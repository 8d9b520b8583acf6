"""The lines of an export: a header, a JSON object for each row, and an end that counts them.

docs/running.md describes them. A row names its table; what the database numbers keeps its number,
which other rows of the file name. A value that is binary is base64, but for what is a JSON object
already, as the body of an outcome is: it stands there as it came, byte for byte.
"""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Optional, Union

import msgspec
from msgspec import Meta, Raw
from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, LargeBinary, String, Table

from trackrecord.errors import ImportFormatError, SchemaTooNew
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.project_names import ProjectName
from trackrecord.process.version import __version__
from trackrecord.store.database.migrate import knows
from trackrecord.wire.storable import storable

from .subjects import (
    COLUMNS_GONE,
    EARLIER,
    SUMMED,
    exported_columns,
    imported_tables,
    is_numbered,
    reference_of,
)

VERSION: Final = 1
# A record is joined from 100 entries at most, of a megabyte each.
LONGEST_LINE: Final = 128 * 1024 * 1024
LONGEST_HEADER: Final = 4096
_MARK: Final = b'{"trackrecord_export":'
_HEX: Final = re.compile(r"[0-9a-f]{1,32}")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line.

    Attributes:
        trackrecord_export: the version of the form.
        export_id: what this export is known by, 1 to 32 hexadecimal digits.
        project: whose data it is.
        exported_at: when it was made, seconds since the epoch.
        version: of the trackrecord that made it.
        revision: of the tables whose rows it has; "" for those of 0.1.0.
    """

    trackrecord_export: int
    export_id: str
    project: ProjectName
    exported_at: float
    version: str = ""
    revision: str = ""


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end", tag_field="table"):
    """The last line.

    Attributes:
        rows: how many rows each table has.
    """

    rows: dict[str, int]


def header_line(header: Header) -> bytes:
    """Return the first line of an export."""
    return msgspec.json.encode(header) + b"\n"


def is_header(line: bytes) -> bool:
    """Return whether a file that begins with this line is an export."""
    return line.startswith(_MARK)


def read_header(line: bytes) -> Header:
    """Return the header of an export.

    Raises:
        ImportFormatError: it is malformed.
        SchemaTooNew: it is of a newer version.
    """
    try:
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"line 1: the header of the export is malformed ({error})"
        raise ImportFormatError(message) from None
    if header.trackrecord_export != VERSION or (header.revision and not knows(header.revision)):
        message = (
            f"the export is of trackrecord {one_line(header.version)}, and this is {__version__}: "
            "install that version, or import another export"
        )
        raise SchemaTooNew(message)
    if not _HEX.fullmatch(header.export_id):
        message = "line 1: the export_id of the header must be hexadecimal digits, 32 at most"
        raise ImportFormatError(message)
    return header


class RowWriter:
    """Write the rows of a table as lines.

    Args:
        table: the table.
    """

    def __init__(self, table: Table) -> None:
        columns = list(table.c)
        self._name = str(table.name)
        self._fields: list[tuple[int, str, Callable[[Any], Any] | None]] = [
            (columns.index(column), str(column.name), _as_json if _is_binary(column) else None)
            for column in exported_columns(table)
        ]
        self._encoder = msgspec.json.Encoder()

    def line(self, row: Sequence[Any]) -> bytes:
        """Return the line of a row, of all columns of the table."""
        document: dict[str, Any] = {"table": self._name}
        for place, name, convert in self._fields:
            value = row[place]
            if value is not None:
                document[name] = convert(value) if convert else value
        return self._encoder.encode(document) + b"\n"


def _is_binary(column: Column[Any]) -> bool:
    return isinstance(column.type, LargeBinary)


def _as_json(value: bytes) -> Raw | str:
    if value[:1] == b"{" and value[-1:] == b"}" and b"\n" not in value and b"\r" not in value:
        try:
            msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass
        else:
            return Raw(value)
    return base64.b64encode(value).decode()


class RowReader:
    """Read the lines of rows, of any table; each is checked against the types of the columns."""

    def __init__(self) -> None:
        self._tables = {table.name: table for table in imported_tables()}
        forms = tuple(_struct_of(table) for table in self._tables.values())
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Union[(*forms, End)])
        self._columns = {
            str(name): [
                (column, str(column.name), _is_binary(column)) for column in exported_columns(table)
            ]
            for name, table in self._tables.items()
        }

    def read(self, line: bytes) -> tuple[Table, dict[Column[Any], Any]] | End:
        """Return the table and the values of a row, or the end.

        Raises:
            ValueError: the line is not one of an export; the text says why.
        """
        try:
            row = self._decoder.decode(storable(line))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ValueError(str(error) or "too deeply nested") from None
        if isinstance(row, End):
            return row
        name = row.__struct_config__.tag
        values = {
            column: _bytes_of(column, getattr(row, field)) if is_binary else getattr(row, field)
            for column, field, is_binary in self._columns[name]
        }
        return self._tables[name], values


def _struct_of(table: Table) -> type[msgspec.Struct]:
    """Return the form of a table's rows."""
    fields: list[Any] = []
    for column in exported_columns(table):
        # SQLAlchemy's names are texts of its own kind.
        name, kind = str(column.name), _kind_of(column)
        if column.nullable:
            fields.append((name, Optional[kind], None))  # noqa: UP045 - Raw takes no |
        elif (default := _default_of(column)) is not None:
            fields.append((name, kind, default))
        else:
            fields.append((name, kind))
    fields += ((name, Any, None) for name in COLUMNS_GONE.get(str(table.name), ()))
    return msgspec.defstruct(
        str(table.name),
        fields,
        tag=str(table.name),
        tag_field="table",
        kw_only=True,
        # Nobody reads all that tables of earlier versions had.
        forbid_unknown_fields=table not in EARLIER,
        gc=False,
    )


def _kind_of(column: Column[Any]) -> Any:  # noqa: ANN401 - a type, or what says more about one
    kind = column.type
    if reference_of(column) is not None or (column.name == "id" and is_numbered(column.table)):
        return Annotated[int, Meta(ge=-(2**62) if column in SUMMED else 1, le=2**62)]
    if isinstance(kind, BigInteger):
        return Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    if isinstance(kind, Integer):
        return Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
    if isinstance(kind, String):
        return Annotated[str, Meta(max_length=kind.length)] if kind.length else str
    for known, is_read_as in ((Double, float), (Boolean, bool), (LargeBinary, Raw)):
        if isinstance(kind, known):
            return is_read_as
    message = f"{column} is of a type that no export knows"
    raise TypeError(message)


def _default_of(column: Column[Any]) -> Any:  # noqa: ANN401 - of any type
    """Return the value for older exports, which lack the column; None without one."""
    if column.default is not None and column.default.is_scalar:
        return column.default.arg  # type: ignore[attr-defined] # a scalar default has one
    if column.server_default is None:
        return None
    told = column.server_default.arg  # type: ignore[attr-defined] # a value, or SQL of one
    value, kind = str(getattr(told, "text", told)), column.type.python_type
    return value == "true" if kind is bool else kind(value)


def _bytes_of(column: Column[Any], raw: Raw | None) -> bytes | None:
    if raw is None:
        return None
    given = bytes(raw)
    if given[:1] == b"{":
        value = given
    else:
        try:
            value = base64.b64decode(msgspec.json.decode(given, type=str), validate=True)
        except (msgspec.MsgspecError, binascii.Error, ValueError):
            message = f"`{column.name}` is neither base64 nor a JSON object"
            raise ValueError(message) from None
    most = column.type.length  # type: ignore[attr-defined] # binary columns have one
    if most is not None and len(value) > most:
        message = f"`{column.name}` is longer than {most} bytes"
        raise ValueError(message)
    return value
