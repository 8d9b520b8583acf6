"""Numbers and names that prose quotes are those of the code."""

import re
from typing import get_args

import pytest

from tests.docs.documentation import DOCS, PACKAGE_FOLDERS, tables, text_of
from trackrecord.artifacts.rules import ArtifactRules
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.outcomes.gate import HISTORY_KEPT
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import MaturityRules, base_score
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.redis.signs_of_life import LIFETIME_S
from trackrecord.resources.operation.status import StatusAnswer
from trackrecord.settings.settings import Settings
from trackrecord_producers.delivery.drops import Reason

GLOSSARY = DOCS / "glossary.md"


def test_fields_of_status():
    """running.md names every field of `trackrecord status --json`, and no other."""
    (table,) = [table for table in tables(text_of("docs/running.md")) if table[0][0] == "field"]
    documented = {row[0].strip("`") for row in table[1:]}
    assert documented == {*StatusAnswer.__struct_fields__}


def test_reasons_of_drops():
    """running.md names every reason for which an outcome can be dropped."""
    (listed,) = re.findall(r"counts them by reason\s+\(([^)]+)\)", text_of("docs/running.md"))
    assert set(re.findall(r"`(\w+)`", listed)) == set(get_args(Reason))


def _default(setting: str) -> int:
    return int(Settings.model_fields[setting].default)


_FLOW, _ARTIFACTS, _CONTEXT = "docs/how-it-learns.md", ArtifactRules(), ContextRules()


@pytest.mark.parametrize(
    ("page", "quoted"),
    [
        ("docs/running.md", f"within {LIFETIME_S} seconds and the database answers"),
        (_FLOW, f"up to {_default('publish_batch')} outcomes in one go"),
        (_FLOW, f"A batch of up to {_default('batch_size')} outcomes is one SQL transaction"),
        (_FLOW, f"its slice of {_default('drain_slice_s')} seconds"),
        (_FLOW, f"for up to {_default('drain_block_s')} seconds"),
        (_FLOW, f"After {_default('claim_idle_s')} seconds of silence"),
        (_FLOW, f"more than {_ARTIFACTS.threshold_chars:,} characters"),
        (_FLOW, f"at most {_ARTIFACTS.summary_chars} characters"),
        (_FLOW, f"over {_ARTIFACTS.max_bytes // 1024**2} MiB"),
        (_FLOW, f"for {_ARTIFACTS.retention_s // 86_400} days"),
        ("docs/gate-in-ci.md", f"with the last {HISTORY_KEPT} runs"),
        ("docs/prompts.md", f"the first {_CONTEXT.max_candidates} are"),
        ("docs/prompts.md", f"the best {_CONTEXT.max_learnt} compete"),
    ],
)
def test_defaults_that_pages_quote(page, quoted):
    """Numbers in sentences are those that are set."""
    assert quoted in " ".join(text_of(page).split())


@pytest.mark.parametrize(
    ("helpful", "harmful", "quoted"),
    [(1, 0, "1 of 1 stands at 0.21"), (95, 5, "95 of 100 at 0.89"), (60, 40, "60 of 100 at 0.50")],
)
def test_cautious_rates(helpful, harmful, quoted):
    """The examples of the cautious rate are what the formula gives."""
    rate = base_score(Evidence(decayed_helpful=helpful, decayed_harmful=harmful))
    assert quoted.endswith(f"{rate:.2f}")
    assert quoted in " ".join(text_of("docs/how-it-learns.md").split())


def test_maturity_table():
    """The multipliers of the table are the defaults."""
    (table,) = [t for t in tables(text_of("docs/how-it-learns.md")) if t[0][0] == "rule"]
    rules = MaturityRules()
    for _, state, multiplier in table[1:]:
        assert float(multiplier) == getattr(rules, f"{state}_multiplier")


def _sources() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8")
        for folder in PACKAGE_FOLDERS
        for path in folder.rglob("*.py")
    )


def test_names_in_the_glossary_exist():
    """What the glossary sets in code font is a name, or a text, of the code."""
    names = set(re.findall(r"`([^`]+)`", GLOSSARY.read_text(encoding="utf-8")))
    assert names
    sources = _sources()
    missing = [name for name in names if name.removesuffix("()") not in sources]
    assert not missing


def test_the_lesson_that_is_quoted():
    """how-it-learns.md shows a failure with its remedy as it is found and worded."""
    failed, works = RunStep("npm test", "vitest: not found"), RunStep("pnpm test")
    ways = [
        *[(failed, works, RunStep("commit"))] * 9,
        *[(failed, RunStep("commit"))] * 8,
        (RunStep("npm test"), RunStep("commit")),
        *[(works, RunStep("commit"))] * 13,
        (RunStep("pnpm test", "2 failed"), RunStep("commit")),
    ]
    runs = [
        Run(outcome=row, task_id=f"t{row}", ended_at=row, success=True, steps=steps)
        for row, steps in enumerate(ways)
    ]
    (lesson,) = find_lessons(runs, LessonRules(), now=len(runs))
    page = text_of("docs/how-it-learns.md").replace("\n> ", " ")
    assert f"{lesson.lines['en']}\n" in page
