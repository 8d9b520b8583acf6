"""Runs: what came in for each task, its calls, its verdict and the grounds for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Self, get_args

import msgspec

from trackrecord.errors import UnknownId
from trackrecord.learning.text.spelling import closest
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import project_row, read_project
from trackrecord.resources.declaration.checks import (
    AgentName,
    IdOf,
    Label,
    Limit,
    Moment,
    Text,
    optional_commit_of,
)
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource
from trackrecord.wire.outcome import (
    Cost,
    Ground,
    GroundKind,
    Outcome,
    ToolCall,
    decode_stored,
    epoch_seconds,
)
from trackrecord.wire.run_marks import MarkKind, mark_of, task_text_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.learning.advice.runs.runs import NotedRun
    from trackrecord.store.advice.run_records import RunOnRecord

RunVerdict = Literal["success", "failure", "none"]
HandedKind = Literal["lesson", "failing", "procedure", "memory", "task", "competence", "pattern"]
RunId = Annotated[str, msgspec.Meta(min_length=1, max_length=1024), IdOf("outcome")]
TaskId = Annotated[str, msgspec.Meta(min_length=1, max_length=256), IdOf("task")]

# Runs that are read together.
_MOST_AT_ONCE: Final = 500
_any = msgspec.json.Decoder()


class RunPlace(NamedTuple):
    """A place in the order of runs: the newest first.

    Attributes:
        ended_at: seconds since the epoch.
        row: the run's row in the store.
    """

    ended_at: float
    row: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


def verdict_of(success: bool | None) -> RunVerdict:
    """Return the word for what an outcome says of its task."""
    if success is None:
        return "none"
    return "success" if success else "failure"


_SUCCESS: Final[dict[RunVerdict, bool | None]] = {"success": True, "failure": False, "none": None}


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The runs that are asked for; a field that is None asks for nothing.

    Attributes:
        source: the agent that reported them.
        verdict: whether they succeeded, failed, or nobody knows.
        ground: a kind of evidence that the verdict rests on.
        tool: a tool that they called.
        failed: only runs in which a call failed: of that tool if one is given, else of any.
        task_id: the task.
        commit: a commit that they made, or its first seven digits or more.
        text: what the text of the task contains, in whatever case.
    """

    source: str | None = None
    verdict: RunVerdict | None = None
    ground: str | None = None
    tool: str | None = None
    failed: bool = False
    task_id: str | None = None
    commit: str | None = None
    text: str | None = None

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks of the runs that are asked for; a few others have them, too."""
        success = None if self.verdict is None else str(_SUCCESS[self.verdict])
        call: tuple[MarkKind, str | None] = ("tool", self.tool)
        if self.failed:
            call = "failed", self.tool or ""
        asked: tuple[tuple[MarkKind, str | None], ...] = (
            ("source", self.source),
            ("success", success),
            ("ground", self.ground),
            ("task", self.task_id),
            call,
        )
        return tuple(mark_of(kind, value) for kind, value in asked if value is not None)

    @property
    def task_text(self) -> str | None:
        """What the texts of tasks are searched for, without its case."""
        return None if self.text is None else self.text.casefold()

    def admits(self, said: Outcome) -> bool:
        """Return whether a run is asked for; its commits are looked up before."""
        return (
            self.source in (None, said.source)
            and self.verdict in (None, verdict_of(said.success))
            and self.task_id in (None, said.task_id)
            and (
                self.ground is None or any(self.ground == each.kind for each in said.grounds or ())
            )
            and (
                (self.tool is None and not self.failed)
                or any(map(self._admits_call, said.tool_graph or ()))
            )
            and (self.task_text or "") in task_text_of(said)
        )

    def _admits_call(self, call: ToolCall) -> bool:
        return self.tool in (None, call.tool) and (call.failed or not self.failed)


class Call(Answer, frozen=True, kw_only=True):
    """One call of a tool.

    Attributes:
        tool: the tool's name.
        ok: whether it succeeded; null if not reported.
        error: what went wrong, as it was reported.
        duration_ms: how long it took; null if not reported.
    """

    tool: str | None
    ok: bool | None
    error: Any
    duration_ms: float | None

    @classmethod
    def of(cls, call: ToolCall, **more: Any) -> Self:  # noqa: ANN401 - a subclass's fields
        """Return a reported call as an answer."""
        error, took = _decoded(call.error), call.duration_ms
        return cls(tool=call.tool, ok=call.ok, error=error, duration_ms=took, **more)

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return self.ok is False or (self.ok is None and self.error is not None)


class CallDetails(Call, frozen=True, kw_only=True):
    """One call of a tool with its arguments and its result.

    Attributes:
        args: its arguments, as they were reported.
        result: what it returned, as it was reported.
        started_at: when it was made; null if not reported.
        actor: who made it, where that is not the agent itself.
    """

    args: Any
    result: Any
    started_at: Instant | None
    actor: str | None

    @classmethod
    def of(cls, call: ToolCall, **more: Any) -> Self:  # noqa: ANN401 - as above
        """Return a reported call as an answer."""
        started_at = None
        if call.timestamp is not None:
            with suppress(ValueError):
                started_at = epoch_seconds(call.timestamp)
        return super().of(
            call,
            args=_decoded(call.args),
            result=_decoded(call.result),
            started_at=started_at,
            actor=call.actor,
            **more,
        )


class Amendment(Answer, frozen=True, kw_only=True):
    """Something that was reported of a run after the first report.

    Attributes:
        received_at: when it was received.
        by: who says so.
        success: whether the task reached its goal; null where nobody knows.
        outcome_source: what kind of evidence says so.
        captured_from: what was read to report it; null where an agent reported it.
        grounds: what the verdict rests on.
    """

    received_at: Instant
    by: str
    success: bool | None
    outcome_source: str | None
    captured_from: str | None
    grounds: tuple[Ground, ...]

    @classmethod
    def of(cls, received_at: float, said: Outcome) -> Self:
        """Return a later report as an answer."""
        by = said.judged_by or said.source or said.speaker
        return cls(received_at=received_at, by=by, **_verdict(said))


class RunAnswer(Answer, frozen=True, kw_only=True):
    """One run, all reports of it joined.

    Attributes:
        outcome_id: the id of its outcome.
        project: whose run.
        source: the agent that reported it; null if it does not say.
        task_id: the task.
        instruction: the text of the task; null if not reported.
        success: whether the task reached its goal; null where nobody knows.
        outcome_source: what kind of evidence says so.
        captured_from: what was read to report it; null where an agent reported it.
        grounds: what the verdict rests on.
        amended_by: who amended the verdict; null if nobody did.
        failure_mode: the way of failing; null if not reported.
        commits: the commits that it made.
        received_at: when what is shown was received.
        ended_at: when it ended.
        duration_ms: how long it took; null if not reported.
        calls: its calls of tools, in the order of the report.
        amendments: what was reported after the first report, in the order of receipt.
        strategy: the way of working that it names; null if it names none.
        trigger: what set the task off; null if not reported.
        error_count: its errors; null if not reported.
        retry_count: its retries; null if not reported.
        cost: what it cost, in tokens and in US dollars; null if not reported.
        model: the language model that worked on it; null if not reported.
        branch: the branch of the repository that it began on; null if not reported.
        check_commands: the command lines of the checks that the verdict rests on.
    """

    outcome_id: str
    project: str
    source: str | None
    task_id: str
    instruction: str | None
    success: bool | None
    outcome_source: str | None
    captured_from: str | None
    grounds: tuple[Ground, ...]
    amended_by: str | None
    failure_mode: str | None
    commits: tuple[str, ...]
    received_at: Instant
    ended_at: Instant
    duration_ms: int | None
    calls: tuple[Call, ...]
    amendments: tuple[Amendment, ...]
    strategy: str | None
    trigger: str | None
    error_count: int | None
    retry_count: int | None
    cost: Cost | None
    model: str | None
    branch: str | None
    check_commands: tuple[str, ...]
    _outcome: Outcome
    _row: int

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the runs that follow this one in a list."""
        return cursor_of(RunPlace(self.ended_at, self._row))

    @property
    def outcome(self) -> Outcome:
        """What was reported, all reports joined."""
        return self._outcome

    @property
    def verdict(self) -> RunVerdict:
        """The word for what it says of its task."""
        return verdict_of(self.success)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it called, in the order of their first call."""
        return tuple(dict.fromkeys(call.tool for call in self.calls if call.tool))

    @property
    def failed_calls(self) -> int:
        """How many of its calls failed."""
        return sum(call.failed for call in self.calls)


class HandedEntry(Answer, frozen=True):
    """One entry that was handed out, or would have been.

    Attributes:
        entry: its id among those of all that is handed out.
        kind: what it is.
        id: its id in the list of its kind.
        followed: whether the run did what it says; null where a run does not show it.
    """

    entry: str
    kind: HandedKind
    id: str
    followed: bool | None


class HandedOut(Answer, frozen=True):
    """What a task was handed at one time.

    Attributes:
        at: when.
        is_withheld: whether the task belongs to the holdout: then it got nothing, and the entries
            are those that it would have got.
        holdout: the share of tasks that was withheld advice at that time.
        propensity: how probable it was that the task was assigned so.
        entries: the entries, best first.
    """

    at: Instant
    is_withheld: bool
    holdout: float
    propensity: float
    entries: tuple[HandedEntry, ...]


class RunDetails(RunAnswer, frozen=True, kw_only=True):
    """A run with all that belongs to it.

    Attributes:
        calls: its calls of tools with their arguments and results, in the order of the report.
        description: what was done, in the agent's words; null if not reported.
        failure_details: why it failed; null if not reported.
        files_touched: the files that it touched.
        competence_id: the competence record that it names; null if it names none.
        memory_ids: the memories that it names.
        metadata: what else was reported.
        patterns: the slugs of the patterns that it touches.
        competence: the id of the competence record of just its tools; null if there is none.
        handed: what its task had been handed when it ended, the newest first.
        removed: which texts retention has removed, and of which time; null while they are there.
    """

    calls: tuple[CallDetails, ...]
    description: str | None
    failure_details: str | None
    files_touched: tuple[str, ...]
    competence_id: str | None
    memory_ids: tuple[str, ...]
    metadata: Any
    patterns: tuple[str, ...]
    competence: str | None
    handed: tuple[HandedOut, ...]
    removed: str | None


def _decoded(raw: msgspec.Raw) -> Any:  # noqa: ANN401 - whatever was reported
    given = bytes(raw)
    return None if given in (b"", b"null") else _any.decode(given)


def _reported_text(metadata: msgspec.Raw, name: str) -> str | None:
    """Return an entry of what else was reported, where it is a text."""
    reported = _decoded(metadata)
    value = reported.get(name) if isinstance(reported, dict) else None
    return value if isinstance(value, str) and value else None


def _check_commands(said: Outcome) -> tuple[str, ...]:
    calls = said.tool_graph or ()
    places = (ground.call for ground in said.grounds or () if ground.call is not None)
    named = (calls[place].checks or () for place in places if place < len(calls))
    return tuple(dict.fromkeys(check.line for checks in named for check in checks if check.line))


def _verdict(said: Outcome) -> dict[str, Any]:
    return {
        "success": said.success,
        "outcome_source": None if said.success is None else said.outcome_source,
        "captured_from": said.captured_from,
        "grounds": said.grounds or (),
    }


def _fields_of(
    project: str, report: RunOnRecord, said: Outcome, amendments: Iterable[Amendment]
) -> dict[str, Any]:
    """Return the fields of a run that are called otherwise in its report, without its calls."""
    return {
        "project": project,
        **_verdict(said),
        "amended_by": said.judged_by or said.amended_by,
        "commits": said.commits or (),
        "amendments": tuple(amendments),
        "trigger": said.trigger.signal if said.trigger else None,
        "model": _reported_text(said.metadata, "model"),
        "branch": _reported_text(said.metadata, "branch"),
        "check_commands": _check_commands(said),
        "_outcome": said,
        "_row": report.row,
    }


def _amendments(
    connection: Connection, project_id: int, ids: Sequence[str], at: float | None
) -> dict[str, list[Amendment]]:
    """Return by the ids of outcomes what was reported after the first report."""
    from trackrecord.store.outcomes.entries import entries_of

    found = entries_of(connection, [(project_id, each) for each in ids])
    return {
        outcome_id: [
            Amendment.of(entry.received_at, decode_stored(entry.body))
            for entry in sorted(entries, key=lambda entry: entry.received_at)[1:]
            if at is None or entry.received_at <= at
        ]
        for (_, outcome_id), entries in found.items()
    }


def read_reports(
    connection: Connection,
    project: str,
    *,
    at: float | None = None,
    wanted: RunFilter | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
    after: RunPlace | None = None,
) -> list[tuple[RunOnRecord, Outcome]]:
    """Return what is on record of the runs of a project that ended last, the newest first.

    Args:
        connection: a reading transaction.
        project: whose runs.
        at: a past moment to answer for: only what had been received by then.
        wanted: which runs; None for all.
        limit: the maximum number of runs; None for all.
        oldest_first: whether those that ended first are returned instead.
        after: the place of a run: only those that follow it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: runs of one task are asked for, and no outcome of it is on record.
    """
    from trackrecord.resources.access.tasks import check_task
    from trackrecord.store.advice.run_records import reports_of_runs

    project_id, wanted = project_row(connection, project), wanted or RunFilter()
    if after is None and wanted.task_id is not None:
        check_task(connection, project, wanted.task_id)
    found: list[tuple[RunOnRecord, Outcome]] = []
    for report in reports_of_runs(
        connection,
        project_id,
        marks=wanted.marks,
        text=wanted.task_text,
        commit=wanted.commit,
        at=at,
        after=after,
        oldest_first=oldest_first,
        at_once=min(limit or _MOST_AT_ONCE, _MOST_AT_ONCE),
    ):
        said = decode_stored(report.body)
        if wanted.admits(said):
            found.append((report, said))
            if len(found) == limit:
                break
    return found


def read_runs(
    connection: Connection,
    project: str,
    *,
    at: float | None = None,
    **asked: Any,  # noqa: ANN401 - see below
) -> list[RunAnswer]:
    """Return the runs of a project that ended last, in an open transaction; see `read_reports`.

    Raises:
        TrackrecordError: as `read_reports` does.
    """
    return _answers(connection, project, read_reports(connection, project, at=at, **asked), at)


def runs_of_keys(
    connection: Connection,
    project: str,
    keys: Iterable[tuple[float, int]],
) -> list[RunAnswer]:
    """Return a few runs of a project, the newest first.

    Args:
        connection: a reading transaction.
        project: whose runs.
        keys: when they ended, and the rows of their outcomes.
    """
    from trackrecord.store.advice.run_records import reports_of_keys

    found = reports_of_keys(connection, project_row(connection, project), keys)
    return _answers(connection, project, [(each, decode_stored(each.body)) for each in found], None)


def _answers(
    connection: Connection,
    project: str,
    found: Sequence[tuple[RunOnRecord, Outcome]],
    at: float | None,
) -> list[RunAnswer]:
    ids = [report.outcome_id for report, _ in found]
    amendments = _amendments(connection, project_row(connection, project), ids, at)
    return [
        RunAnswer.taken(
            report,
            said,
            **_fields_of(project, report, said, amendments.get(report.outcome_id, ())),
            calls=tuple(map(Call.of, said.tool_graph or ())),
        )
        for report, said in found
    ]


def task_texts(
    connection: Connection, project_id: int, outcome_ids: Sequence[str]
) -> dict[str, str]:
    """Return the texts of tasks by the ids of their outcomes, as far as they were reported.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        outcome_ids: the ids of their outcomes.
    """
    from trackrecord.store.advice.run_records import bodies_of_outcomes

    bodies = bodies_of_outcomes(connection, project_id, outcome_ids)
    return {
        outcome_id: text
        for outcome_id, body in bodies.items()
        if (text := decode_stored(body).instruction)
    }


def runs_of_commit(connection: Connection, project: str, commit: str) -> list[RunAnswer]:
    """Return the runs of a project that made a commit.

    Args:
        connection: a reading transaction.
        project: whose runs.
        commit: the commit's hash, or its first seven digits or more.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: none of the project's runs made it.
    """
    found = read_runs(connection, project, wanted=RunFilter(commit=commit))
    if not found:
        from trackrecord.resources.access.removed import outcomes_removed

        message = f"no run of project {project!r} made commit {commit!r}"
        hint = outcomes_removed(connection, project_row(connection, project))
        raise UnknownId(message, hint=hint)
    return found


def find_run(
    connection: Connection, project: str, outcome_id: str, *, at: float | None = None
) -> RunDetails:
    """Return one run with all that belongs to it, in a transaction that is open.

    Args:
        connection: a reading transaction.
        project: whose run.
        outcome_id: the id of its outcome, or the beginning of it.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    from trackrecord.resources.access.removed import texts_removed
    from trackrecord.store.advice.run_records import noted_runs, report_of_run

    from .run_exposures import exposures_of_run

    project_id = project_row(connection, project)
    whole = whole_outcome_id(connection, project, outcome_id)
    report = report_of_run(connection, project_id, whole, at=at)
    if report is None:
        message = f"outcome {whole!r} was not on record at {iso(at)}"
        raise UnknownId(message)
    said = decode_stored(report.body)
    amendments = _amendments(connection, project_id, [whole], at)
    noted = next(iter(noted_runs(connection, project_id, [report.row], at=at)), None)
    return RunDetails.taken(
        report,
        said,
        **_fields_of(project, report, said, amendments.get(whole, ())),
        calls=tuple(map(CallDetails.of, said.tool_graph or ())),
        files_touched=said.files_touched or (),
        memory_ids=said.memory_ids or (),
        metadata=_decoded(said.metadata),
        patterns=() if noted is None else noted.patterns,
        competence=None if noted is None else _record(connection, project, project_id, noted),
        handed=exposures_of_run(
            connection, project_id, said.task_id or "", noted, ended_at=report.ended_at, at=at
        ),
        removed=None if said.thinned is None else texts_removed(connection, project_id),
    )


def _record(connection: Connection, project: str, project_id: int, run: NotedRun) -> str | None:
    from trackrecord.learning.competences.episodes.signatures import signature_of
    from trackrecord.learning.competences.record import competence_id
    from trackrecord.store.competences.read import existing_ids

    if not run.order:
        return None
    wanted = competence_id(project, signature_of(run.order))
    return next(iter(existing_ids(connection, project_id, [wanted])), None)


def whole_outcome_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the outcome that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    from trackrecord.resources.access.removed import outcomes_removed
    from trackrecord.resources.access.short_ids import only_match, run_ids_by_parts, whole_stored_id
    from trackrecord.resources.access.tasks import is_known_task
    from trackrecord.store.outcomes.tables import outcomes

    message = f"project {project!r} has no outcome {given!r}"
    project_id = project_row(connection, project)
    ids, where = outcomes.c.outcome_id, outcomes.c.project_id == project_id
    hint = "`trackrecord runs list` shows its runs"
    if removed := outcomes_removed(connection, project_id):
        hint = f"{hint}; {removed}"
    try:
        return whole_stored_id(connection, ids, where, given, message, hint=hint)
    except UnknownId as error:
        found = only_match(given, run_ids_by_parts(connection, ids, where, given))
        if found is not None:
            return found
        if error.nearest is not None or not is_known_task(connection, project, given):
            raise
        hint = "that is the id of a task: `trackrecord runs list --task` shows its runs"
        raise UnknownId(message, hint=hint) from None


def outcome_ids_for_tables(connection: Connection, project: str, shown: Sequence[str]) -> list[str]:
    """Return the ids of outcomes that the short ids of those shown must not stand for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.resources.access.short_ids import ids_around, ids_next_to, session_in
    from trackrecord.store.outcomes.tables import outcomes

    where = outcomes.c.project_id == project_row(connection, project)
    # The sessions before and after that of a run, too: its short id names the session.
    sessions = {session for each in shown if (session := session_in(each))}
    ids = outcomes.c.outcome_id
    beside = [ids_around(connection, ids, where, f"{each}:", f"{each};") for each in sessions]
    return [*ids_next_to(connection, ids, where, shown), *chain.from_iterable(beside)]


def count_runs(
    *, at: Moment | None = None, project: str | None = None, **wanted: object
) -> int | None:
    """Return how many runs are on record; None where a filter would have to read each of them.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if any(wanted.values()):
        return None
    with read_project(project, at) as it:
        from trackrecord.store.advice.run_records import count_runs as count

        return count(it.connection, it.project_id, at=it.at)


def _because(run: RunAnswer) -> str | None:
    kinds = ", ".join(dict.fromkeys(ground.kind for ground in run.grounds))
    return kinds or (None if run.success is None else run.outcome_source)


_SORTING = sorting_of("runs", "outcome_id", ended="ended_at")
RUNS = Resource("runs", "Show what came in: each run's calls, its verdict and the grounds for it.")


@RUNS.offers(
    "GET /runs",
    rests_on=("outcomes", "texts"),
    command="list",
    sorting=_SORTING,
    rank=lambda run: -run.ended_at,
    in_pages=True,
    pages_in_order=True,
    total=count_runs,
    columns=(
        "outcome", "source", "ended", "verdict", "because", "calls", "failed", "instruction",
    ),
    about="instruction",
    secondary=("calls", "source", "failed", "because", "ended"),
    cells={
        "outcome": lambda run: run.outcome_id,
        "ended": lambda run: iso(run.ended_at),
        "verdict": lambda run: run.verdict,
        "because": _because,
        "calls": lambda run: len(run.calls),
        "failed": lambda run: run.failed_calls,
        "instruction": lambda run: run.instruction or "",
    },
    nothing="no runs to show in project {project!r}",
    option_names={"task_id": "task"},
    option_help={
        "failed": "Show only runs in which a call failed: of the tool, if --tool names one.",
    },
)  # fmt: skip
def list_runs(
    *,
    source: AgentName | None = None,
    verdict: RunVerdict | None = None,
    ground: Label | None = None,
    tool: Label | None = None,
    failed: bool = False,
    task_id: TaskId | None = None,
    commit: Text | None = None,
    text: Text | None = None,
    at: Moment | None = None,
    limit: Limit | None = 20,
    sort: Text | None = None,
    after: Text | None = None,
    project: str | None = None,
) -> list[RunAnswer]:
    """List the runs that ended last, the newest first.

    Args:
        source: only runs that this agent reported.
        verdict: only runs with this verdict.
        ground: only runs whose verdict rests on this kind of evidence, such as interrupted.
        tool: only runs that called this tool.
        failed: only runs in which a call failed: of the tool, if one is given.
        task_id: only runs of the task with this id.
        commit: only runs that made this commit: its SHA, or the first seven digits of it or more.
        text: only runs whose task's text contains this, in whatever case.
        at: a past moment to answer for.
        limit: the maximum number of runs to return; None for all.
        sort: "ended" for those that ended first.
        after: the `cursor` of a run: only the runs that follow it.
        project: the runs' project; the settings' project when not given.

    Raises:
        UnknownId: nothing rests on such evidence.
        TrackrecordError: the message says in one line what is wrong.
    """
    order = None if sort is None else _SORTING.order(sort)
    wanted = RunFilter(
        source=source,
        verdict=verdict,
        ground=ground,
        tool=tool,
        failed=failed,
        task_id=task_id,
        commit=optional_commit_of("commit", commit),
        text=text,
    )
    with read_project(project, at) as it:
        found = read_runs(
            it.connection,
            it.project,
            at=it.at,
            wanted=wanted,
            limit=limit,
            oldest_first=order is not None and not order.is_descending,
            after=None if after is None else place_of(after, RunPlace),
        )
        if not found and after is None and ground is not None:
            _check_ground(it.connection, it.project, ground)
        return found


def _check_ground(connection: Connection, project: str, ground: str) -> None:
    """Make sure that there is such evidence: trackrecord finds it, or a run was reported with it.

    Raises:
        UnknownId: there is none.
    """
    kinds = get_args(GroundKind)
    wanted = RunFilter(ground=ground)
    if ground not in kinds and not read_reports(connection, project, wanted=wanted, limit=1):
        message = f"no run of project {project!r} rests on {ground!r}"
        hint = f"there is {', '.join(kinds)}"
        raise UnknownId(message, nearest=closest(ground, kinds), hint=hint)


@RUNS.offers("GET /runs/{outcome_id:path}", command="show")
def show_run(
    outcome_id: RunId, *, at: Moment | None = None, project: str | None = None
) -> RunDetails:
    """Show one run: its calls, its verdict, the grounds, and later amendments.

    Args:
        outcome_id: the id of the run's outcome, or the beginning of it.
        at: a past moment to answer for.
        project: the run's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project, at) as it:
        return find_run(it.connection, it.project, outcome_id, at=it.at)
