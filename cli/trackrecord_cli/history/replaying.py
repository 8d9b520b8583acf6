"""`trackrecord evaluate moments`: what recorded sessions would have been told after failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..output.screen import print_table, progress_bar

if TYPE_CHECKING:
    from trackrecord.learning.advice.moments.calls import TriedRun
    from trackrecord.learning.advice.moments.replay import CountedShare, SessionReplay
    from trackrecord.settings.capture_rules import CaptureRules

MOMENTS: Final = "moments"
_RIGHT: Final = {
    "line that runs": "the line ran later in the session",
    "known failure": "the call did not work later in the session",
    "what has to run first": "the call ran later, once that had run",
    "file elsewhere": "the file was opened there later",
    "repeated failure": "the call did not work later",
}


def replay_sessions(rules: CaptureRules, paths: Sequence[Path]) -> SessionReplay:
    """Return what recorded sessions would have been told; nothing is published.

    Args:
        rules: what is kept of a run.
        paths: files and folders of agents' logs.
    """
    from trackrecord.learning.advice.moments.replay import replay, together

    projects = _runs_by_project(rules, paths)
    return together([replay(runs) for _, runs in sorted(projects.items())])


def _runs_by_project(rules: CaptureRules, paths: Sequence[Path]) -> dict[str, list[TriedRun]]:
    from trackrecord.wire.outcome import decode_outcome, encode_body
    from trackrecord.wire.tried_calls import tried_digest, tried_run
    from trackrecord_capture.outcome import outcome_of
    from trackrecord_capture.sources.register import find_logs, known_sources
    from trackrecord_capture.sources.source import ReadRun

    logs = find_logs(known_sources().values(), paths)
    projects: defaultdict[str, list[TriedRun]] = defaultdict(list)
    project_of: dict[str, str] = {}
    seen: set[str] = set()
    with progress_bar(of_bytes=True) as progress:
        bar = progress.add_task("reading", total=sum(log.size for _, log in logs))
        for source, log in logs:
            for read in source.read(log):
                if not isinstance(read, ReadRun) or read.run.outcome_id in seen:
                    continue
                seen.add(read.run.outcome_id)
                outcome = decode_outcome(encode_body(outcome_of(read.run, rules)))
                if digest := tried_digest(outcome):
                    ended_at = outcome.ended_at(read.run.ended_at)
                    run = tried_run(digest, outcome=len(seen), ended_at=ended_at)
                    # Where a recorded folder is gone, its name stands for the repository.
                    projects[project_of.setdefault(run.session, outcome.project)].append(run)
            progress.advance(bar, log.size)
    return dict(projects)


def print_replayed(found: SessionReplay) -> None:
    """Print every figure beside what it is a share of."""
    from trackrecord.resources.operation.status import counted

    click.echo(
        f"{counted(found.sessions, 'session')} with {counted(found.calls, 'call')}, of which "
        f"{found.failures} failed; {counted(found.tested, 'session')} ran tests or tried to"
    )
    print_table(("figure", "value", "95% interval"), _rows(found))


def _rows(found: SessionReplay) -> Iterable[tuple[str, str, str]]:
    yield "hints a session", f"{found.per_session:.2f}", ""
    yield "most hints in a session", str(found.most), ""
    yield _row("sessions without a hint", found.silent)
    yield _row("the same, of those that were told of no standing defect", found.silent_elsewhere)
    for entry, share in found.by_entry:
        yield _row(f"sessions told of: {entry}", share)
    for kind, number in found.hints.items():
        yield f"hints: {kind}", str(number), ""
    for kind, share in found.right.items():
        yield _row(f"right of those that can be judged: {kind} ({_RIGHT[kind]})", share)
    yield _row(
        "told at a kind of check's first failure to start, a line known", found.first_failures
    )
    yield _row("failing calls that were known to fail", found.recalled)
    yield _row("false alarms: working calls that were known to fail", found.false_alarms)
    yield _row("sessions that never got a test to run while a line was known", found.unverified)


def _row(name: str, share: CountedShare) -> tuple[str, str, str]:
    if share.rate is None or share.interval is None:
        return name, "-", ""
    low, high = share.interval
    decimals = 2 if share.rate and share.rate < 0.01 else 0
    return (
        name,
        f"{share.rate:.{decimals}%} ({share.part} of {share.whole})",
        f"{low:.{decimals}%} to {high:.{decimals}%}",
    )
