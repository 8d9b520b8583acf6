"""Loggers of a process that logs next to nothing: structlog is imported with the first line."""

from typing import Any, Final

# Of logs that are not configured yet.
_level: str | None = None


def configure_late(level: str | None) -> None:
    """Configure logs, as `configure_logs` does, with the first line that a `LateLog` writes.

    Args:
        level: the lowest level that is logged; None: they are configured.
    """
    global _level
    _level = level


class LateLog:
    """A logger as structlog's, which takes no memory until it writes.

    Args:
        name: that of its module.
    """

    def __init__(self, name: str) -> None:
        self._name: Final = name

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401 - the method of a structlog's logger
        import structlog

        if _level:
            from .logs import configure_logs

            configure_logs(_level)
        return getattr(structlog.get_logger(self._name), method)
