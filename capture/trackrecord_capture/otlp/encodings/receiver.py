"""The receiver of decoded spans, log records and scores from the front door."""

from typing import Protocol

from .span import LogRecord, Span


class Full(Exception):
    """Raised when there is no room at the moment; the exporter is asked to post it all again.

    Attributes:
        retry_after_s: whole seconds after which it may try.
    """

    def __init__(self, retry_after_s: int = 5) -> None:
        super().__init__(f"full; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class Receiver(Protocol):
    """Takes posted bodies, in slices of one request.

    The front door calls it from one thread at a time, which is not the main thread. What a method
    has returned for is answered with 200 and never sent again: by then it must survive the end of
    the process. After `Full`, all of the request comes again, slices that were taken included.
    """

    def spans(self, spans: list[Span]) -> int:
        """Take spans; return how many of them were rejected for good.

        Raises:
            Full: nothing more can be taken now.
        """
        ...

    def logs(self, logs: list[LogRecord]) -> int:
        """Take log records; return how many of them were rejected for good.

        Raises:
            Full: nothing more can be taken now.
        """
        ...

    def close(self) -> None:
        """Finish: nothing comes after this."""
        ...
