"""Commands: what runs in the repositories that agents work in, what does not, and dismissing it."""

from collections.abc import Callable

from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.commands import (
    COMMANDS,
    CommandDecisionAnswer,
    command_details,
    commands_in,
    dismiss_command,
    restore_command,
)

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import RunBehind
from .lessons import happening

_PATH = "/commands"
_KINDS = ("test", "lint", "type check", "build", "check", "command")


def shown(asked: PageRequest) -> PageView:
    """Show the commands of a project."""
    state = asked.text("state")
    with read_project(asked.project) as it:
        found = commands_in(
            it,
            kind=asked.text("kind"),
            state=None if state == "all" else state,
            everything=state == "all",
        )
    keys = COMMANDS.sorting("list").keys
    values = {
        "listing": listed(asked, found, keys=keys, text=lambda each: each.text),
        "kinds": [(kind, kind) for kind in _KINDS],
        "states": [
            *((state.value, state.value) for state in CommandState),
            ("all", "all, also dismissed ones"),
        ],
    }
    return PageView("lists/commands.html", "Commands", values)


def entry(asked: PageRequest) -> PageView:
    """Show one command."""
    with read_project(asked.project) as it:
        command = command_details(it, asked.named["command"])
    values = {
        "command": command,
        "history": [*map(happening, reversed(command.history))],
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, "", each.success)
            for each in command.outcomes
        ],
    }
    return PageView("details/command.html", command.text, values)


def dismiss(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Dismiss what is known of a command."""
    question = "Dismiss this? No agent is told of it until it is restored: {}"
    return _decision(asked, form, dismiss_command, question, "Dismiss it")


def restore(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take back a dismissal."""
    question = "Tell agents of this again? {}"
    return _decision(asked, form, restore_command, question, "Restore it")


def _decision(
    asked: PageRequest,
    form: Form,
    decide: Callable[..., CommandDecisionAnswer],
    question: str,
    button: str,
) -> ConfirmedAction:
    command_id, text = form.text("id"), form.optional("text") or ""

    def do(by: str, reason: str | None) -> str:
        return decide(command_id, by=by, reason=reason, project=asked.project).in_words

    return ConfirmedAction(question.format(text), button, do, asked.link_to(_PATH, command_id))
