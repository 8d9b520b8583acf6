"""Commands: what runs in the repositories that agents work in, what does not, and dismissing it."""

from typing import Final

from trackrecord.learning.advice.moments.commands import KINDS, CommandState
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.commands import (
    COMMANDS,
    command_details,
    commands_in,
    dismiss_command,
    restore_command,
)

from ..answering import PageView
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import decision
from .lessons import behind

_PATH = "/commands"


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
        "kinds": [(kind, kind) for kind in KINDS],
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


dismiss: Final = decision(
    _PATH,
    dismiss_command,
    "Dismiss this? No agent is told of it until it is restored: {}",
    "Dismiss it",
)
restore: Final = decision(_PATH, restore_command, "Tell agents of this again? {}", "Restore it")
