"""Each kind of lesson: found where it is planted, worded by its counts, silent otherwise."""

import random

import pytest
from msgspec.structs import replace

from tests.learning.advice.histories import DAY, NOW, coding, lessons, run, step, unjudged
from trackrecord.learning.advice.lessons.find import among_judged, find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.lesson import LessonKind, LessonState
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import RunStep


def one(found, kind):
    """The one lesson of a kind."""
    (lesson,) = (each for each in found if each.kind is kind)
    return lesson


def of_kind(found, kind):
    return [each for each in found if each.kind is kind]


def test_what_fails():
    """A tool and an error, in three tasks; the example is the template."""
    runs = [run(n, "find", "book") for n in range(4)]
    runs += [run(n, "find", "book!payment of <n> is missing", task=n % 4) for n in range(4, 12)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"] == (
        "`book` failed in 8 of 12 calls, in 4 tasks: payment of … is missing"
    )
    assert (
        found.lines["zh"]
        == "`book` 的 12 次调用中有 8 次失败,涉及 4 个任务: payment of … is missing"
    )
    assert (found.calls, found.failing_calls, found.runs, found.tasks) == (12, 8, 8, 4)
    assert (found.tools, found.example, found.state) == (
        ("book",), "payment of <n> is missing", LessonState.SEEN,
    )  # fmt: skip
    assert (found.last_seen, found.outcomes) == (NOW - 10 * DAY + 11, tuple(range(11, 3, -1)))


def test_two_tasks_are_not_enough():
    """However often it failed there."""
    assert lessons([run(n, "book!gone", task=n % 2) for n in range(30)]) == ()


def test_like_errors_are_one():
    """A template that differs in a word or a placeholder is the same error."""
    said = (
        "payment method <id> not found",
        "payment method not found",
        "Payment method not found!",
    )
    found = lessons([run(n, f"book!{said[n % 3]}") for n in range(9)])
    assert [each.failing_calls for each in of_kind(found, LessonKind.FAILS)] == [9]


def test_errors_that_say_nothing_count_only_where_a_tool_mostly_fails():
    """An exit status does not tell what went wrong."""
    at_times = [run(n, "sh!exit code <n>" if n % 4 == 0 else "sh") for n in range(40)]
    assert of_kind(lessons(at_times), LessonKind.FAILS) == []
    mostly = [run(n, "sh" if n % 4 == 0 else "sh!exit code <n>") for n in range(40)]
    found = one(lessons(mostly), LessonKind.FAILS)
    assert found.lines["en"].startswith("`sh` failed in 30 of 40 calls, in 30 tasks: most often")


def test_a_check_that_fails_and_passes_later_in_the_run_is_no_lesson():
    """However often it does: it did its work, whichever words it found. Otherwise it is one."""
    red = step("run_tests!AssertionError: assert <n> == <n>")
    runs = [run(n, red, "edit", red, red, "edit", "run_tests", "commit") for n in range(40)]
    assert lessons(runs) == ()
    never = one(lessons([run(n, red, "edit", red) for n in range(40)]), LessonKind.FAILS)
    assert never.failing_calls == 80


@pytest.mark.parametrize("error", ["vitest: not found", "No module named pytest"])
def test_a_check_that_does_not_start_has_failed(error):
    """Although it ran later, and at most other times."""
    broken = f"npm test!{error}"
    runs = [
        run(n, *[broken, "install"] * (n % 5 == 0), "npm test", "npm test", "commit")
        for n in range(40)
    ]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"].startswith("`npm test` failed in 8 of ")
    assert found.failing_calls == 8


def launched(launcher, error=None):
    return RunStep("shell:pytest", error, launcher=launcher)


@pytest.mark.parametrize("bad", ["python -m", "uv run python -m", ""])
def test_the_way_to_call_a_check_that_does_not_start_is_told(bad):
    """Beside the one in which it does: the name of the check alone would say it of both."""
    missing = launched(bad, "No module named pytest")
    found = one(
        lessons([run(n, missing, launched("uv run"), "commit") for n in range(12)]),
        LessonKind.FAILS,
    )
    name = f"{bad} pytest".strip()
    assert found.lines["en"] == (
        f"`shell:{name}` failed in all 12 calls, in 12 tasks: No module named pytest; "
        "`shell:uv run pytest` worked in all 12 calls"
    )
    assert (found.calls, found.failing_calls) == (12, 12)


def test_where_the_way_to_call_it_is_not_why_none_is_told():
    """It does not start in either way at times, or it starts in one as often as not."""
    missing = "No module named pytest"
    either = [
        run(n, launched(("uv run", "python -m")[n % 2], missing if n % 5 == 0 else None), "commit")
        for n in range(80)
    ]
    at_times = [
        run(n, launched("uv run"), launched("python -m", missing if n % 5 == 0 else None), "commit")
        for n in range(80)
    ]
    for runs in (either, at_times):
        found = one(lessons(runs), LessonKind.FAILS)
        assert found.lines["en"].startswith("`shell:pytest` failed in 16 of ")
        assert "worked" not in found.lines["en"]


def test_an_error_that_does_not_tell_what_went_wrong_is_no_lesson():
    """Unless the tool mostly fails with it; nor are the last words of what went well an error."""
    often = [run(n, *["book!the end of it"] * (n % 3), "book", "book") for n in range(40)]
    assert of_kind(lessons(often), LessonKind.FAILS) == []
    mostly = one(lessons([run(n, "book!the end of it") for n in range(9)]), LessonKind.FAILS)
    assert mostly.lines["en"] == "`book` failed in all 9 calls, in 9 tasks"


def test_the_example_is_the_line_of_the_newest_error():
    """Of the commonest form of the error; what is told to agents is masked."""
    runs = [
        run(n, RunStep("book", "user <id> not found", error_line=f"user mia_{n} not found"))
        for n in range(9)
    ]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.example == "user mia_8 not found"
    assert "mia_" not in " ".join(found.lines.values())


def _checked(number, *said, success, task):
    """A run whose verdict rests on its tests and on its type checker, if it ran that."""
    ran = run(number, *said, success=success, task=task)
    tools = [each.tool for each in ran.steps if each.tool in ("tests", "types")]
    return replace(ran, decided_by=tuple(sorted(set(tools))), ended_at=NOW - 1000 + task)


def test_what_decided_does_not_explain_the_verdict():
    """Every second run checks its types as well, which fail in half: more checks, worse record.

    Neither that it checks them, nor how often in a row, nor that it ends in that explains it.
    """
    runs = []
    for n in range(160):
        types = n % 4 < 2
        last = [step("types", 7)] * 3 if types else []
        success = not (types and n % 8 < 4)
        runs.append(_checked(n, "read", "edit", "tests", *last, success=success, task=n // 4))
    assert lessons(runs) == ()


def test_calls_of_the_user_are_told_apart():
    """They are neither the agent's failures nor counted among its calls."""
    runs = [run(n, "reset@user!device is off", "reset") for n in range(9)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"].startswith("`reset`, called by the user, failed in all 9 calls")
    assert (found.actor, found.calls) == ("user", 9)


def test_a_failure_that_stopped_has_faded():
    """It was mended; the lesson stands last, and says so."""
    runs = [run(n, "fetch!no space") for n in range(10)] + [run(n, "fetch") for n in range(10, 40)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.state is LessonState.FADED
    back = [*runs, *(run(n, "fetch!no space") for n in range(40, 42))]
    assert one(lessons(back), LessonKind.FAILS).state is LessonState.ESTABLISHED


def test_a_failure_that_began_lately_is_told_from_then_on():
    """A thousand calls before it broke do not hide it."""
    runs = [run(n, "build") for n in range(1000)]
    runs += [run(n, "build!no space") for n in range(1000, 1010)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"].startswith("`build` failed in all of the last 10 calls, in 10 tasks")
    assert found.interval[0] > 0.6


def test_old_lessons_fade():
    """After ten half-lives nothing counts any more."""
    runs = [run(n, "book!gone") for n in range(9)]
    (young,), (old,) = lessons(runs), lessons(runs, now=NOW + 900 * DAY)
    assert old.strength < young.strength / 100
    assert (young.state, old.state) == (LessonState.ESTABLISHED, LessonState.FADED)
    assert young.id == old.id


def test_what_a_tool_needs_first():
    """The counts of both arms; the other way round is not told again."""
    chance = random.Random(1)
    runs = []
    for n in range(80):
        verified = n % 2 == 0
        worked = chance.random() < (0.95 if verified else 0.3)
        call = "refund" if worked else f"refund!code {'abcdefgh'[n % 8] * 9} {'xyz'[n % 3] * 9}"
        runs.append(run(n, *(["verify"] if verified else []), call, "close"))
    found = one(lessons(runs), LessonKind.NEEDS_FIRST)
    assert found.tools == ("refund", "verify")
    assert found.lines["en"].startswith("`refund` succeeded in ")
    assert "of 40 calls with `verify` earlier in the run" in found.lines["en"]
    assert found.effect > 0.4
    assert found.interval[0] > 0.2
    # Seven uses without it that all work are no chance where three of ten did.
    mended = [*runs, *(run(n, "refund", "close") for n in range(80, 87))]
    assert one(lessons(mended), LessonKind.NEEDS_FIRST).state == "faded"
    assert one(lessons(mended[:-4]), LessonKind.NEEDS_FIRST).state != "faded"


@pytest.mark.parametrize(("tool", "usually"), [("refund", 0.7), ("pytest", 0.2)])
def test_what_needs_nothing(tool, usually):
    """What mostly works without the other call, and a check that passes once work is done."""
    chance = random.Random(1)
    runs = []
    for n in range(400):
        verified = n % 2 == 0
        worked = chance.random() < (0.97 if verified else usually)
        call = tool if worked else f"{tool}!code {'abcdefgh'[n % 8] * 9} {'xyz'[n % 3] * 9}"
        runs.append(run(n, *(["verify"] if verified else []), call, "close"))
    assert not [each for each in lessons(runs) if each.kind is LessonKind.NEEDS_FIRST]


def test_a_tool_that_fails_at_times_for_no_reason_that_is_told():
    """Says nothing to act on; one that mostly fails is told all the same."""
    said = [
        [each.lines["en"] for each in lessons(runs)]
        for share in (8, 2)
        for runs in [
            [run(n, "push!gtn fhwq uvn" if n % share == 0 else "push", "close") for n in range(80)]
        ]
    ]
    assert said == [[], ["`push` failed in 40 of 80 calls, in 40 tasks"]]


def test_what_successes_tell_is_counted_among_runs_with_a_verdict():
    """However many others there are, and whatever they did: the same lines, about the same runs."""
    runs = [replace(each, outcome=2 * each.outcome) for each in coding(3, 480)]
    runs += [run(2 * n, "read", "give up", success=False) for n in range(480, 520)]
    others = [unjudged(2 * n + 1, *each.steps, task=n % 7) for n, each in enumerate(runs)]

    def found(some):
        history = history_of(some)
        return [
            (each.lines, [history.runs[position].outcome for position in each.positions])
            for each in among_judged(find_completions)(history, LessonRules())
        ]

    assert found(runs)
    assert found(runs + others) == found(runs)


def test_what_then_works_instead():
    """Both numbers in one line, with the failure."""
    runs = [
        run(n, step("npm test!vitest: not found", 1), step("pnpm test", 2), "commit")
        for n in range(9)
    ]
    runs += [run(n, step("npm test!vitest: not found", 1), "commit") for n in range(9, 17)]
    runs += [run(17, "npm test", "commit"), run(18, "pnpm test!2 failed", "commit")]
    runs += [run(n, "pnpm test", "commit") for n in range(19, 32)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"] == (
        "`npm test` failed in 17 of 18 calls, in 17 tasks: vitest: not found; `pnpm test`, which "
        "took its place in 9 runs, worked in 22 of 23 calls"
    )
    assert found.tools == ("npm test", "pnpm test")


def test_a_call_that_ends_the_run_is_not_a_remedy():
    """Neither in place of a tool, nor when the tool is tried again."""
    runs = [run(n, "npm test!not found", "pnpm test") for n in range(20)]
    runs += [run(n, "book!full", "book") for n in range(20, 40)]
    said = " ".join(line for each in lessons(runs) for line in (*each.lines.values(), *each.also))
    assert "took its place" not in said
    assert "tried again" not in said


def test_what_a_call_needs_first_is_told_with_its_failure():
    """Where the same runs show both, as they do when the retry ends each run."""
    runs = [run(n, "refund!order is not loaded", "get_order", "refund") for n in range(12)]
    (found,) = lessons(runs)
    assert found.has_way_out
    assert found.lines["en"] == (
        "`refund` failed in 12 of 24 calls, in 12 tasks: order is not loaded; it succeeded in 12 "
        "of 12 calls with `get_order` earlier in the run, in 0 of 12 calls without"
    )
    (alone,) = lessons([run(n, "refund!order is not loaded", "look") for n in range(12)])
    assert not alone.has_way_out


def test_trying_again():
    """How often it then worked, what came before, and who gave up."""
    runs = [run(n, "edit", "commit") for n in range(20)]
    runs += [run(n, "edit!text not found", "read", "edit", "commit") for n in range(20, 48)]
    runs += [run(n, "edit!text not found", "commit") for n in range(48, 50)]
    found = one(lessons(runs), LessonKind.FAILS)
    assert found.lines["en"].endswith(
        "; tried again, it worked in 28 of 28 runs (28 times right after `read`); 2 runs gave up"
    )
