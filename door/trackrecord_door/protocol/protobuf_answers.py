"""OTLP's answers in protobuf. The first request in protobuf imports this: it takes megabytes."""

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)


def acceptance(rejected: int, reason: str) -> bytes:
    """Return the answer to spans or to log records: on the wire the two are the same.

    Args:
        rejected: how many of them were not taken.
        reason: why; empty if all were.
    """
    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = reason
    return answer.SerializeToString()


def status(code: int, message: str) -> bytes:
    """Return a google.rpc.Status.

    On the wire a partial success is the same: an integer, then a text. The generated module of the
    former comes with a package for which there is no other use.
    """
    return ExportTracePartialSuccess(rejected_spans=code, error_message=message).SerializeToString()
