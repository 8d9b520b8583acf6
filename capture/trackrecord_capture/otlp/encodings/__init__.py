"""Spans and log records from the bodies of requests, in protobuf or JSON."""
