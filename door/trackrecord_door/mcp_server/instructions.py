"""The server's description of itself for agents: often all that a model reads at first."""

from collections.abc import Collection
from typing import Final

_ABOUT: Final = (
    "trackrecord keeps what earlier runs of agents in this project have shown: which approaches "
    "succeed or fail and how often, lessons about tools, sequences of tool calls that worked, and "
    "short memories."
)
_PARTS: Final = {
    "recall": (
        "recall: call it once when you start a task that takes more than a step or two, before "
        "you plan. Pass the task in the words of the person who asked. It answers in milliseconds "
        "with records of earlier runs; weigh them as evidence. An empty answer means that nothing "
        "is known yet: go on without it."
    ),
    "remember": (
        "remember: call it when you find out something that the next agent in this project would "
        "want to know, for example a command that works, a pitfall or a convention. One or two "
        "sentences that make sense on their own, without secrets, and nothing that holds only "
        "for this task."
    ),
    "report_outcome": (
        "report_outcome: call it once when the task has ended and you know how it went, with the "
        "task_id that recall returned. Failures teach the most: report them, too. Success means "
        "that the task reached its goal, as a test, a review or the person has shown."
    ),
}


def instructions_for(tools: Collection[str]) -> str:
    """Return the instructions of a server that offers these tools."""
    return "\n".join([_ABOUT, *(f"- {text}" for name, text in _PARTS.items() if name in tools)])
