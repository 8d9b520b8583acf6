"""What is known about artifacts: their task, tool and summary, and what becomes of it."""

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trackrecord
from trackrecord.artifacts.notes import NOTES, note_of
from trackrecord.artifacts.output_records import OutputRecords
from trackrecord.artifacts.store import ArtifactStore, prune_artifacts
from trackrecord.errors import UnknownId
from trackrecord.testing import captured

DAY = 86_400.0
LOG = "2026-11-22 12:00:00 INFO step\n" * 400 + "2026-11-22 12:00:01 ERROR no disk\n"


def of_whom(outputs):
    return [(each.task_id or "", each.tool or "") for each in outputs]


def test_a_stored_output_knows_its_task_tool_and_summary(agent):
    """As the agent was given it; listed by task, and among all."""
    text = trackrecord.summarise(LOG, task_id="build-4711", tool="pytest")
    trackrecord.summarise("y" * 20_000, task_id="build-4712", tool="cat")
    (output,) = trackrecord.list_artifacts("build-4711")
    assert output.id in text
    assert (output.task_id, output.tool, output.kind) == ("build-4711", "pytest", "log")
    assert output.size == len(LOG)
    assert output.summary == text
    assert output.stored_at < output.kept_until
    assert of_whom(trackrecord.list_artifacts()) == [
        ("build-4712", "cat"),
        ("build-4711", "pytest"),
    ]
    assert of_whom(trackrecord.list_artifacts(limit=1)) == [("build-4712", "cat")]
    assert trackrecord.list_artifacts("another") == []
    assert trackrecord.list_artifacts("build-4711", project="elsewhere") == []


def test_equal_outputs_of_two_tasks_are_stored_once_and_listed_for_both(agent):
    """One artifact; each task and tool has an entry, however often it stored the output."""
    for task, tool in (("a", "pytest"), ("b", "pytest"), ("a", "pytest"), ("a", "make")):
        trackrecord.summarise(LOG, task_id=task, tool=tool)
    both = trackrecord.list_artifacts()
    assert sorted(of_whom(both)) == [("a", "make"), ("a", "pytest"), ("b", "pytest")]
    assert len({each.id for each in both}) == 1
    assert len([p for p in agent.glob("artifacts/*/*") if p.name[0] != "."]) == 1
    assert of_whom(trackrecord.list_artifacts("b")) == [("b", "pytest")]


def test_inside_an_attempt_an_output_belongs_to_its_task(agent):
    """Also where the tool is wrapped, is awaited, or runs the attempt of another project."""

    @trackrecord.summarised
    def grep():
        return LOG

    @trackrecord.summarised(name="read_file")
    async def read():
        return LOG + "."

    async def both():
        grep()
        await read()
        await trackrecord.asummarise(LOG + "..", tool="plain")

    with captured():
        with trackrecord.attempt("build-4711"):
            asyncio.run(both())
            functools.partial(grep)()
            trackrecord.summarise(LOG + "...", task_id="another")
        with trackrecord.attempt("of-shop", project="shop"):
            grep()
            trackrecord.summarise(LOG, project="shop")
    assert sorted(of_whom(trackrecord.list_artifacts("build-4711"))) == [
        ("build-4711", "grep"), ("build-4711", "plain"), ("build-4711", "read_file"),
    ]  # fmt: skip
    assert of_whom(trackrecord.list_artifacts("another")) == [("another", "")]
    # The output belongs to the settings' project: there is no task "of-shop" in it.
    assert trackrecord.list_artifacts("of-shop") == []
    assert of_whom(trackrecord.list_artifacts("of-shop", project="shop")) == [("of-shop", "")]


def test_what_is_kept_about_an_output_holds_no_secret(agent):
    """Neither the summary nor the tool nor the file; the output itself comes back as it was."""
    secret = "ghp_" + "a1B2" * 9
    output = f"error: token {secret} was refused\n" * 400
    trackrecord.summarise(output, task_id="t", tool=f"curl {secret}")
    (kept,) = trackrecord.list_artifacts("t")
    assert secret not in kept.summary + kept.tool
    assert "was refused" in kept.summary
    notes = list(agent.glob(f"artifacts/*/{NOTES}/*/*"))
    assert [secret.encode() in note.read_bytes() for note in notes] == [False]
    assert trackrecord.artifact(kept.id, limit=None).data == output.encode()


@pytest.mark.parametrize(
    ("task", "known_as"),
    [(7, "7"), ("t" * 256, "t" * 256), ("t" * 257, ""), ("a\0b", ""), (None, ""), (object(), ""),
     (True, ""), ("\ud800", "?"), ("../../x", "../../x"), ("", "")],
)  # fmt: skip
def test_a_task_that_cannot_be_one_loses_no_output(agent, task, known_as):
    """It is stored without a task, and no name reaches out of the folder."""
    text = trackrecord.summarise(LOG, task_id=task, tool=object())
    assert text != LOG
    assert of_whom(trackrecord.list_artifacts()) == [(known_as, "")]
    assert {path.parts[len(agent.parts)] for path in agent.rglob("*")} == {"artifacts"}


@given(task=st.text(min_size=1, max_size=256), other=st.text(min_size=1, max_size=256))
@settings(max_examples=25)
def test_tasks_are_kept_apart_whatever_their_names(tmp_path_factory, task, other):
    """A task finds its own outputs, and no other one's."""
    home = tmp_path_factory.mktemp("home")
    artifact_id = ArtifactStore(home, "p", retention_s=DAY).put(b"x")
    outputs = OutputRecords(home, "p", retention_s=DAY)
    note = note_of(task, "tool", "text", "summary")
    outputs.note(artifact_id, note)
    expected = [note.task_id] if note.task_id else []
    assert [each.task_id for each in outputs.of_task(task) if note.task_id] == expected
    if note.task_id != note_of(other, "", "", "").task_id:
        assert outputs.of_task(other) == []


def test_notes_expire_with_their_task_and_with_the_artifact(store, outputs, clock, tmp_path):
    """A task that stored it long ago is forgotten while another one keeps the artifact."""
    home = tmp_path / "home"
    artifact_id = store.put(b"shared")
    outputs.note(artifact_id, note_of("old", "x", "text", "s"))
    clock.now += DAY * 0.6
    assert store.put(b"shared") == artifact_id
    outputs.note(artifact_id, note_of("young", "x", "text", "s"))
    clock.now += DAY * 0.6
    assert prune_artifacts(home, DAY, now=clock.now) == 0
    assert [each.task_id for each in outputs.all()] == ["young"]
    clock.now += DAY
    assert prune_artifacts(home, DAY, now=clock.now) == 1
    assert outputs.all() == []
    assert list(home.glob(f"artifacts/*/{NOTES}/*")) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"task_id": 7}', b"\xff"])
def test_a_damaged_note_is_passed_over(store, outputs, tmp_path, damage):
    """The artifact is listed without it; storing it again heals it."""
    artifact_id = store.put(b"x")
    outputs.note(artifact_id, note_of("t", "x", "text", "s"))
    (note,) = (tmp_path / "home").glob(f"artifacts/*/{NOTES}/*/*")
    note.write_bytes(damage)
    assert outputs.of_task("t") == []
    assert [(each.id, each.task_id) for each in outputs.all()] == [(artifact_id, "")]
    outputs.note(artifact_id, note_of("t", "x", "text", "s"))
    assert [each.task_id for each in outputs.of_task("t")] == ["t"]


def test_forgetting_a_task_takes_what_no_other_task_has(store, outputs):
    """Its notes, and the artifacts that it alone stored."""
    shared, own, others = store.put(b"shared"), store.put(b"own"), store.put(b"others")
    for artifact_id, task in ((shared, "t"), (shared, "u"), (own, "t"), (others, "u")):
        outputs.note(artifact_id, note_of(task, "x", "text", "s"))
    assert outputs.forget_task("unknown") == 0
    assert outputs.forget_task("t") == 1
    assert outputs.of_task("t") == []
    assert {each.id for each in outputs.of_task("u")} == {shared, others}
    with pytest.raises(UnknownId):
        store.get(own)
    assert store.get(shared) == b"shared"
    assert outputs.forget_task("t") == 0


def test_many_at_once(agent):
    """Threads that store the same and other outputs for the same and other tasks lose none."""

    def work(number):
        for each in range(10):
            text = f"{each % 3} " * 6000
            assert trackrecord.summarise(text, task_id=f"t{number % 2}", tool="x") != text

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert [len(trackrecord.list_artifacts(f"t{n}")) for n in range(2)] == [3, 3]
    assert len(trackrecord.list_artifacts()) == 6
