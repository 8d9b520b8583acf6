"""`import trackrecord` hands on what an agent needs, lazily and at next to no cost."""

import compileall
import shutil
from pathlib import Path

import pytest

import trackrecord
import trackrecord_capture
import trackrecord_producers
from tests.support import public_stub


@pytest.mark.parametrize("name", trackrecord.__all__)
def test_each_public_name_is_there_and_listed(name):
    """Each name of `__all__` can be used and is in `dir()`."""
    assert callable(getattr(trackrecord, name))
    assert name in dir(trackrecord)


def test_dir_shows_nothing_else():
    """What a person sees who completes `trackrecord.` are the public names, and no module."""
    assert [name for name in dir(trackrecord) if name[:2] != "__"] == trackrecord.__all__


def test_type_checkers_know_the_same_names():
    """`python -m tests.support.public_stub` writes anew what they read."""
    assert public_stub.PATH.read_text(encoding="utf-8") == public_stub.stub()


def test_no_source_is_needed(tmp_path, agent, client):
    """Compiled and without its sources, the package has every name and publishes."""
    for package in (trackrecord, trackrecord_producers, trackrecord_capture):
        folder = Path(package.__file__).parent
        copy = tmp_path / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        assert compileall.compile_dir(copy, quiet=2, legacy=True)
        for source in copy.rglob("*.py"):
            source.unlink()
    done = agent(
        """
        import trackrecord
        assert trackrecord.__file__.endswith(".pyc")
        for name in trackrecord.__all__:
            getattr(trackrecord, name)
        assert trackrecord.publish(task_id="t", success=True)
        assert trackrecord.flush(60)
        """,
        PYTHONPATH=str(tmp_path),
        PYTHONSAFEPATH="1",
    )
    assert done.returncode == 0, done.stderr
    assert client.xlen("trackrecord:outcomes") == 1


def test_rankings_is_the_function_also_when_its_types_were_imported_first(agent):
    """An agent may import the answer's types before it calls the function."""
    done = agent(
        """
        from trackrecord.prompt.answers.rankings_answer import Rankings
        import trackrecord
        assert isinstance(trackrecord.rankings(), Rankings)
        from trackrecord_producers.prompting import rankings_call
        assert trackrecord.rankings is rankings_call.rankings
        """
    )
    assert done.returncode == 0, done.stderr


def test_publishing_and_reading_rankings_import_nothing_that_an_agent_does_not_need(agent, client):
    """An agent's memory is not spent on the daemon's libraries, nor on prompts before it asks."""
    done = agent(
        """
        import sys
        import trackrecord
        def imported(*packages):
            beginnings = tuple(f"{package}." for package in packages)
            return sorted(name for name in sys.modules if f"{name}.".startswith(beginnings))
        servers = (
            "pydantic", "pydantic_settings", "sqlalchemy", "celery", "kombu", "structlog", "click",
            "rich", "httpx", "trackrecord.settings.settings",
            "trackrecord.settings.daemon_settings", "trackrecord.store", "trackrecord_worker",
            "trackrecord_cli",
        )
        prompts = (
            "trackrecord.learning.text.inert", "trackrecord.learning.text.width",
            "trackrecord.learning.text.words", "trackrecord.learning.patterns",
            "trackrecord.learning.competences", "trackrecord.prompt.reading.client",
            "trackrecord.prompt.reading.context", "trackrecord.inflight.classification",
            "trackrecord.inflight.store", "trackrecord.inflight.errors",
        )
        # What writes the lines that an agent reads ready, metadata of packages, settings' files.
        never = (
            "trackrecord.learning.text.inert", "trackrecord.learning.patterns.texts",
            "trackrecord.learning.competences.texts", "trackrecord.learning.competences.rules",
            "trackrecord.learning.memories.texts", "trackrecord.learning.patterns.evidence",
            "trackrecord.learning.advice.runs.runs",
            "trackrecord.prompt.answers.why", "trackrecord.prompt.reading.context", "email.parser",
            "encodings.idna", "tomllib",
        )
        trackrecord.publish(task_id="t", success=True)
        assert trackrecord.flush(60)
        print(imported(*servers, *prompts, *never))
        trackrecord.rankings(task="fix the build")
        print(imported(*servers, *never))
        """,
        TRACKRECORD_DATABASE_URL="postgresql://nowhere/at-all",  # an environment may be shared
    )
    assert done.stdout.splitlines() == ["[]", "[]"], done.stderr
