"""A trackrecord that is up, and its command line."""

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.folder_scope import shared_in
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings
from trackrecord_cli.main import run
from trackrecord_producers.prompting.rankings_call import publish_exposure
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.up.daemon import Daemon

_numbers = itertools.count(1)
_UP = pytest.StashKey[Path]()


@dataclass(frozen=True)
class Ran:
    """The result of one command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


Trackrecord = Callable[..., Ran]


@pytest.fixture
def trackrecord(capfd: pytest.CaptureFixture[str]) -> Trackrecord:
    """Runs one command in this process."""

    def call(*arguments: object) -> Ran:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Ran(status, out, err)

    return call


@pytest.fixture(scope="module")
def up_home(request: pytest.FixtureRequest) -> Path:
    """The home of a trackrecord that is up for all tests of this folder; each has a project."""
    return shared_in(Path(__file__).parent, request, _UP, _up)


@contextmanager
def _up() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        with (home / "worker.log").open("wb") as log, Daemon(load_settings(home=home), log=log):
            yield home


@pytest.fixture
def up(up_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of this test reach the trackrecord that is up."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(up_home))
    return up_home


@pytest.fixture
def nothing_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of this test find no server."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    return home


@pytest.fixture
def project() -> str:
    """A project of this test's own."""
    return f"project-{next(_numbers)}"


@pytest.fixture
def outcomes_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of lines: objects as JSON, texts as they are."""

    def write(*lines: object) -> Path:
        path = tmp_path / "outcomes.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    return write


@pytest.fixture
def learnt(
    up: Path,
    trackrecord: Trackrecord,
    project: str,
    outcomes_file: Callable[..., Path],
) -> Callable[..., None]:
    """Publishes outcomes into the test's project and waits."""

    def publish(*outcomes: object) -> None:
        path = outcomes_file(*outcomes)
        assert trackrecord("publish", path, "--project", project, "--wait").status == 0

    return publish


@pytest.fixture
def publisher(up: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """The publisher of an agent that finds this daemon; another test's may be in its place."""
    publisher = Publisher(load_settings)
    monkeypatch.setattr("trackrecord_producers.publishing.publish._publisher", publisher)
    yield publisher
    publisher.close()


@pytest.fixture
def handed(
    publisher: Publisher, learnt: Callable[..., None], project: str, trackrecord: Trackrecord
) -> Callable[..., None]:
    """Publish tasks with advice and a holdout, and their outcomes."""

    def work(
        tasks: int = 60,
        *,
        with_advice: Callable[[int], bool] = lambda _: True,
        without: Callable[[int], bool] = lambda _: True,
    ) -> None:
        learnt({"task_id": "first", "success": True, "patterns": ["one"]})
        assert trackrecord("effect", "--enable", "--holdout", 0.5, "--project", project).status == 0
        reader = RankingsReader(load_settings())
        outcomes = []
        for number in range(tasks):
            task_id = f"{project}-{number}"
            answer = reader.read(project=project, task_id=task_id)
            assert publish_exposure(answer.exposure) is not None
            success = (with_advice if answer.arm == "given" else without)(number)
            outcomes.append({"task_id": task_id, "success": success, "patterns": ["one"]})
        assert publisher.flush(30)
        learnt(*outcomes)

    return work
