"""Structured logs on standard error: JSON for machines, readable lines on a terminal.

Logs carry counts, times, ids and reasons, never what an agent wrote. Names that somebody else
chose, of a project or of a path, neither begin a line nor steer a terminal.
"""

import logging
import sys
from typing import Any

import structlog

from trackrecord.learning.text.inert import visible

from .late_log import configure_late

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

# What structlog writes below the line of an event.
_OF_SEVERAL_LINES = frozenset({"exception", "stack"})


def configure_logs(level: str = "info") -> None:
    """Send every log line, of this code and of the libraries, to standard error.

    Args:
        level: the lowest level that is logged: debug, info, warning or error.
    """
    configure_late(None)
    on_terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        terminal_renderer() if on_terminal else structlog.processors.JSONRenderer(ensure_ascii=True)
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
    # It says that it is connected and ready, Alembic introduces its plugins.
    for name in (
        "celery.app.trace", "celery.worker.strategy", "celery.beat", "celery.apps.worker",
        "celery.worker.consumer.connection", "alembic",
    ):  # fmt: skip
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    # The one warns that a worker that is stopping gives back a wake-up that it was just handed. The
    # other has the warnings for developers: when Redis goes away, what a later Celery will do then.
    for name in ("kombu.transport.virtual.base", "py.warnings"):
        logging.getLogger(name).setLevel(logging.ERROR)


def terminal_renderer() -> structlog.typing.Processor:
    """Return what renders an event for a terminal: one line, and a traceback below it."""
    render = structlog.dev.ConsoleRenderer(pad_event_to=24)

    def rendered(logger: Any, name: str, event: structlog.typing.EventDict) -> str:  # noqa: ANN401 - the signature is structlog's
        return str(render(logger, name, {key: _shown(key, each) for key, each in event.items()}))

    return rendered


def _shown(key: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    lines = value.splitlines() if key in _OF_SEVERAL_LINES else [value]
    return "\n".join(map(visible, lines))
