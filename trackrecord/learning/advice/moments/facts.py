"""Facts as they are told at a failure and shown to people; a document holds them for a project."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

DAY: Final = 86_400.0
FEWEST_SESSIONS: Final = 3
"""In how many sessions in a row a call must have failed before that is told."""


class KnownFailure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that failed in each of the last sessions that made it.

    Attributes:
        says: what failed, as it may be told: a line, or its first words.
        sessions: how many sessions in a row it failed in, up to now.
        since: the first failure of these, seconds since the epoch.
        last_at: the last one.
        error: the line that tells of the last error.
        template: the same without what varies.
        remedy: the line of a check that ran in the same sessions after the failure; "" for none.
        remedied: in how many of the sessions it did.
        kinds: what it checks; empty for other commands.
        machine: where this is so; "" for any machine.
        recent: the last eight of the sessions.
        outcomes: the rows of the outcomes of its newest failures, the newest first.
        calls: how many failing calls there were in these sessions.
        never: whether it never ran, in any session.
    """

    says: str
    sessions: int
    since: float
    last_at: float
    error: str = ""
    template: str = ""
    remedy: str = ""
    remedied: int = 0
    kinds: tuple[str, ...] = ()
    machine: str = ""
    recent: tuple[str, ...] = ()
    outcomes: tuple[int, ...] = ()
    calls: int = 0
    never: bool = False

    @property
    def is_of_check(self) -> bool:
        """True for a check that did not start: of others than tests, two sessions have to say so.

        What tests that run print is known; a linter or a build may have found anything.
        """
        return TEST in self.kinds or (bool(self.kinds) and self.sessions >= _FEWEST_OF_OTHERS)

    @property
    def is_standing(self) -> bool:
        """True for what a person should hear of: five sessions, over two days or in ten of them."""
        return is_standing(self.sessions, self.last_at - self.since)


TEST: Final = "test"
CHECKING_KINDS: Final = (TEST, "lint", "type check", "check", "build")
"""The kinds of checks, the most important first."""
_FEWEST_OF_OTHERS: Final = 2
_STANDING: Final = 5
_STANDING_DAYS: Final = 2
_STANDING_SESSIONS: Final = 10


def is_standing(sessions: int, lasted: float) -> bool:
    """Return whether a failure in so many sessions, over so many seconds, is a standing defect."""
    return sessions >= _STANDING and (
        lasted >= _STANDING_DAYS * DAY or sessions >= _STANDING_SESSIONS
    )


class Defect(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A standing defect, or one that ended with the first success: for people.

    Attributes:
        id: that of the command.
        line: the command line, or its first words.
        text: the fact with its counts, in English.
        sessions: the sessions in a row in which it failed.
        ended_at: when it ran again, seconds since the epoch; 0 while it stands.
        instead: the line that does run; "" if none is known.
        last_at: when it failed last, seconds since the epoch; 0 if that is not known.
    """

    id: str
    line: str
    text: str
    sessions: int
    ended_at: float = 0.0
    instead: str = ""
    last_at: float = 0.0


class KnownLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The line of a check that ran.

    Attributes:
        kind: what it checks.
        line: the line.
        sessions: how many sessions it ran in.
        times: how often it ran.
        last_at: when it ran last, seconds since the epoch.
        is_whole: whether it runs on all that its program would run on.
        passed: whether it ever ended with success.
        machines: where it ran.
        recent: the last eight sessions that it ran in.
        outcomes: the rows of the outcomes of its newest runs, the newest first.
        since: when it ran first.
    """

    kind: str
    line: str
    sessions: int
    times: int
    last_at: float
    is_whole: bool
    passed: bool
    machines: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    outcomes: tuple[int, ...] = ()
    since: float = 0.0


class UsualLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A line that most of the last sessions ran.

    Attributes:
        kind: what it checks, or what work it does.
        line: the line.
        sessions: in how many of the last sessions it ran.
        of: how many these are: the last twenty in which something was checked, or all.
    """

    kind: str
    line: str
    sessions: int
    of: int


class KnownNeed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A command that runs once another one has run.

    Attributes:
        says: the command, as it may be told.
        first: what has to run first: a program and what it is asked to do.
        with_first: calls with it earlier in the session.
        ran_with: those of them that ran.
        without: calls without it.
        ran_without: those of them that ran.
        sessions: the sessions in which it failed without.
        since: the first failure, seconds since the epoch.
        last_at: the last one.
        error: the line that tells of the last error.
        kinds: what it checks; empty for other commands.
        outcomes: the rows of the outcomes of its newest failures, the newest first.
    """

    says: str
    first: str
    with_first: int
    ran_with: int
    without: int
    ran_without: int
    sessions: int
    since: float
    last_at: float
    error: str = ""
    kinds: tuple[str, ...] = ()
    outcomes: tuple[int, ...] = ()


class KnownFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The place where a file of a name was opened.

    Attributes:
        path: where, as it is told.
        sessions: in how many sessions.
    """

    path: str
    sessions: int


class LineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that run in a repository, and the files that its sessions check.

    Attributes:
        checks: the lines that ran, by kind of check.
        usual: the lines that most of the last sessions ran, by kind.
        checked: the endings of files after whose last edit most sessions checked something.
    """

    checks: Mapping[str, tuple[KnownLine, ...]] = {}
    usual: tuple[UsualLine, ...] = ()
    checked: tuple[str, ...] = ()

    def lines(self, kind: str) -> Sequence[KnownLine]:
        """Return the lines of a kind of check that ran and do not fail now, the newest first."""
        return self.checks.get(kind, ())


class MomentFacts(LineFacts, frozen=True, kw_only=True):
    """The facts about one repository for the moment of a failure; a small document.

    Attributes:
        failures: what failed in each of the last sessions, by each name of a call.
        needs: what commands need first, by the name of each.
        files: where files of a name were opened.
        never: patterns of file names that were sought in vain, each with the sessions.
    """

    failures: Mapping[str, tuple[KnownFailure, ...]] = {}
    needs: Mapping[str, KnownNeed] = {}
    files: Mapping[str, KnownFile] = {}
    never: tuple[tuple[str, int], ...] = ()


class MomentDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The facts for failures of one project, as they are cached.

    Attributes:
        repositories: the facts of each repository; "" for the project's own.
        points: how many failures the trial of hints has decided on so far.
        defects: the standing defects of all repositories, and those that have ended, for people.
    """

    repositories: Mapping[str, MomentFacts] = {}
    points: int = 0
    defects: tuple[Defect, ...] = ()


class _OnlyDefects(msgspec.Struct, frozen=True):
    """A part of a document: what people are told, without the facts for failures."""

    defects: tuple[Defect, ...] = ()


class CachedFacts(LineFacts, frozen=True, kw_only=True):
    """The facts about one repository as the cache holds them; each is decoded when it is asked for.

    A failing call asks for a handful of many thousands.

    Attributes are those of `MomentFacts`.
    """

    failures: Mapping[str, msgspec.Raw] = {}
    needs: Mapping[str, msgspec.Raw] = {}
    files: Mapping[str, msgspec.Raw] = {}

    def failure(self, key: str, machine: str) -> KnownFailure | None:
        """Return what is known of a call that failed in the last sessions; None if it ran."""
        known = self.failures.get(key)
        decoded = () if known is None else _failures.decode(known)
        return next((each for each in decoded if each.machine in ("", machine)), None)

    def file(self, name: str) -> KnownFile | None:
        """Return where a file of exactly this name was opened, if it was in one place mostly."""
        known = self.files.get(name)
        return None if known is None else _file.decode(known)

    def need(self, key: str) -> KnownNeed | None:
        """Return what a command needs first; None if nothing is known."""
        known = self.needs.get(key)
        return None if known is None else _need.decode(known)

    @property
    def names(self) -> Collection[str]:
        """The names of files that were opened."""
        return self.files


class CachedMoments(msgspec.Struct, frozen=True, kw_only=True):
    """The facts for failures of one project, read from the cache.

    Attributes are those of `MomentDocument`.
    """

    repositories: Mapping[str, CachedFacts] = {}
    points: int = 0

    def of(self, repository: str) -> CachedFacts:
        """Return the facts of a repository; of one that is not known those of the project."""
        return self.repositories.get(repository) or self.repositories.get("") or CachedFacts()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(CachedMoments)
_defects_decoder = msgspec.msgpack.Decoder(_OnlyDefects)
_failures = msgspec.msgpack.Decoder(tuple[KnownFailure, ...])
_need = msgspec.msgpack.Decoder(KnownNeed)
_file = msgspec.msgpack.Decoder(KnownFile)


def encode_moments(document: MomentDocument) -> bytes:
    """Return what is told at failures as it is cached."""
    return _encoder.encode(document)


def decode_moments(data: bytes) -> CachedMoments:
    """Return what is told at failures from the cache.

    Raises:
        msgspec.DecodeError: it was written by another version.
    """
    return _decoder.decode(data)


def decode_defects(data: bytes) -> tuple[Defect, ...]:
    """Return only the defects of what is told at failures.

    Raises:
        msgspec.DecodeError: it was written by another version.
    """
    return _defects_decoder.decode(data).defects
