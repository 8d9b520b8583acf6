"""Two hundred recorded runs of a real agent (τ-bench), from the command line to the records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evaluate.tau_bench import read_tau_bench
from tests.worker.working import until
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_cli.main import run
from trackrecord_worker.up.daemon import Daemon

RUNS = Path(__file__).parents[3] / "shared" / "data" / "tau-bench" / "gpt-4o-airline.json"

pytestmark = pytest.mark.skipif(
    not RUNS.exists(), reason="the τ-bench runs are not beside the repository"
)


@pytest.fixture
def trackrecord(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """The command line; answers what it prints as JSON."""
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)

    def call(*arguments: str) -> Any:
        capfd.readouterr()
        status = run([*arguments, "--json"])
        said = capfd.readouterr()
        assert status == 0, said.err
        return json.loads(said.out)

    return call


def test_what_two_hundred_runs_teach(settings, trackrecord, tmp_path):
    """Through the stream and a real worker; a second time changes nothing."""
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(f"{json.dumps(each.fields)}\n" for each in read_tau_bench(RUNS)))
    with (
        (tmp_path / "worker.log").open("wb") as log,
        Daemon(load_settings(home=settings.home), log=log),
    ):

        def learnt():
            trackrecord("import", "jsonl", str(runs))
            with agent_client(settings) as client:
                until(lambda: client.xlen(settings.keys.outcomes) == 0)
            trackrecord("consolidate")
            return trackrecord("status")

        first = learnt()
        assert (first["outcomes"], first["successes"]) == (200, 84)
        assert (first["signatures"], first["competences"]) == (82, 13)
        assert (first["dead_letters"], first["waiting_episodes"]) == (0, 0)
        records = trackrecord("competences", "list")
        assert len(records) == 13
        covered = sum(
            each["performance"]["success_count"] + each["performance"]["failure_count"]
            for each in records
        )
        assert covered == 87

        second = learnt()
        for name in ("outcomes", "successes", "signatures", "competences", "patterns"):
            assert second[name] == first[name]
        again = trackrecord("competences", "list")
        for before, after in zip(records, again, strict=True):
            # What ages from one second to the next is not a change.
            changed = {name for name, value in before.items() if value != after[name]}
            assert changed <= {"salience_now", "estimate"}
