"""Remind people that a rebuild is due, once per process."""

from collections.abc import Mapping

import structlog
from sqlalchemy import Engine

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.recorded_rules import rebuilds_due

from .seen_documents import ProjectRevisions

_log = structlog.get_logger(__name__)


class RebuildReminder:
    """Log the projects whose recorded numbers were computed by other rules than the settings'.

    Args:
        engine: the store.
        settings: the settings with the current rules.
    """

    def __init__(self, engine: Engine, settings: DaemonSettings) -> None:
        self._engine = engine
        self._rules = settings.rules.recorded
        self._half_lives = settings.rules.half_lives
        self._revisions = ProjectRevisions(engine)
        self._looked_at: Mapping[str, int] | None = None
        self._said: dict[str, tuple[str, ...]] = {}

    def remind(self) -> None:
        """Log each project for which a rebuild is due, unless it was logged already."""
        revisions = self._revisions.read()
        if revisions is self._looked_at:
            return
        self._looked_at = revisions
        with reading(self._engine) as connection:
            due = rebuilds_due(connection, self._rules, self._half_lives)
        for project, reasons in due.items():
            if self._said.get(project) != reasons:
                _log.warning(
                    "rebuild_due",
                    project=project,
                    reasons=list(reasons),
                    remedy=f"trackrecord rebuild --project {project}",
                )
        self._said = due
