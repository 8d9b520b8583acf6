"""Structured logs on standard error: JSON for machines, readable lines on a terminal.

Logs carry counts, times, ids and reasons, never what an agent wrote.
"""

import logging
import sys

import structlog

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure_logs(level: str = "info") -> None:
    """Send every log line, of this code and of the libraries, to standard error.

    Args:
        level: the lowest level that is logged: debug, info, warning or error.
    """
    on_terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(pad_event_to=24)
        if on_terminal
        else structlog.processors.JSONRenderer(ensure_ascii=True)
    )
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Celery says at "info" that each wake-up came and went: two lines a second about nothing.
    # Alembic introduces its plugins.
    for name in ("celery.app.trace", "celery.worker.strategy", "celery.beat", "alembic"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
