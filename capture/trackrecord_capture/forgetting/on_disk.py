"""Files in the home about a subject: artifacts, and the history of the benchmark."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine

from trackrecord.artifacts.output_records import OutputRecords
from trackrecord.artifacts.store import FOLDER
from trackrecord.benchmark_history import BenchmarkHistory
from trackrecord.daemon_settings import DaemonSettings
from trackrecord.folders import folder_name
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.process_rates import read_snapshot

from .forget_scope import ForgetScope


class DiskPlace:
    """Find and forget a subject's files.

    Args:
        settings: where the home is, and the rules.
        goes: what is to be forgotten.
        warn: is called with one line about a history that was set aside.
    """

    def __init__(
        self, settings: DaemonSettings, goes: ForgetScope, warn: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._goes = goes
        self._warn = warn

    def artifacts(self) -> int:
        """Return how many artifacts would be deleted; nothing is changed.

        Of a source or a task, those that no other task stored, too.
        """
        if self._goes.subject.what != "project":
            return len(self._of_tasks_alone())
        folder = self._artifacts_folder()
        with suppress(FileNotFoundError, NotADirectoryError):
            return sum(not each.name.startswith(".") for each in os.scandir(folder))
        return 0

    def _of_tasks_alone(self) -> set[str]:
        if not self._goes.tasks:
            return set()
        outputs = self._outputs().all()
        others = {each.id for each in outputs if each.task_id not in self._goes.tasks}
        return {each.id for each in outputs} - others

    def _outputs(self) -> OutputRecords:
        settings, project = self._settings, self._goes.subject.project
        return OutputRecords(settings.home, project, retention_s=settings.artifacts.retention_s)

    def _artifacts_folder(self) -> Path:
        return self._settings.home / FOLDER / folder_name(self._goes.subject.project)

    def forget_artifacts(self) -> None:
        """Delete the artifacts.

        Raises:
            OSError: something cannot be deleted.
        """
        if self._goes.subject.what == "project":
            with suppress(FileNotFoundError):
                shutil.rmtree(self._artifacts_folder())
            return
        outputs = self._outputs()
        for task_id in self._goes.tasks:
            outputs.forget_task(task_id)

    def benchmark_runs(self) -> int:
        """Return how many runs of the benchmark are kept of the project."""
        return len(self._history().snapshots())

    def _history(self) -> BenchmarkHistory:
        project = self._goes.subject.project
        return BenchmarkHistory(self._settings.home, project, warn=self._warn)

    def renew_benchmark(self, engine: Engine) -> None:
        """Recompute the runs of the benchmark from the remaining data, or delete all of them.

        Raises:
            AlreadyRunning: another process has been at the history for too long.
            OSError: the history cannot be written.
        """
        history = self._history()
        if self._goes.subject.what == "project":
            history.erase()
            return
        rules = self._settings.rules
        with reading(engine) as connection:
            project_id = project_id_of(connection, self._goes.subject.project)
            history.rewrite(
                lambda run: read_snapshot(
                    connection, project_id, rules, now=run.at, since=run.since
                )
            )
