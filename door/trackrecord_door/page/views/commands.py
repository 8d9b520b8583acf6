"""Commands: what runs in the repositories that agents work in, what does not, and dismissing it."""

from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.commands import (
    COMMANDS,
    command_details,
    commands_in,
    dismiss_command,
    restore_command,
)

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .lessons import behind, decision

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
    values = {"command": command, **behind(command)}
    return PageView("details/command.html", command.text, values)


def dismiss(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Dismiss what is known of a command."""
    question = "Dismiss this? No agent is told of it until it is restored: {}"
    return decision(asked, form, _PATH, dismiss_command, question, "Dismiss it")


def restore(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take back a dismissal."""
    question = "Tell agents of this again? {}"
    return decision(asked, form, _PATH, restore_command, question, "Restore it")
