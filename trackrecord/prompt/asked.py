"""What a prompt asks for: arguments of another type are coerced, or replaced and said."""

from dataclasses import dataclass
from math import inf
from operator import index
from typing import Any, Final, Literal

from trackrecord.errors import InvalidRequest
from trackrecord.learning.advice.rules import EXPLORE, Explore

from .wanted import ALL, WantedSections, wanted_of

# Stands for the budget of the settings.
Budget = int | Literal["default"] | None

DEFAULT_BUDGET: Final = 400
DEFAULT_CONTEXT_BUDGET: Final = 2000
# As in the wire format.
LONGEST_TASK_ID: Final = 256


@dataclass(frozen=True)
class PromptQuestion:
    """The arguments of one question, checked.

    Attributes:
        project: whose experience; None for the settings' project.
        task: the text of the task at hand, if any.
        budget: in tokens; None for no limit.
        limit: of each kind; None for no limit.
        wanted: the sections that are asked for.
        task_id: the id that the task's outcome will have; None where nothing is recorded.
        explore: whether little known entries are tried; None for what the setting says.
        conditions: the conditions of the task, as JSON has them; None for none.
        problem: which arguments could not be used, None when all could.
        names_project: whether it is known whose experience is asked for: another project's must
            never be the answer.
    """

    project: str | None
    task: str | None
    budget: int | None
    limit: int | None
    wanted: WantedSections
    task_id: str | None
    explore: Explore | None
    conditions: Any
    problem: str | None
    names_project: bool

    def with_(self, problem: str | None) -> str | None:
        """Return this problem and another one in one line."""
        return "; ".join(text for text in (self.problem, problem) if text) or None


def asked_for(
    project: object,
    task: object,
    budget: object,
    limit: object = None,
    *,
    include: object = None,
    exclude: object = None,
    usual_budget: int = DEFAULT_BUDGET,
    usual: WantedSections = ALL,
    task_id: object = None,
    explore: object = None,
    conditions: object = None,
) -> PromptQuestion:
    """Check the arguments of a question, whatever they are; never raises.

    Args:
        project: whose experience.
        task: the text of the task at hand.
        budget: in tokens; "default" for the usual one.
        limit: of each kind.
        include: the sections that are asked for; None for the usual ones.
        exclude: the sections that are not.
        usual_budget: what the settings say.
        usual: the sections that the settings ask for.
        task_id: the id that the task's outcome will have.
        explore: whether little known entries are tried.
        conditions: the conditions of the task.
    """
    problems: list[str] = []
    wanted_project = _text("project", project, "nothing is read", problems)
    names_project = not problems
    wanted_task = _text("task", task, "the answer is not fitted to it", problems)
    if budget == "default":
        budget = usual_budget
    wanted_budget = _bound("budget", budget, usual_budget, problems)
    wanted_limit = _bound("limit", limit, None, problems)
    wanted = wanted_of(include, exclude, problems, usual)
    wanted_id = _text("task_id", task_id, "nothing is recorded", problems)
    if wanted_id is not None and not 1 <= len(wanted_id) <= LONGEST_TASK_ID:
        problems.append(f"task_id must have 1 to {LONGEST_TASK_ID} characters: nothing is recorded")
        wanted_id = None
    wanted_explore = _explore(explore, problems)
    wanted_conditions = _conditions(conditions, problems)
    return PromptQuestion(
        wanted_project,
        wanted_task,
        wanted_budget,
        wanted_limit,
        wanted,
        wanted_id,
        wanted_explore,
        wanted_conditions,
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
    from trackrecord.learning.competences.triggers import read_conditions

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
    """Return a bound in whole numbers: rounded down, and None for one without an end."""
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
