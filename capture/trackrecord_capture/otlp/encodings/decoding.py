"""Decode the bodies of OTLP/HTTP requests, in protobuf or JSON."""

from collections.abc import Iterator
from typing import Literal

from . import from_json
from .span import LogRecord, Span
from .span import Malformed as Malformed  # part of this module's vocabulary

Encoding = Literal["protobuf", "json"]


def decode_spans(body: bytes, encoding: Encoding) -> Iterator[Span | None]:
    """Return the spans of an ExportTraceServiceRequest, one by one.

    None stands for one without ids, or that is malformed: the others are valid nevertheless.

    Raises:
        Malformed: the body is not such a request, or the attributes of a resource are wrong, which
            may be found while the spans are read.
    """
    if encoding == "json":
        return from_json.spans(body)
    from . import from_protobuf  # megabytes, which no process needs that gets none

    return from_protobuf.spans(body)


def decode_logs(body: bytes, encoding: Encoding) -> Iterator[LogRecord | None]:
    """Return the log records of an ExportLogsServiceRequest, one by one; None for a malformed one.

    Raises:
        Malformed: as `decode_spans`.
    """
    if encoding == "json":
        return from_json.logs(body)
    from . import from_protobuf

    return from_protobuf.logs(body)
