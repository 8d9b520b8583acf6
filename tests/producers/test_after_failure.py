"""One line on a call that has just failed, for agents of one's own."""

import asyncio
import time

import pytest

import trackrecord
from trackrecord.learning.advice.moments.calls import TriedCall, TriedCheck, TriedRun
from trackrecord.learning.advice.moments.facts import MomentDocument
from trackrecord.learning.advice.moments.history import CallHistory
from trackrecord.prompt.documents.advice_document import AdviceDocument
from trackrecord.prompt.reading.cache import write_advice
from trackrecord.prompt.reading.client import RankingsReader, given_readers
from trackrecord.settings.settings import load_settings
from trackrecord_producers.delivery.ids import new_id

ERROR = "error: unrecognized subcommand 'bun'"


def tried(line, state="passed"):
    is_bad = state == "not started"
    return TriedCall(
        tool="shell:bun test", ok=not is_bad, line=line, error=ERROR if is_bad else "",
        checks=(TriedCheck("test", state, line, is_whole=True),),
    )  # fmt: skip


def remember(client, settings, calls, *, sessions=3, project="shop", at=1.0, **more):
    """Cache what sessions of these calls show."""
    history = CallHistory()
    for number in range(sessions):
        history.add(TriedRun(number, f"old{number}", time.time() - 60, tuple(calls)))
    document = MomentDocument(repositories={"": history.facts()}, **more)
    advice = AdviceDocument(project=project, revision=sessions, computed_at=at)
    write_advice(client, settings, advice, cost_s=0.0, moments=document)


@pytest.fixture
def known(fake_client, settings):
    """Three sessions in which a launcher failed and the plain line then ran."""
    remember(
        fake_client, settings, [tried("rtk bun run test", "not started"), tried("bun run test")]
    )
    with given_readers.within(RankingsReader(settings, fake_client)):
        yield


def failed(command="rtk bun run test", **more):
    given = {"error": ERROR, "session": new_id(), "project": "shop"}
    return trackrecord.after_failure("bash", command=command, **given | more)


def test_a_known_failure_is_told_with_the_line_that_ran(known):
    """As one marked line, once for a session and an agent."""
    text = failed(session="s1")
    assert text == (
        "trackrecord: `rtk bun run test` failed in each of the last 3 sessions here "
        "(unrecognized subcommand bun); `bun run test` then ran in 3."
    )
    assert failed(session="s1") == ""
    assert failed(session="s1", agent="helper") == text
    assert asyncio.run(
        trackrecord.aafter_failure(
            "bash", command="rtk bun run test", error=ERROR, session="s2", project="shop"
        )
    ) == text  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        {"command": "ls /nowhere", "error": "ls: /nowhere: No such file or directory"},
        {"project": "other"},
        {"error": f"{ERROR}; try `bun run test`"},
    ],
)
def test_nothing_is_told_of_what_is_not_known_or_is_said_already(
    known, fake_client, settings, more
):
    """Of another command, in another project, or where the error names the remedy itself.

    Nor after a success, which ends the streak in a process that goes on.
    """
    assert failed(**more) == ""
    assert failed()
    remember(fake_client, settings, [tried("rtk bun run test")], at=2.0)
    assert failed() == ""


@pytest.mark.parametrize("tool", ["bash", "", None, 7, "x" * 100_000])
@pytest.mark.parametrize("error", ["", None, ValueError(ERROR), "\ud800\0" * 1000, "y" * 3_000_000])
def test_it_never_raises(known, tool, error):
    """Whatever it is given; a text comes back."""
    assert isinstance(trackrecord.after_failure(tool, command="a", error=error), str)


@pytest.mark.faults
def test_a_redis_that_hangs_costs_one_deadline(home, hung_port):
    """And then nothing until it is tried again."""
    settings = load_settings(
        home=home, redis_url=f"redis://127.0.0.1:{hung_port}/0", redis_timeout_s=0.3,
        redis_connect_timeout_s=0.3, retry_after_s=600,
    )  # fmt: skip
    reader = RankingsReader(settings)
    with given_readers.within(reader):
        assert failed() == ""
        assert reader._retry_at > time.monotonic()
        assert failed() == ""
