"""The whole prompt in one call: an agent's own candidates and learnt entries, in one text."""

import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from trackrecord.artifacts.output_records import OutputRecords
from trackrecord.errors import SettingsError
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.text.language import Language
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.settings.agent_settings import AgentSettings

from ..answers.context_answer import Context, context_from
from ..answers.own_task import MOST_OUTPUTS, UNKNOWN, OwnPart, OwnTask
from ..candidates.candidate import Given, read_candidates
from ..candidates.select import Tokenizer
from ..choosing.exposure import AS_THEY_ARE
from ..choosing.inputs import USUAL_RULES
from ..question.question import (
    DEFAULT_CONTEXT_BUDGET,
    Budget,
    PromptQuestion,
    asked_for,
    usual_question,
)
from ..question.rules import ERRORS, EVIDENCE, GivenRules, rules_from
from .client import Cached, RankingsReader, given_readers, process_reader

# Reads a task in flight, by its project and id: only who records errors knows of those that are
# still on their way.
ReadsErrors = Callable[[str, str], OwnTask]
reads_errors: Final[ContextVar[ReadsErrors | None]] = ContextVar(
    "trackrecord_reads_errors", default=None
)


def context(
    project: str | None = None,
    task: str | None = None,
    candidates: Iterable[Given] = (),
    budget: Budget = DEFAULT_CONTEXT_BUDGET,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
    config: GivenRules = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
) -> Context:
    """Rank an agent's own candidates and what the fleet has learnt, and write what fits.

    What goes wrong behind it never raises: the agent's own candidates are ranked all the same, see
    `problem` and `is_stale` of the answer. What the caller hands in wrongly does.

    Args:
        project: whose experience; the settings' project when not given.
        task: the text of the task at hand: competences and memories are ranked by how well they fit
            it.
        candidates: the agent's own; objects, or mappings as JSON has them.
        budget: tokens that the text may take; None for no limit.
        lang: language of the headings, of what is learnt, and of the labels and reasons of
            candidates, "en" or "zh".
        tokenizer: counts the tokens of a text, or gives them as a list; without one they are
            estimated by characters.
        config: rules that differ from those of the settings.
        include: the sections that compete beside the agent's own candidates, see `rankings`; also
            "errors" and "evidence".
        exclude: the sections that do not: `exclude=["errors"]` where the caller writes
            `error_context` into the same prompt.
        task_id: the id that the task's outcome will have. With one, the task's unresolved errors
            and its newest stored outputs compete, too, and what the task is handed is recorded, so
            that `trackrecord effect` can say whether it helps. For a task of the holdout nothing
            that is learnt competes, see `PromptAnswer.arm`.
        explore: how much entries that are little known are tried: "off", "some" (cautiously) or
            "full"; what the setting says when not given.
        conditions: the conditions under which the task appeared, as a trigger's, for example
            `{"os": "linux"}`: procedures and competence records that were used under other ones
            rank below, those that were used under these rank above.

    Raises:
        InvalidCandidate: a candidate is none, or two have one id; the message names it.
        SettingsError: the config has no such rule, or not such a value; the message names it.
    """
    own = read_candidates(candidates)
    reader, found = None, Cached()
    usual = USUAL_RULES
    try:
        reader = process_reader()
    except SettingsError as error:
        found = Cached(problem=str(error))
    else:
        usual = reader.rules
    rules = replace(usual, context=rules_from(config, usual.context))
    usual_project = DEFAULT_PROJECT if reader is None else reader.settings.project
    question = asked_for(
        usual_question(usual_project, rules.context, DEFAULT_CONTEXT_BUDGET),
        project=project,
        task=task,
        budget=budget,
        lang=lang,
        include=include,
        exclude=exclude,
        task_id=task_id,
        explore=explore,
        conditions=conditions,
    )
    exposure_plan, meaning, own_task = AS_THEY_ARE, None, UNKNOWN
    if reader is not None and question.names_project:
        found = reader.cached(question.project)
        exposure_plan = reader.exposure_plan(question, found)
        meaning = reader.meaning(question, found)
        if question.task_id:
            own_task = _own_task(reader, question, is_redis_away=found.is_redis_away)
    return context_from(
        question,
        found,
        rules,
        OwnPart(own, own_task, tokenizer),
        now=time.time(),
        exposure_plan=exposure_plan,
        meaning=meaning,
    )


def _own_task(reader: RankingsReader, question: PromptQuestion, *, is_redis_away: bool) -> OwnTask:
    """Return the records of the task itself; never raises."""
    project, task_id, read = question.project, question.task_id or "", reads_errors.get()
    task = UNKNOWN
    # Redis that is away is not waited for a second time.
    if read is not None and question.sections.has(ERRORS) and not is_redis_away:
        task = read(project, task_id)
    # A test's own rankings need no home.
    if question.sections.has(EVIDENCE) and given_readers.get() is None:
        task = _with_outputs(task, reader.settings, project, task_id)
    return task


def _with_outputs(task: OwnTask, settings: AgentSettings, project: str, task_id: str) -> OwnTask:
    try:
        kept = OutputRecords(settings.home, project, retention_s=settings.artifacts.retention_s)
        outputs = kept.of_task(task_id, MOST_OUTPUTS)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        reason = getattr(error, "strerror", None) or type(error).__name__
        problem = f"the task's stored outputs cannot be read ({reason})"
        return replace(task, problem="; ".join(filter(None, (task.problem, problem))))
    return replace(task, outputs=outputs)
