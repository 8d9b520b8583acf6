"""The one call that a prompt needs: an agent's own candidates and what is learnt, in one text."""

import time
from collections.abc import Iterable
from dataclasses import replace

from trackrecord.errors import SettingsError
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language, known_language
from trackrecord.project_names import DEFAULT_PROJECT
from trackrecord.prompt.asked import DEFAULT_BUDGET, asked_for

from .candidates import partial_rules
from .candidates.partial_rules import DEFAULT_RULES, rules_from
from .candidates.read import Given, read_candidates
from .candidates.tokenizer import Tokenizer
from .client import process_reader
from .handed import Handing
from .report import Context, context_from


def context(
    project: str | None = None,
    task: str | None = None,
    candidates: Iterable[Given] = (),
    budget: int | None = DEFAULT_BUDGET,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
    config: partial_rules.Given = None,
    task_id: str | None = None,
    explore: Explore | None = None,
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
        lang: language of the headings and of what is learnt, "en" or "zh".
        tokenizer: counts the tokens of a text, or gives them as a list; without one they are
            estimated by characters.
        config: rules that differ from those of the settings.
        task_id: the id that the task's outcome will have. With one, what the task is handed is
            recorded, so that `trackrecord effect` can say whether it helps. For a task of the
            holdout only the agent's own candidates compete, see `Context.arm`.
        explore: whether entries that are little known are tried: "off", "some" (on one task in
            five) or "full"; what the setting says when not given.

    Raises:
        InvalidCandidate: a candidate is none, or two have one id; the message names it.
        SettingsError: the config has no such rule, or not such a value; the message names it.
    """
    own = read_candidates(candidates)
    asked = asked_for(project, task, budget, task_id=task_id, explore=explore)
    document, name, problem = None, asked.project or DEFAULT_PROJECT, None
    usual, memory_rules = DEFAULT_RULES, MemoryRules()
    reader, handing = None, Handing()
    try:
        reader = process_reader()
    except SettingsError as error:
        problem = str(error)
    else:
        usual, memory_rules = reader.settings.context, reader.settings.memories
        name = asked.project or reader.settings.project
    rules = rules_from(config, usual)
    if reader is not None and asked.names_project:
        found = reader.cached(name)
        document, problem = found.document, found.problem
        handing = reader.handing(
            document, name, task_id=asked.task_id, task=asked.task, explore=asked.explore
        )
    answer = context_from(
        document,
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
        handing=handing,
    )
    return answer if asked.problem is None else replace(answer, problem=asked.with_(problem))
