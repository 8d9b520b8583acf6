"""The scope of an agent's connection: project, task and permitted tools."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from trackrecord.errors import InvalidRequest
from trackrecord.learning.numbers.speaker_names import LOCAL

RECALL = "recall"
REMEMBER = "remember"
REPORT_OUTCOME = "report_outcome"
ALL: tuple[str, ...] = (RECALL, REMEMBER, REPORT_OUTCOME)
READING: tuple[str, ...] = (RECALL,)


@dataclass(frozen=True)
class McpScope:
    """The project and the task of one connection.

    Attributes:
        project: returns its project; asked beside the event loop, with the first call of a tool.
        tools: the names of the tools that are offered, in their order.
        reporter: whose word the reports are: the name of a token, or the user of this machine, for
            whom all agents of the machine speak.
    """

    project: Callable[[], str]
    tools: tuple[str, ...] = ALL
    reporter: str = LOCAL


def chosen_tools(names: Collection[str]) -> tuple[str, ...]:
    """Return these tools in their order; all of them by default.

    Raises:
        InvalidRequest: there is no tool of such a name; the message is one line.
    """
    unknown = next((name for name in names if name not in ALL), None)
    if unknown is not None:
        message = f"there is no tool {ascii(unknown)[:100]}; the tools are {', '.join(ALL)}"
        raise InvalidRequest(message)
    return tuple(name for name in ALL if name in names) or ALL
