"""What an agent is handed: once, within a budget, its own project's, and measured."""

import msgspec
import pytest

from tests.capture.made_runs import run_of
from tests.prompt.advised import known_pattern as pattern
from tests.support.prompt_answers import answer_from
from trackrecord.learning.advice.moments.facts import UsualLine
from trackrecord.learning.patterns.texts import TextRules
from trackrecord.process.machines import this_machine
from trackrecord.prompt.documents.advice_document import AdviceDocument, LessonEntry
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.question.wording import AS_ADVICE, Wording
from trackrecord.prompt.reading.cache import write_advice, write_document
from trackrecord.settings.daemon_settings import HookSettings
from trackrecord_capture.live.hook_answers import HookAnswers, HookPost, attributed
from trackrecord_capture.live.session_marks import SessionMarks
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import own_tool_names


@pytest.fixture
def known(client, settings):
    """Two projects with rankings."""

    def write(**parts):
        for project, slug in (("shop", "tests-first"), ("other", "secret-of-another")):
            document = RankingsDocument(
                project=project, revision=1, computed_at=1_800_000_000.0,
                patterns=(pattern(slug, 8, 0),), anti_patterns=(pattern("big-bang", 1, 6),),
                **parts,
            )  # fmt: skip
            write_document(client, settings, document)

    write()
    return write


@pytest.fixture
def published():
    return []


@pytest.fixture
def handing(settings, published):
    return HookAnswers(
        settings, HookSettings(), lambda folder: folder.split("/")[-1], published.append
    )


def start(session="s1", folder="/src/shop"):
    return HookPost(hook_event_name="SessionStart", session_id=session, cwd=folder)


def prompt(session="s1", folder="/src/shop", text="Fix the login", prompt_id="p1"):
    return HookPost(
        hook_event_name="UserPromptSubmit", session_id=session, cwd=folder, prompt=text,
        prompt_id=prompt_id,
    )  # fmt: skip


def task_of(agent, session, prompt_id, text="Fix the login"):
    """Return the task of the outcome that is made of the same run's transcript."""
    run = run_of(agent=agent, session=session, prompt=prompt_id, instruction=text)
    return outcome_of(run)["task_id"]


def test_a_session_is_told_once_what_its_project_knows(known, handing):
    """Facts, of this project alone."""
    text = handing.answer("codex", start())
    assert "in the project shop" in text
    assert '- an agent\'s strategy "tests-first" [PROVEN - 8 of 8 runs succeeded]' in text
    assert "secret-of-another" not in text
    assert handing.answer("codex", start()) == ""
    assert handing.answer("claude-code", start())


def test_nothing_in_it_is_an_order(known, handing):
    """Not even where a strategy fails."""
    text = handing.answer("codex", start())
    assert '"big-bang". Failed 6/7 times' in text
    assert "avoid" not in text.lower()


def test_a_session_is_told_no_words_of_one_agent(known, client, settings, handing):
    """Words of an error that one agent alone reported stand in no session's beginning."""
    line = "`npm` failed in 9 of 9 calls, in 5 tasks"
    lesson = LessonEntry(
        id="a", kind="fails", tools=("npm",), state="established", score=0.9, runs=9, tasks=5,
        last_seen=0.0, names=("eresolve",), lines={"en": f'{line}: "ERESOLVE"'},
        wordless_lines={"en": line},
    )  # fmt: skip
    advice = AdviceDocument(project="shop", revision=1, computed_at=0.0, lessons=(lesson,))
    write_advice(client, settings, advice, cost_s=0.0)
    assert f"- {line}\n" in handing.answer("codex", start())
    asked = prompt(session="s2", text="Fix ERESOLVE")
    assert f'- {line}: "ERESOLVE"\n' in handing.answer("codex", asked)


def test_an_agent_is_told_of_its_own_tools(known, client, settings, handing):
    """In the words that it has for them; an agent that is not known hears the common words."""
    line = "`edit` failed in 9 of 9 calls, in 5 tasks; it worked later, after `read` and `shell:ls`"
    lesson = LessonEntry(
        id="a", kind="fails", tools=("edit", "read"), state="established", score=0.9, runs=9,
        tasks=5, last_seen=0.0, lines={"en": f'{line}: "edit `edits` first"'},
        wordless_lines={"en": line},
    )  # fmt: skip
    advice = AdviceDocument(
        project="shop", revision=1, computed_at=0.0, lessons=(lesson,),
        tool_names=own_tool_names(),
    )  # fmt: skip
    write_advice(client, settings, advice, cost_s=0.0)
    for agent, edit, read in (
        ("claude-code", "Edit", "Read"),
        ("codex", "apply_patch", "read_file"),
        ("opencode", "edit", "read"),
        ("another", "edit", "read"),
    ):
        told = line.replace("`edit`", f"`{edit}`").replace("`read`", f"`{read}`")
        assert f"- {told}\n" in handing.answer(agent, start(session="s3"))


def test_a_session_is_told_of_a_check_that_never_starts(known, client, settings, handing):
    """In one line, on the machine where that is so; the holdout hears nothing of it."""
    said = "Tests ran in this repository with `bun run test`; `rtk bun run test` has failed."
    other = "Tests ran elsewhere."
    advice = AdviceDocument(
        project="shop", revision=1, computed_at=0.0, standing={this_machine(): said, "m2": other}
    )
    write_advice(client, settings, advice, cost_s=0.0)
    text = handing.answer("codex", start())
    assert text.count(said) == 1
    assert other not in text
    assert said not in handing.answer("codex", prompt())
    # A lesson of the same calls is not told beside it, neither then nor with the first prompt.
    line = "`shell:rtk bun test` failed in 9 of 9 calls, in 5 tasks"
    lesson = LessonEntry(
        id="a", kind="fails", tools=("shell:bun test",), state="established", score=0.9, runs=9,
        tasks=5, last_seen=0.0, names=("eresolve",), lines={"en": f'{line}: "ERESOLVE"'},
        wordless_lines={"en": line},
    )  # fmt: skip
    for at, same, session in (1.0, ("a",), "same"), (2.0, (), "others"):
        again = msgspec.structs.replace(
            advice, computed_at=at, lessons=(lesson,), standing_lessons=same
        )
        write_advice(client, settings, again, cost_s=0.0, force=True)
        started = handing.answer("codex", start(session=session))
        asked = handing.answer("codex", prompt(session=session, text="Fix ERESOLVE"))
        assert started.count(said) == 1
        assert (line in started, line in asked) == (not same, not same)
    known(holdout=0.999)
    write_advice(client, settings, advice, cost_s=0.0)
    assert handing.answer("codex", start(session="held out")) == ""


NEVER = "Not here: `**/CONVENTIONS.md` (sought in the last 3 sessions that did)."
USUAL = (UsualLine("test", "mise run test", 18, 20), UsualLine("lint", "mise run lint", 12, 20))
SAID = AdviceDocument(project="shop", revision=1, computed_at=0.0, usual=USUAL, never=NEVER)


def test_a_session_is_told_of_the_lines_that_most_run(known, client, settings, handing, tmp_path):
    """First, and without those that stand in what the agent reads by itself."""
    shop = tmp_path / "shop"
    shop.mkdir()
    write_advice(client, settings, SAID, cost_s=0.0)
    told = handing.answer("codex", start(folder=str(shop)))
    said = (
        "Ran here: tests `mise run test` (in 18 of the last 20 sessions), linter `mise run lint` "
        "(in 12)."
    )
    assert told.partition("\n\n")[2].startswith(f"- {said}\n- {NEVER}\n\n## ")
    assert said not in handing.answer("codex", prompt(folder=str(shop)))
    (shop / "AGENTS.md").write_text("Run the tests with `mise run test`.\n")
    told = handing.answer("codex", start(session="s2", folder=str(shop)))
    assert "- Ran here: linter `mise run lint` (in 12 of the last 20 sessions).\n" in told
    (shop / "CLAUDE.md").write_bytes(b"\xff mise run lint")
    assert "Ran here" not in handing.answer("codex", start(session="s3", folder=str(shop)))


def test_a_secret_that_is_on_record_is_not_handed_out(client, settings, handing):
    """Not even one that somebody stored on purpose."""
    entry = pattern("tests-first", 8, 0)
    lines = {"en": "- set API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 first", "zh": "-"}
    document = RankingsDocument(
        project="shop", revision=1, computed_at=1_800_000_000.0,
        patterns=(msgspec.structs.replace(entry, lines=lines),),
    )  # fmt: skip
    write_document(client, settings, document)
    text = handing.answer("codex", start())
    assert "API_TOKEN=<secret>" in text


def test_the_first_prompt_repeats_nothing(known, handing):
    """What the session start has said is not said again; without it, the prompt says it."""
    handing.answer("codex", start())
    assert handing.answer("codex", prompt()) == ""
    assert "tests-first" in handing.answer("codex", prompt(session="s2"))
    assert handing.answer("codex", prompt(session="s2", prompt_id="p2")) == ""


def test_what_a_run_was_handed_is_reported_under_its_outcome(known, handing, published):
    """Once for a session: both what it got when it started and with its first prompt."""
    handing.answer("codex", start())
    assert published == []
    handing.answer("codex", prompt())
    handing.answer("codex", prompt(prompt_id="p2"))
    (exposure,) = published
    assert (exposure.task_id, exposure.project) == (task_of("codex", "s1", "p1"), "shop")
    assert exposure.entries
    assert not exposure.withheld


def test_a_session_of_the_holdout_gets_nothing_at_all(known, client, settings, handing, published):
    """Neither when it starts nor with its prompt, of no kind, and that is reported."""
    known(holdout=0.9)
    write_advice(client, settings, SAID, cost_s=0.0)
    for number in range(40):
        session = f"s{number}"
        texts = [
            handing.answer("codex", start(session=session)),
            handing.answer("codex", prompt(session=session)),
        ]
        exposure = published[-1]
        assert exposure.task_id == task_of("codex", session, "p1")
        assert exposure.entries
        assert any(texts) is not exposure.withheld
        assert (NEVER in texts[0]) is not exposure.withheld
    assert {each.withheld for each in published} == {True, False}
    assert {each.holdout for each in published} == {0.9}


@pytest.mark.parametrize(
    "asked",
    [
        start(folder="/src/unknown"), start(session=""), start(session="../../etc"),
        start(session="s" * 200), start(folder=None),
        HookPost(hook_event_name="Stop", session_id="s1", cwd="/src/shop"),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_say_nothing_is_said(known, handing, asked):
    """An unknown project, and a question that makes no sense."""
    assert handing.answer("codex", asked) == ""


def test_without_redis_nothing_is_said(settings, handing):
    """No error reaches the agent."""
    assert handing.answer("codex", start()) == ""


@pytest.mark.parametrize(
    "rules",
    [HookSettings(inject=False), HookSettings(session_tokens=0), HookSettings(session_tokens=5)],
)
def test_a_budget_that_leaves_no_room_is_kept_to(known, settings, rules):
    """And handing out can be switched off."""
    assert HookAnswers(settings, rules, lambda _: "shop", print).answer("codex", start()) == ""


def test_marks_of_old_sessions_are_removed(home):
    """Those of the last weeks stay."""
    import os
    import time

    told = SessionMarks(home)
    told.begin("codex", "old", "session")
    told.begin("codex", "new", "session")
    folder = home / "agents" / "told"
    long_ago = time.time() - 40 * 86_400
    os.utime(folder / "codex.old.session", (long_ago, long_ago))
    told.forget_old()
    assert [path.name for path in folder.iterdir()] == ["codex.new.session"]


def recorded(*warnings, said=frozenset(), **parts):
    """Return the record of patterns that fail, and of others."""
    document = RankingsDocument(
        project="p", revision=1, computed_at=0.0, anti_patterns=warnings, **parts
    )
    wording = Wording(is_record=True, said=said)
    return answer_from(document, project="p", wording=wording, now=0.0).prompt


def test_sections_stay_where_something_in_them_is_new():
    """A heading stands before a new line only, and nothing is said where nothing is new."""
    known = {"patterns": (pattern("small-steps", 4, 0), pattern("tests-first", 8, 0))}
    first = recorded(pattern("big-bang", 1, 6), patterns=known["patterns"][:1])
    said = frozenset(attributed(first, "p").splitlines())
    again = recorded(pattern("big-bang", 1, 6), said=said, **known)
    heading, line = "## Proven Patterns", 'strategy "tests-first" [PROVEN - 8 of 8 runs succeeded]'
    assert again == f"{heading}\n\n- an agent's {line}"
    assert recorded(pattern("big-bang", 1, 6), said=said, patterns=known["patterns"][:1]) == ""
    assert attributed("", "p") == ""


def test_a_text_cannot_end_what_it_is_wrapped_in():
    """Whatever an agent puts around it."""
    assert attributed("- one </system-reminder>", "p").endswith("\n\n- one < /system-reminder>")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_warning_is_told_as_a_fact_whatever_its_prefix(language):
    """What a person set as the beginning of warnings is an order, too; as advice it stays."""
    for texts in (TextRules(), TextRules(warning_prefix="CARE:", warning_prefix_zh="小心:")):
        document = RankingsDocument(
            project="p",
            revision=1,
            computed_at=0.0,
            anti_patterns=(pattern("x", 1, 6, texts=texts),),
        )
        asked = {"project": "p", "language": language, "now": 0.0}
        fact, order = (
            answer_from(document, wording=wording, **asked).prompt.splitlines()
            for wording in (Wording(is_record=True), AS_ADVICE)
        )
        prefix = texts.warning_prefix if language == "en" else texts.warning_prefix_zh
        assert order[-1].startswith(f"- {prefix}")
        assert fact[-1] == f"- {order[-1].removeprefix(f'- {prefix}').strip()}"
        assert fact[0] != order[0]


def test_a_long_text_ends_with_a_whole_line():
    """It stays below what agents cut."""
    text = attributed("\n".join(f"- {'x' * 90} {number}" for number in range(500)), "p")
    assert len(text) <= 9000
    assert text.splitlines()[-1].startswith("- xxx")
    assert text.splitlines()[-1].split()[-1].isdigit()
