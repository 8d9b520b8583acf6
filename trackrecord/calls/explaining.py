"""The calls that explain why something stands where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.errors import InvalidRequest
from trackrecord.resources.checks import Moment, moment_of, optional_text_of, text_of
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.explain import Explained


def explain(some_id: str, *, at: Moment | None = None, project: str | None = None) -> Explained:
    """Return why a pattern, a criterion, a competence record or a memory stands where it stands.

    Args:
        some_id: its id, the beginning of it, or the name of the criterion; `criterion:NAME` where a
            pattern has the same name.
        at: a past moment to answer for.
        project: whose experience; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    some_id, moment = text_of("some_id", some_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import explain as questions

        return questions.explain(here.connection, here.settings, here.project, some_id, at=moment)


def explain_procedure(
    tools: str, *, task: str | None = None, at: Moment | None = None, project: str | None = None
) -> Explained:
    """Return how often a procedure succeeds, and why that is expected.

    There is an answer for every procedure: one that always failed, and one that was never tried.

    Args:
        tools: the names of the procedure's tools, joined with `+`, in any order.
        task: the text of a task that it is meant for; the tasks that it was used for when not
            given.
        at: a past moment to answer for.
        project: whose experience; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    tools, task = text_of("tools", tools), optional_text_of("task", task)
    moment = moment_of(at)
    if not tools.strip(" +"):
        message = "tools names no tool: join the names of the procedure's tools with +"
        raise InvalidRequest(message)
    with read_project(project) as here:
        from trackrecord.queries import explain as questions

        return questions.explain_procedure(
            here.connection, here.settings, here.project, tools, task=task, at=moment
        )


def explain_run(
    outcome_id: str, *, at: Moment | None = None, project: str | None = None
) -> Explained:
    """Return how probably a run succeeded, judged by the project's other runs.

    Whether it was reported as a success is not looked at.

    Args:
        outcome_id: the id of the run's outcome, or the beginning of it.
        at: a past moment to answer for.
        project: the run's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    outcome_id, moment = text_of("outcome_id", outcome_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import explain_run as questions

        return questions.explain_run(
            here.connection, here.settings, here.project, outcome_id, at=moment
        )


aexplain = awaited(explain)
aexplain_procedure = awaited(explain_procedure)
aexplain_run = awaited(explain_run)
