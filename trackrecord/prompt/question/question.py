"""The arguments and sections of a prompt: other types are coerced, or replaced with a remark."""

from dataclasses import dataclass
from itertools import islice
from math import inf
from operator import index
from typing import Any, Final, Literal, TypedDict, Unpack

from trackrecord.errors import InvalidRequest
from trackrecord.learning.advice.rules import EXPLORE, Explore
from trackrecord.learning.text.language import Language, known_language

from .rules import ACCEPTED, ContextRules, unknown_section
from .wording import AS_ADVICE, Wording

# What is handed in may have no end.
_MOST_NAMES: Final = 64


@dataclass(frozen=True)
class SectionFilter:
    """Choose sections by the names of their fields.

    Attributes:
        include: only these; None for all.
        exclude: all but these.
    """

    include: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def has(self, field: str) -> bool:
        """Return whether a section is included."""
        return field not in self.exclude and (self.include is None or field in self.include)


ALL = SectionFilter()


def usual_sections(rules: ContextRules) -> SectionFilter:
    """Return the sections of the rules of the settings."""
    return SectionFilter(frozenset(rules.include) or None, frozenset(rules.exclude))


def asked_sections(
    include: object, exclude: object, problems: list[str], usual: SectionFilter = ALL
) -> SectionFilter:
    """Read the requested sections from an argument of any type; never raises.

    Args:
        include: names of sections, one or several; None for those of the settings.
        exclude: names of sections, one or several; None for those of the settings.
        problems: where it is noted what could not be used.
        usual: what the settings say.
    """
    only = _names("include", include, problems)
    without = _names("exclude", exclude, problems)
    return SectionFilter(
        usual.include if only is None else only,
        usual.exclude if without is None else without,
    )


def _names(argument: str, given: object, problems: list[str]) -> frozenset[str] | None:
    if given is None:
        return None
    names = [given] if isinstance(given, str) else _listed(given)
    if names is None:
        problems.append(f"{argument} must be names of sections or None: it is ignored")
        return None
    known = frozenset(name for name in names if isinstance(name, str) and name in ACCEPTED)
    unknown = [name for name in names if name not in known]
    if unknown:
        problems.append(f"{argument}: {unknown_section(unknown[0])}")
    # Nothing that is known: what was meant cannot be told, and all is better than nothing.
    return None if unknown and not known else known


def _listed(given: object) -> list[object] | None:
    try:
        return list(islice(given, _MOST_NAMES))  # type: ignore[call-overload]  # what cannot be iterated raises
    except Exception:  # noqa: BLE001 - whatever was handed in
        return None


# Stands for the budget of the settings.
Budget = int | Literal["default"] | None

DEFAULT_BUDGET: Final = 400
DEFAULT_CONTEXT_BUDGET: Final = 2000
# As in the wire format.
LONGEST_TASK_ID: Final = 256


@dataclass(frozen=True)
class PromptQuestion:
    """The checked arguments of one call for a prompt.

    Attributes:
        project: whose experience.
        task: the text of the task at hand, if any.
        budget: in tokens; None for no limit.
        limit: of each kind; None for no limit.
        language: of headings and of what is learnt.
        sections: those that are asked for.
        task_id: the id that the task's outcome will have; None where nothing is recorded.
        explore: whether little known entries are tried; None for what the setting says.
        conditions: the conditions of the task, as JSON has them; None for none.
        source: the agent that asks, as its outcomes name it; None where that is not known.
        wording: how what is chosen is written.
        problem: which arguments could not be used, None when all could.
        names_project: whether it is known whose experience is asked for: another project's must
            never be the answer.
    """

    project: str
    task: str | None = None
    budget: int | None = DEFAULT_BUDGET
    limit: int | None = None
    language: Language = "en"
    sections: SectionFilter = ALL
    task_id: str | None = None
    explore: Explore | None = None
    conditions: Any = None
    source: str | None = None
    wording: Wording = AS_ADVICE
    problem: str | None = None
    names_project: bool = True

    def with_(self, problem: str | None) -> str | None:
        """Return this problem and another one in one line."""
        return "; ".join(text for text in (self.problem, problem) if text) or None


class PromptArguments(TypedDict, total=False):
    """The arguments of `rankings()` from a caller, of any type."""

    project: object
    task: object
    budget: object
    limit: object
    lang: object
    include: object
    exclude: object
    task_id: object
    explore: object
    conditions: object
    source: object


def usual_question(project: str, rules: ContextRules, budget: int | None = None) -> PromptQuestion:
    """Return what holds where an argument is not given, or cannot be used.

    Args:
        project: the settings' project.
        rules: the settings' rules, with the sections.
        budget: in tokens; None for that of the rules.
    """
    return PromptQuestion(
        project,
        budget=rules.learnt_tokens if budget is None else budget,
        sections=usual_sections(rules),
    )


def asked_for(usual: PromptQuestion, **given: Unpack[PromptArguments]) -> PromptQuestion:
    """Check the arguments of a question of any type; never raises.

    Args:
        usual: what holds where an argument is not given; "default" is its budget.
        **given: the arguments.
    """
    problems: list[str] = []
    project = _text("project", given.get("project"), "nothing is read", problems)
    names_project = not problems
    task = _text("task", given.get("task"), "the answer is not fitted to it", problems)
    budget = given.get("budget", "default")
    if budget == "default":
        budget = usual.budget
    requested_budget = _bound("budget", budget, usual.budget, problems)
    limit = _bound("limit", given.get("limit"), None, problems)
    sections = asked_sections(given.get("include"), given.get("exclude"), problems, usual.sections)
    task_id = _text("task_id", given.get("task_id"), "nothing is recorded", problems)
    if task_id is not None and not 1 <= len(task_id) <= LONGEST_TASK_ID:
        problems.append(f"task_id must have 1 to {LONGEST_TASK_ID} characters: nothing is recorded")
        task_id = None
    explore = _explore(given.get("explore"), problems)
    conditions = _conditions(given.get("conditions"), problems)
    source = given.get("source")
    return PromptQuestion(
        project or usual.project,
        task,
        requested_budget,
        limit,
        known_language(given.get("lang")),
        sections,
        task_id,
        explore,
        conditions,
        source if isinstance(source, str) else None,
        usual.wording,
        "; ".join(problems) or None,
        names_project,
    )


def _explore(value: object, problems: list[str]) -> Explore | None:
    for known in EXPLORE:
        if value == known:
            return known
    if value is not None:
        problems.append(f"explore must be one of {', '.join(EXPLORE)}: the setting is used")
    return None


def _conditions(value: object, problems: list[str]) -> Any:  # noqa: ANN401 - any JSON
    if value is None:
        return None
    # Imported only where there are any: most prompts have none.
    from trackrecord.learning.competences.episodes.triggers import read_conditions

    try:
        return read_conditions(value)
    except InvalidRequest as error:
        problems.append(f"{error}: they are ignored")
        return None


def _text(name: str, value: object, consequence: str, problems: list[str]) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    problems.append(f"{name} must be a text or None: {consequence}")
    return None


def _bound(name: str, value: object, default: int | None, problems: list[str]) -> int | None:
    """Return a bound in whole numbers: rounded down, and None for infinity."""
    if value is None:
        return None
    try:
        if value == inf:
            return None
        if not isinstance(value, bool):
            return int(value) if isinstance(value, (str, float)) else index(value)  # type: ignore[arg-type]  # what is not a number raises
    except Exception:  # noqa: BLE001, S110 - whatever was handed in
        pass
    problems.append(
        f"{name} must be a whole number or None: {'none' if default is None else default} is used"
    )
    return default
