"""Selecting: which competence records fit a task, by whatever means there are to compare them."""

from dataclasses import dataclass

from sqlalchemy import Engine

from trackrecord.embeddings.embedder import Embedder
from trackrecord.settings import Settings
from trackrecord.store.competences.select import Selected, select_competences, select_in_past
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of

_NOWHERE = -1


@dataclass(frozen=True)
class Selection:
    """The answer to a selection.

    Attributes:
        answer: the candidates, and how sure the choice is.
        compared_by: what applicability is: "confidence" without a task, else "words" or
            "embeddings".
    """

    answer: Selected
    compared_by: str


class Selector:
    """Selects competence records of any project of one store.

    Args:
        engine: the store.
        settings: the rules, and the embedding endpoint if there is one.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._embedder = Embedder(engine, settings.embeddings)

    def select(
        self,
        project: str,
        *,
        task: str | None,
        limit: int,
        now: float,
        at: float | None = None,
    ) -> Selection:
        """Rank the records of a project for a task.

        Args:
            project: its name.
            task: the task's text, if any.
            limit: how many candidates are answered.
            now: the present, seconds since the epoch.
            at: a past moment to answer for; tasks are compared by words then.

        Raises:
            WrongDimension: the embedding endpoint's vectors are not as long as they must be.
        """
        rules = self._settings.competence
        task = task if task and task.strip() else None
        with reading(self._engine) as connection:
            project_id = project_id_of(connection, project)
            if project_id is None:
                project_id = _NOWHERE
            if at is not None:
                past = select_in_past(connection, project_id, rules, task=task, limit=limit, at=at)
                return Selection(past, "words" if task else "confidence")
        by_vectors = (
            None if task is None else self._embedder.applicability(project_id, task, now=now)
        )
        with reading(self._engine) as connection:
            answer = select_competences(
                connection,
                project_id,
                rules,
                task=task,
                limit=limit,
                now=now,
                applicability=by_vectors,
            )
        if task is None:
            return Selection(answer, "confidence")
        return Selection(answer, "words" if by_vectors is None else "embeddings")
