"""Commands and files: what runs, what does not, what lies where; and dismissing it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self

from trackrecord.learning.advice.moments.commands import FILE, KINDS, Command, CommandState

from ..access.project_store import Transaction, read_project
from ..declaration.checks import Among, Choice, CommandId, Limit, Name, Reason, checking
from ..declaration.paging import sorting_of
from ..declaration.resource import Answer, Instant, Resource
from .lessons import (
    DECIDES,
    LessonChange,
    LessonDecisionAnswer,
    LessonRunAnswer,
    behind,
    decide_told,
    whole_id_of,
)

CommandKind = Annotated[str, Among(KINDS)]
_FEW: Final = 2


class CommandAnswer(Answer, frozen=True, kw_only=True):
    """The record of one command, or of one file, over the sessions in a repository.

    Attributes:
        text: the fact with its counts, in English.
        id: follows from the repository, the kind, the line and the machine, whatever the counts.
        repository: the repository; "" for the project's own.
        kind: what it checks: test, lint, type check, build, or check for several of these; the work
            that it does, such as install; command for anything else, file for a file.
        line: the command line, or its first words; the name, or the pattern, of a file.
        state: how it fares now: runs, never ran, does not run any more, needs another first, or
            often fails; a file was opened, or is not here.
        sessions: the sessions that show it: of a command that does not run, the last ones, in each
            of which it failed.
        calls: how often it ran or failed in these.
        since: the first time of these.
        last_at: the last time.
        error: the line that tells of the last error, for people of the project; "" for none.
        instead: the check that then ran in the same sessions, what has to run first, or the place
            of a file.
        instead_sessions: in how many of them it ran.
        is_standing: whether it has failed in five sessions or more, over two days or in ten.
        machine: a digest of the machine on which it fails; "" for any.
        dismissed: whether somebody dismissed it: agents are not told of it then.
    """

    text: str
    id: str
    repository: str
    kind: str
    line: str
    state: CommandState
    sessions: int
    calls: int
    since: Instant
    last_at: Instant
    error: str
    instead: str
    instead_sessions: int
    is_standing: bool
    machine: str
    dismissed: bool
    _command: Command

    @classmethod
    def of(
        cls,
        command: Command,
        *,
        dismissed: bool,
        **more: Any,  # noqa: ANN401 - a subclass's fields
    ) -> Self:
        """Return what was counted as an answer."""
        return cls.taken(command, dismissed=dismissed, _command=command, **more)

    @property
    def command(self) -> Command:
        """What was counted."""
        return self._command

    @property
    def state_in_words(self) -> str:
        """Its state in words."""
        return "dismissed" if self.dismissed else self.state.value


class CommandDetails(CommandAnswer, frozen=True, kw_only=True):
    """A command with the runs behind it and what was decided about it.

    Attributes:
        told: the line of such checks that agents are told first; "" for none.
        outcomes: the newest runs of its sessions, the newest first.
        history: the decisions about it, the oldest first.
    """

    told: str
    outcomes: tuple[LessonRunAnswer, ...]
    history: tuple[LessonChange, ...]


class CommandDecisionAnswer(LessonDecisionAnswer, frozen=True):
    """A decision about a command, and whether it changed anything.

    Attributes:
        id: the command.
        action: what was decided.
        changed: whether that changed anything.
        by: who decided.
        reason: why; null without a reason.
    """


@checking
def commands_in(
    it: Transaction,
    *,
    kind: CommandKind | None = None,
    state: Choice[CommandState] | None = None,
    everything: bool = False,
) -> list[CommandAnswer]:
    """Return the commands of a project in a transaction that is open; see `list_commands`.

    Args:
        it: a reading transaction.
        kind: only commands of this kind.
        state: only commands in this state.
        everything: whether dismissed ones are returned, too, files that were opened (as for their
            kind), lines of one session that run on a part, and what another one says better.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: an argument is wrong.
    """
    from trackrecord.resources.experience.found_commands import found_commands
    from trackrecord.store.advice.lesson_decisions import dismissed_lessons

    dismissed = dismissed_lessons(it.connection, it.project_id)
    return [
        CommandAnswer.of(each, dismissed=each.id in dismissed)
        for each in found_commands(it.connection, it.project_id)
        if (everything or not (each.id in dismissed or _is_passing(each, kind)))
        and (kind is None or kind == each.kind)
        and (state is None or state == each.state)
    ]


def _is_passing(command: Command, asked_for: str | None) -> bool:
    """Return whether few want to see it, as a line for part of the work that ran once."""
    if command.kind == FILE == asked_for:
        return False
    return command.is_minor or (command.sessions < _FEW and not command.is_whole)


def command_details(it: Transaction, command_id: str) -> CommandDetails:
    """Return a command with the runs behind it, in a transaction that is open.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such command, or had none at that moment.
        AmbiguousId: several commands' ids begin so.
    """
    known = {each.id: each for each in commands_in(it, everything=True)}
    by_line = {each.line: each.id for each in reversed(known.values())}
    whole = by_line.get(command_id) or whole_id_of("command", command_id, known, it.project)
    shown = known[whole]
    return CommandDetails.of(
        shown.command,
        dismissed=shown.dismissed,
        **behind(it, shown.id, shown.command.outcomes),
    )


COMMANDS = Resource("commands", "Show which commands run in your repositories, and which do not.")


@COMMANDS.offers(
    "GET /commands",
    command="list",
    sorting=sorting_of(
        "commands", "id", id="id", repository="repository", kind="kind", line="line",
        state="state_in_words", sessions="sessions", calls="calls", since="since",
        last_at="last_at",
    ),
    rank=lambda command: command.repository,
    in_pages=True,
    columns=("id", "kind", "state", "sessions", "command"),
    about="command",
    secondary=("sessions", "kind", "state"),
    cells={
        "state": lambda command: command.state_in_words, "command": lambda command: command.text,
    },
    nothing="nothing is known of commands in project {project!r}",
    option_help={"everything": "Show dismissed ones, opened files and single-session lines, too."},
)  # fmt: skip
def list_commands(
    *,
    kind: CommandKind | None = None,
    state: Choice[CommandState] | None = None,
    everything: bool = False,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[CommandAnswer]:
    """List what runs, what does not and what lies where, by repository: what never ran first.

    Args:
        kind: only commands of this kind.
        state: only commands in this state.
        everything: whether dismissed ones are returned, too, files that were opened (as for their
            kind), lines of one session that run on a part, and what another one says better.
        limit: the maximum number of commands to return; all when not given.
        project: the commands' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return commands_in(it, kind=kind, state=state, everything=everything)[:limit]


@COMMANDS.offers("GET /commands/{command_id}", command="show")
def show_command(command_id: CommandId, *, project: str | None = None) -> CommandDetails:
    """Show one command: its counts, the runs behind it, decisions about it.

    Args:
        command_id: the command's id, the beginning of it, or its line.
        project: the command's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return command_details(it, command_id)


@COMMANDS.offers("POST /commands/{command_id}/dismiss", command="dismiss", **DECIDES)
def dismiss_command(
    command_id: CommandId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> CommandDecisionAnswer:
    """Dismiss what is known of a command: no agent is told of it until it is restored.

    Args:
        command_id: its id, the beginning of it, or the line or the file that agents are told of.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the command's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return decide_told("command", CommandDecisionAnswer, "dismiss", command_id, reason, by, project)


@COMMANDS.offers("POST /commands/{command_id}/restore", command="restore", **DECIDES)
def restore_command(
    command_id: CommandId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> CommandDecisionAnswer:
    """Take back the dismissal of what is known of a command.

    Args:
        command_id: its id, the beginning of it, or the line or the file that agents are told of.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the command's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return decide_told("command", CommandDecisionAnswer, "restore", command_id, reason, by, project)
