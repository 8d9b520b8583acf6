"""The answers that τ-bench holds to be right: which tools had to change something in each task."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .json_array import read_items
from .tau_bench import task_of

# All other tools of its domains look something up, reckon, or hand the customer over.
_CHANGING: Final = ("book_", "cancel_", "exchange_", "modify_", "return_", "send_", "update_")


def read_answers(path: Path) -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
    """Return the tools of each task's right answer that change something, and all such tools.

    Runs that hold no answer are skipped: the importer says what is wrong with them.

    Raises:
        ImportFormatError: the file cannot be read or is not an array of objects.
    """
    answers: dict[str, frozenset[str]] = {}
    changing: set[str] = set()
    for _, run in read_items(path):
        if not isinstance(run, dict):
            continue
        task = task_of(run)
        if task is not None:
            answers[task] = _changing(_right_calls(run))
        changing |= _changing(_recorded_calls(run))
    return answers, frozenset(changing.union(*answers.values()))


def _changing(names: list[object]) -> frozenset[str]:
    return frozenset(name for name in names if isinstance(name, str) and name.startswith(_CHANGING))


def _right_calls(run: dict[str, Any]) -> list[object]:
    actions = run["info"]["task"].get("actions")
    return [call.get("name") for call in _objects(actions)]


def _recorded_calls(run: dict[str, Any]) -> list[object]:
    calls = [call for message in _objects(run.get("traj")) for call in _calls_of(message)]
    functions = _objects([call.get("function") for call in calls])
    return [function.get("name") for function in functions]


def _calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return _objects(message.get("tool_calls"))


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
