"""The pages: under which path each is found, and who may see it or do what it offers."""

from dataclasses import dataclass
from typing import Final

from trackrecord_door.callers import Permission


@dataclass(frozen=True)
class View:
    """A page that shows something.

    Attributes:
        path: where it is found; names in braces are handed to its function in `Asked.named`.
        function: the function that answers, as "module.function" in `views`; imported when it is
            first asked for, because a front door that only takes what agents report needs none.
        permission: what a caller must be permitted in the project that is shown.
    """

    path: str
    function: str
    permission: Permission = Permission.READ


@dataclass(frozen=True)
class Action:
    """Something that a page can change: asked about once more, then done.

    Attributes:
        path: where its form is posted to.
        function: the function that returns the `Deed`, as "module.function" in `views`.
        permission: what a caller must be permitted in the project that is changed.
        of_all_projects: whether it concerns all projects: then a token of one is refused.
    """

    path: str
    function: str
    permission: Permission = Permission.WRITE
    of_all_projects: bool = False


NAVIGATION: Final = (
    ("/", "Overview"),
    ("/lessons", "Lessons"),
    ("/patterns", "Patterns"),
    ("/procedures", "Procedures"),
    ("/memories", "Memories"),
    ("/criteria", "Criteria"),
    ("/runs", "Runs"),
    ("/prompt", "Prompt"),
    ("/dead-letters", "Dead letters"),
    ("/effect", "Effect"),
)

VIEWS: Final = (
    View("/", "overview.shown"),
    View("/effect", "effect.shown"),
    View("/dead-letters", "dead_letters.shown"),
)

ACTIONS: Final = (
    Action("/effect/holdout", "effect.hold_out", Permission.ADMIN),
    Action("/effect/withdraw", "effect.withdraw"),
    Action("/effect/restore", "effect.restore"),
    Action("/dead-letters/replay", "dead_letters.replay", of_all_projects=True),
    Action("/dead-letters/discard", "dead_letters.discard", Permission.ADMIN, of_all_projects=True),
)
