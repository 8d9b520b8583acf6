"""The pages: their paths, and the permissions for seeing and changing them."""

from dataclasses import dataclass
from typing import Final

from trackrecord.resources.declaration.resource import RestsOn
from trackrecord_door.protocol.callers import Permission


@dataclass(frozen=True)
class View:
    """A page that shows something.

    Attributes:
        path: where it is found; names in braces are handed to its function in `PageRequest.named`.
        function: the function that answers, as "module.function" in `views`; imported when it is
            first asked for, because a front door that only takes what agents report needs none.
        permission: what a caller must be permitted in the project that is shown.
        rests_on: what it shows that retention may have removed, see `Operation.rests_on`.
    """

    path: str
    function: str
    permission: Permission = Permission.READ
    rests_on: tuple[RestsOn, ...] = ()


@dataclass(frozen=True)
class Action:
    """A change that a page offers: confirmed first, then done.

    Attributes:
        path: where its form is posted to.
        function: the function that returns the `ConfirmedAction`, as "module.function" in `views`.
        permission: what a caller must be permitted in the project that is changed: to admin for
            a decision, to write for what an agent may report, too. HTTP asks for the same.
        of_all_projects: whether it concerns all projects: then a token of one is refused.
    """

    path: str
    function: str
    permission: Permission = Permission.ADMIN
    of_all_projects: bool = False


# The first four are always seen, the others behind "More".
NAVIGATION: Final = (
    ("/", "Overview"),
    ("/runs", "Runs"),
    ("/commands", "Commands"),
    ("/lessons", "Lessons"),
    ("/patterns", "Patterns"),
    ("/procedures", "Procedures"),
    ("/memories", "Memories"),
    ("/criteria", "Criteria"),
    ("/prompt", "Prompt"),
    ("/dead-letters", "Dead letters"),
    ("/effect", "Effect"),
)

VIEWS: Final = (
    View("/", "overview.shown"),
    View("/commands", "commands.shown"),
    View("/commands/{command:path}", "commands.entry"),
    View("/lessons", "lessons.shown"),
    View("/lessons/{lesson:path}", "lessons.entry"),
    View("/patterns", "patterns.shown"),
    View("/patterns/{pattern:path}", "patterns.entry"),
    View("/memories", "memories.shown"),
    View("/memories/{memory:path}", "memories.entry"),
    View("/criteria", "criteria.shown"),
    View("/criteria/{criterion:path}", "criteria.entry"),
    View("/procedures", "procedures.shown"),
    View("/procedures/{id:path}", "procedures.one"),
    View("/runs", "runs.shown", rests_on=("outcomes", "texts")),
    View("/runs/{id:path}", "runs.one"),
    View("/prompt", "prompt.shown"),
    View("/effect", "effect.shown"),
    View("/dead-letters", "dead_letters.shown"),
)

ACTIONS: Final = (
    Action("/commands/dismiss", "commands.dismiss"),
    Action("/commands/restore", "commands.restore"),
    Action("/lessons/dismiss", "lessons.dismiss"),
    Action("/lessons/restore", "lessons.restore"),
    Action("/patterns/promote", "patterns.promote"),
    Action("/patterns/deprecate", "patterns.deprecate"),
    Action("/patterns/reset", "patterns.reset"),
    Action("/patterns/tag", "patterns.tag"),
    Action("/memories/add", "memories.add", Permission.WRITE),
    Action("/memories/confirm", "memories.confirm", Permission.WRITE),
    Action("/memories/reject", "memories.reject", Permission.WRITE),
    Action("/memories/forget", "memories.forget"),
    Action("/feedback", "feedback.give", Permission.WRITE),
    Action("/procedures/reinforce", "procedures.reinforce"),
    Action("/procedures/penalize", "procedures.penalize"),
    Action("/procedures/contest", "procedures.contest"),
    Action("/procedures/supersede", "procedures.supersede"),
    Action("/procedures/retract", "procedures.retract"),
    Action("/effect/holdout", "effect.hold_out"),
    Action("/dead-letters/replay", "dead_letters.replay"),
    Action("/dead-letters/discard", "dead_letters.discard"),
)

_PERMISSIONS: Final = {action.path: action.permission for action in ACTIONS}


def permission_of(path: str) -> Permission:
    """Return the permission that the action posted to a path requires."""
    return _PERMISSIONS[path]
