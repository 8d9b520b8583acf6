"""Runs: what came in, each with its calls on a time line and the grounds for its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from trackrecord.errors import TrackrecordError, UnknownId
from trackrecord.inflight.errors import TaskError
from trackrecord.inflight.store import InFlightStore
from trackrecord.resources.access.short_ids import session_in
from trackrecord.resources.declaration.checks import optional_choice_of
from trackrecord.resources.reports.runs import (
    CallDetails,
    RunAnswer,
    RunDetails,
    find_run,
    list_runs,
    verdict_of,
)
from trackrecord_capture.call_fields import LEFT_OUT

from ..answering import PageView
from ..drawings.time_line import Bar, time_line_of
from ..requests.page_request import PageRequest
from .entries import link_to_entry

_ROWS: Final = 50
# Filters of the list, by the names that links and commands give them.
_FILTERS: Final = {
    "source": "source", "verdict": "verdict", "ground": "ground", "tool": "tool",
    "task": "task_id", "commit": "commit", "text": "text",
}  # fmt: skip
# Of a run with thousands of calls, the first and the last ones.
_MOST_CALLS: Final = 200
_LONGEST: Final = 2000
_LONGEST_TEXT: Final = 6000
_LONGEST_TITLE: Final = 100
_LONGEST_LINE: Final = 160
_MOST_ERRORS: Final = 50
_MOST_METADATA: Final = 50
_MOST_TOOLS: Final = 10


def shown(asked: PageRequest) -> PageView:
    """Show the runs, the newest first."""
    wanted: dict[str, Any] = {name: asked.text(each) for each, name in _FILTERS.items()}
    wanted["failed"] = optional_choice_of("failed", asked.text("failed"), ("yes",)) is not None
    found: list[RunAnswer] = []
    problem = None
    try:
        found = list_runs(
            **wanted,
            limit=_ROWS + 1,
            after=asked.text("cursor"),
            project=asked.project,
        )
    except UnknownId as error:
        problem = str(error)
    values = {
        "runs": found[:_ROWS],
        "groups": _by_session(found[:_ROWS]),
        "next": found[_ROWS - 1].cursor if len(found) > _ROWS else None,
        "problem": problem,
        "wanted": wanted,
    }
    status = 200 if problem is None else 404
    return PageView("lists/runs.html", "Runs", values, status, is_whole=len(found) <= _ROWS)


def _by_session(runs: Sequence[RunAnswer]) -> list[tuple[str, list[RunAnswer]]]:
    """Return runs by session, that of the newest run first; "" for those of no session."""
    groups: dict[str, list[RunAnswer]] = {}
    for run in runs:
        groups.setdefault(session_in(run.outcome_id).partition(":")[2], []).append(run)
    return list(groups.items())


def one(asked: PageRequest) -> PageView:
    """Show one run."""
    with asked.reading() as connection:
        run = find_run(connection, asked.project, asked.named["id"])
    line = time_line_of(run.calls)
    half = _MOST_CALLS // 2
    are_cut = len(line.bars) > _MOST_CALLS
    bars = (*line.bars[:half], *line.bars[-half:]) if are_cut else line.bars
    errors, problem = _errors(asked, run.task_id)
    values = {
        "run": run,
        "verdict": _verdict(run.success),
        "line": line,
        "bars": [(bar, _line(bar.call), _texts(bar)) for bar in bars],
        "left_out": len(line.bars) - len(bars),
        "half": half,
        "failed_calls": sum(bar.failed for bar in line.bars),
        "failed_tools": list(
            dict.fromkeys(bar.call.tool for bar in line.bars if bar.failed and bar.call.tool)
        )[:_MOST_TOOLS],
        "texts": _told(run),
        "handed": [
            (each, [(entry, link_to_entry(asked, entry.kind, entry.id)) for entry in each.entries])
            for each in run.handed
        ],
        "record": _record(run),
        "reports": _reports(run),
        "errors": errors,
        "problem": problem,
    }
    task = " ".join((run.instruction or "").split())
    title = _beginning(task, _LONGEST_TITLE) if task else f"Run {run.outcome_id}"
    return PageView("details/run.html", title, values)


def _verdict(success: bool | None) -> str:
    word = verdict_of(success)
    return "unknown" if word == "none" else word


def _line(call: CallDetails) -> str:
    """Return what a call was about, in one line: its command, or its arguments that are texts."""
    given = call.args if isinstance(call.args, dict) else {}
    texts = [each for each in given.values() if isinstance(each, str) and each != LEFT_OUT]
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join(map(str, command))
    line = command if isinstance(command, str) else ", ".join(texts)
    return _beginning(" ".join(line.split()), _LONGEST_LINE)


def _beginning(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _texts(bar: Bar) -> list[tuple[str, str]]:
    """Return the texts of a call apart from its tool and its time."""
    call = bar.call
    known = (("error", call.error), ("arguments", call.args), ("result", call.result))
    texts = [(name, _text(raw)) for name, raw in known]
    if call.actor:
        texts.append(("made by", call.actor))
    return [(name, text) for name, text in texts if text]


def _text(given: object) -> str:
    """Return a reported text for people, bounded."""
    if given is None or given == {}:
        return ""
    if isinstance(given, str):
        return _cut(given, _LONGEST)
    written = msgspec.json.format(msgspec.json.encode(given), indent=1).decode()
    return _cut(written, _LONGEST)


def _cut(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… ({left} more characters)"


def _told(run: RunDetails) -> list[tuple[str, str]]:
    """Return the agent's own report on the run, in words."""
    texts = (
        ("Task", run.instruction),
        ("What was done", run.description),
        ("Strategy", run.strategy),
        ("Why it failed", run.failure_details),
        ("Way of failing", run.failure_mode),
    )
    return [(name, _cut(text, _LONGEST_TEXT)) for name, text in texts if text]


def _record(run: RunDetails) -> list[tuple[str, str]]:
    """Return what else is on record, as far as it was reported."""
    known = (
        ("Outcome", run.outcome_id),
        ("Trigger", run.trigger),
        ("Checked by", ", ".join(run.check_commands)),
        ("Model", run.model),
        ("Branch", run.branch),
        ("Commits", ", ".join(run.commits)),
        ("Files touched", ", ".join(run.files_touched)),
    )
    shown = {name: text for name, text in known if text}
    for name, text in _named_metadata(run.metadata):
        # A source may repeat what has a field of its own.
        shown.setdefault(name, text)
    return [(name, _cut(text, _LONGEST)) for name, text in shown.items() if text]


def _named_metadata(metadata: object) -> Iterator[tuple[str, str]]:
    """Yield what a source reported beyond the known fields, each under its own name."""
    if not isinstance(metadata, dict):
        yield "More", _text(metadata)
        return
    for name, value in list(metadata.items())[:_MOST_METADATA]:
        words = str(name).replace("_", " ").strip()
        yield _beginning(words[:1].upper() + words[1:], _LONGEST_TITLE), _text(value)
    if len(metadata) > _MOST_METADATA:
        yield "More", f"{len(metadata) - _MOST_METADATA} further fields"


def _reports(run: RunDetails) -> list[dict[str, object]]:
    return [
        {
            "at": each.received_at,
            "what": f"{_verdict(each.success)} (by {each.outcome_source})",
            "by": each.by,
            "reason": "; ".join(
                f"{ground.kind}: {ground.says}" if ground.says else ground.kind
                for ground in each.grounds
            ),
        }
        for each in run.amendments
    ]


def _errors(asked: PageRequest, task_id: str) -> tuple[list[TaskError], str | None]:
    """Return the errors of the task that are still in flight, or why they are not known."""
    settings = asked.service.settings
    try:
        with asked.redis() as client:
            store = InFlightStore(client, settings.keys, asked.project, settings.errors)
            task = store.read(task_id)
    except TrackrecordError as error:
        return [], str(error)
    return list(task.errors[:_MOST_ERRORS]), None
