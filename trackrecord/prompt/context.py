"""The one call that a prompt needs: an agent's own candidates and what is learnt, in one text."""

import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from trackrecord.agent_settings import AgentSettings
from trackrecord.artifacts.kept_outputs import KeptOutputs
from trackrecord.errors import SettingsError
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language, known_language
from trackrecord.project_names import DEFAULT_PROJECT
from trackrecord.prompt.asked import DEFAULT_CONTEXT_BUDGET, Budget, PromptQuestion, asked_for

from .candidates import partial_rules
from .candidates.partial_rules import DEFAULT_RULES, rules_from
from .candidates.read import Given, read_candidates
from .candidates.tokenizer import Tokenizer
from .client import Cached, RankingsReader, given_readers, process_reader
from .context_answer import Context, context_from
from .handed import Handing
from .hints import NO_HINTS
from .own_task import MOST_OUTPUTS, UNKNOWN, OwnTask
from .section_names import ERRORS, EVIDENCE
from .wanted import usually_wanted

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
    config: partial_rules.Given = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
) -> Context:
    """Rank an agent's own candidates and what the fleet has learnt, and write what fits.

    What goes wrong behind it never raises: the agent's own candidates are ranked all the same, see
    `Context.problem` and `Context.is_stale`. What the caller hands in wrongly does.

    Args:
        project: whose experience; the settings' project when not given.
        task: the text of the task at hand: competences and memories are ranked by how well they fit
            it, and similar past tasks compete, too.
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
            that is learnt competes, see `Context.arm`.
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
    found, problem = Cached(), None
    usual, memory_rules = DEFAULT_RULES, MemoryRules()
    reader, handing, hints = None, Handing(), NO_HINTS
    try:
        reader = process_reader()
    except SettingsError as error:
        problem = str(error)
    else:
        usual, memory_rules = reader.settings.context, reader.settings.memories
    rules = rules_from(config, usual)
    asked = asked_for(
        project,
        task,
        budget,
        include=include,
        exclude=exclude,
        task_id=task_id,
        explore=explore,
        conditions=conditions,
        usual_budget=DEFAULT_CONTEXT_BUDGET,
        usual=usually_wanted(rules.include, rules.exclude),
    )
    name = asked.project or (DEFAULT_PROJECT if reader is None else reader.settings.project)
    if reader is not None and asked.names_project:
        found = reader.cached(name)
        problem = found.problem
        handing = reader.handing(
            found, name, task_id=asked.task_id, task=asked.task, explore=asked.explore
        )
        hints = reader.hints(
            found, name, task=asked.task, conditions=asked.conditions, wanted=asked.wanted
        )
    own_task = OwnTask()
    if reader is not None and asked.names_project and asked.task_id:
        own_task = _own_task(reader, name, asked, is_redis_away=found.is_redis_away)
        problem = "; ".join(filter(None, (problem, own_task.problem))) or None
    answer = context_from(
        found.document,
        own,
        rules,
        project=name,
        problem=problem,
        task=asked.task,
        budget=asked.budget,
        language=known_language(lang),
        tokenizer=tokenizer,
        memory_rules=memory_rules,
        now=time.time(),
        advice=found.advice,
        wanted=asked.wanted,
        handing=handing,
        own_task=own_task,
        hints=hints,
    )
    return answer if asked.problem is None else replace(answer, problem=asked.with_(problem))


def _own_task(
    reader: RankingsReader, project: str, asked: PromptQuestion, *, is_redis_away: bool
) -> OwnTask:
    """Return what is on record of the task itself; never raises."""
    task_id, read = asked.task_id or "", reads_errors.get()
    task = UNKNOWN
    # Redis that is away is not waited for a second time.
    if read is not None and asked.wanted.has(ERRORS) and not is_redis_away:
        task = read(project, task_id)
    # A test's own rankings need no home.
    if asked.wanted.has(EVIDENCE) and given_readers.get() is None:
        task = _with_outputs(task, reader.settings, project, task_id)
    return task


def _with_outputs(task: OwnTask, settings: AgentSettings, project: str, task_id: str) -> OwnTask:
    try:
        kept = KeptOutputs(settings.home, project, retention_s=settings.artifacts.retention_s)
        outputs = kept.of_task(task_id, MOST_OUTPUTS)
    except Exception as error:  # noqa: BLE001 - nothing may reach the agent
        reason = getattr(error, "strerror", None) or type(error).__name__
        problem = f"the task's stored outputs cannot be read ({reason})"
        return replace(task, problem="; ".join(filter(None, (task.problem, problem))))
    return replace(task, outputs=outputs)
