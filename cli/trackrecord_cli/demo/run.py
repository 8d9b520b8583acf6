"""Running the demo: servers up, fleet out, wait, consolidate, read the rankings."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trackrecord.errors import DemoFailed
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.patterns.standing import Standing
from trackrecord.process.python_command import python_command
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.experience.patterns import patterns_of
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.competences.read import read_competences
from trackrecord.store.database.engine import reading
from trackrecord.store.database.migrate import store_at
from trackrecord.store.intake.status import read_store_status
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services
from trackrecord_worker.up.daemon import Daemon

from .planted import PROCEDURES, PROJECT, STRATEGIES

_POLL_S = 0.1
_DEADLINE_S = 300.0


def run_demo(
    *, agents: int, outcomes: int, seed: int, step: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Run the demo in a temporary home, which is removed at the end.

    Returns learnt and planted effects as one JSON object; rates are 0..1.

    Args:
        agents: processes that publish.
        outcomes: how many in all.
        seed: of the simulation.
        step: told what is happening, how much of it is done, and of how much.

    Raises:
        DemoFailed: something did not get through in time.
    """
    with tempfile.TemporaryDirectory(prefix="trackrecord-demo-") as folder:
        # As on a server: two processes of a Celery worker learn, which consolidate when asked to.
        settings = load_settings(
            home=Path(folder), redis_url=None, database_url=None, worker_concurrency=2
        )
        log_path = Path(folder) / "worker.log"
        with log_path.open("wb") as log:
            step("starting Redis, a worker and beat", 0, 0)
            with Daemon(settings, log=log):
                return _simulate(settings, agents, outcomes, seed, step)


def _simulate(
    settings: Settings,
    agents: int,
    outcomes: int,
    seed: int,
    step: Callable[[str, int, int], None],
) -> dict[str, Any]:
    with store_at(settings.effective_database_url, migrates=False) as engine:

        def learnt() -> int:
            with reading(engine) as connection:
                return count_outcomes(connection, None).outcomes

        def consolidations() -> float:
            with reading(engine) as connection:
                return read_store_status(connection, None).last_consolidation or 0.0

        started = time.monotonic()
        with _fleet(settings, agents, outcomes, seed) as processes:
            _until(
                lambda: learnt() >= outcomes,
                each_time=lambda: step("publishing and learning", learnt(), outcomes),
                alive=lambda: _check(processes),
            )
        seconds = time.monotonic() - started
        step("consolidating", 0, 0)
        create_app(settings).send_task("trackrecord.consolidate")
        _until(lambda: consolidations() > 0)
        reader = RankingsReader(settings)
        _until(lambda: _has_records(reader))
        # The worker leaves twenty times as long between two counts as one takes.
        Services(settings, None).adviser.advise(PROJECT, force=True)
        with reading(engine) as connection:
            project_id = project_id_of(connection, PROJECT)
            assert project_id is not None  # noqa: S101 - its outcomes have been learnt
            it = Transaction(connection, settings, PROJECT)
            standings = [each.standing for each in patterns_of(it)]
            records = read_competences(connection, project_id)
        rankings = reader.read(project=PROJECT, budget=500)
        return {
            "outcomes": outcomes,
            "agents": agents,
            "seconds": round(seconds, 2),
            "outcomes_per_s": round(outcomes / seconds),
            "strategies": list(_strategies(standings)),
            "procedures": list(_procedures(records)),
            "prompt": rankings.prompt,
            "tokens": rankings.tokens,
            "left_out": rankings.left_out,
        }


def _has_records(reader: RankingsReader) -> bool:
    """Return whether records are cached, whether or not they then fit a prompt's budget."""
    document = reader.cached(PROJECT).document
    return document is not None and bool(document.competences)


@contextmanager
def _fleet(
    settings: Settings, agents: int, outcomes: int, seed: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    environment = {**os.environ, **settings.as_environment()}
    processes = [
        subprocess.Popen(  # noqa: S603 - our own module
            python_command(
                "trackrecord_cli.demo.agent",
                "--seed", str(seed),
                "--agent", str(agent),
                "--outcomes", str(outcomes // agents + (agent < outcomes % agents)),
            ),
            env=environment,
            # Ctrl-C reaches the terminal's whole foreground; the demo ends its agents itself.
            start_new_session=True,
        )
        for agent in range(agents)
    ]  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _check(processes: list[subprocess.Popen[bytes]]) -> None:
    failed = [process.returncode for process in processes if process.poll()]
    if failed:
        message = f"an agent of the demo ended with status {failed[0]}"
        raise DemoFailed(message)


def _until(
    done: Callable[[], bool],
    *,
    each_time: Callable[[], None] = lambda: None,
    alive: Callable[[], None] = lambda: None,
) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while not done():
        each_time()
        alive()
        if time.monotonic() > deadline:
            message = f"nothing more happened within {_DEADLINE_S:g} s"
            raise DemoFailed(message)
        time.sleep(_POLL_S)
    each_time()


def _strategies(standings: Iterable[Standing]) -> Iterator[dict[str, Any]]:
    learnt = {standing.facts.slug: standing for standing in standings}
    for planted in STRATEGIES:
        standing = learnt.get(planted.slug)
        total = standing.evidence.observations if standing else 0
        yield {
            "id": planted.slug,
            "planted_rate": planted.success_rate,
            "learnt_rate": standing.evidence.succeeded / total if standing and total else None,
            "observations": total,
            "state": _state(standing) if standing else None,
        }


def _state(standing: Standing) -> str:
    return "anti-pattern" if standing.is_inverted else str(standing.state.value)


def _procedures(records: Iterable[Competence]) -> Iterator[dict[str, Any]]:
    learnt = {record.signature: record for record in records}
    for planted in PROCEDURES:
        record = learnt.get(planted.signature)
        yield {
            "trigger": planted.trigger,
            "tools": list(planted.tools),
            "planted_rate": planted.success_rate,
            "learnt_rate": record.performance.success_rate if record else None,
            "learnt_tools": [step.tool for step in record.recipe] if record else None,
            "episodes": (
                record.performance.success_count + record.performance.failure_count if record else 0
            ),
        }
