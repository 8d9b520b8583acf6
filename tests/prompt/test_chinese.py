"""Chinese throughout, when Chinese is asked for: objects and reasons as well as the text."""

import re
import time

import pytest

from tests.prompt.advised import advice, lesson, rankings
from tests.prompt.golden import FULL, TASK
from tests.support.prompt_answers import answer_from, context_from
from trackrecord.learning.memories.rules import MemoryRules, MemoryState, MemoryType
from trackrecord.learning.patterns.decisions import Decision, DecisionAction
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.candidates.sections import FEEDS
from trackrecord.prompt.documents.labels import in_language, shown
from trackrecord.prompt.documents.presentation import present_memory, present_pattern
from trackrecord.prompt.documents.rankings_document import (
    decode_document,
    encode_document,
)
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.wire.outcome_scorer import recogniser_of

NOW = 1_800_000_000.0
NAMES = recogniser_of(Rules())
# Ideographs, digits, and what stands between them.
CHINESE = re.compile(r"[\u4e00-\u9fff0-9.,:;%()/ ，：。、]+")


def presented(slug, content, *counts, decision=None, kind="strategy", succeeded=None):
    helpful, neutral, harmful = counts
    evidence = Evidence(
        helpful, neutral, harmful, float(helpful), float(harmful),
        succeeded=helpful if succeeded is None else succeeded,
    )  # fmt: skip
    facts = PatternFacts(slug, kind, content, NOW)
    standing = standing_of(MaturityRules(), AntiPatternRules(), facts, evidence, decision)
    return present_pattern(standing, NAMES.name_of)


GOOD = presented("split-by-component", "Split by component", 9, 0, 0)
BAD = presented("split-by-file-type", "Split by file type", 2, 1, 4)
OWN = presented("plan-first", "Plan first", 4, 0, 0, kind="named")


def answered(document, language, **more):
    return answer_from(document, language=language, **more)


def test_contents_and_reasons_follow_the_language():
    """A strategy has its Chinese name, warnings and reasons have Chinese words."""
    known = rankings(patterns=(GOOD, OWN), anti_patterns=(BAD,))
    english, chinese = (
        answered(decode_document(encode_document(known)), each) for each in ("en", "zh")
    )
    assert [each.content for each in english.patterns] == ["Split by component", "Plan first"]
    assert [each.content for each in chinese.patterns] == ["按组件拆分", "Plan first"]
    assert [each.reason for each in chinese.patterns] == [
        "衰减后9.00个有益,0.00个有害", "衰减后4.00个有益,0.00个有害",
    ]  # fmt: skip
    (warning,) = chinese.anti_patterns
    assert warning.content == "避免:按文件类型拆分。失败5/7次(71%失败率)"
    assert warning.reason == "7个中5个失败(71%)"
    assert [each.id for each in chinese.patterns] == [each.id for each in english.patterns]
    assert english.anti_patterns[0].reason == "5 of 7 failed (71%)"
    assert english.patterns == (GOOD, OWN)


@pytest.mark.parametrize(
    "entry",
    [
        BAD,
        presented("split-by-layer", "x", 0, 10, 0, succeeded=10),
        presented("split-by-layer", "x", 3, 0, 0,
                  decision=Decision(DecisionAction.PROMOTE, "李", "", NOW)),
        presented("split-by-layer", "x", 2, 1, 4,
                  decision=Decision(DecisionAction.DEPRECATE, "李", "太慢", NOW)),
        GOOD,
    ],
)  # fmt: skip
def test_no_english_word_of_ours_is_left(entry):
    """In a content, a reason, a label, or in what a table shows of it."""
    chinese = in_language(entry, "zh")
    for said in (chinese.content, chinese.reason, chinese.label, chinese.gist):
        assert CHINESE.fullmatch(said.replace("UI", "")), said


def test_every_kind_has_a_label_and_a_gist_in_both_languages():
    """A new kind of entry that has none would stand out in a Chinese table."""
    tasks = {
        "fix the login test": [(("read_log", "restart"), 6, 0), (("grep",), 0, 6)],
        "fix the login page": [(("read_log", "restart"), 3, 0)],
    }
    counted = advice(tasks, lessons=(lesson("slow", "read_log"),))
    told = {
        language: answered(rankings(**FULL), language, task=TASK, advice=counted)
        for language in ("en", "zh")
    }
    uncounted = {each: answered(rankings(**FULL), each, task=TASK) for each in ("en", "zh")}
    without_task = {
        language: answered(rankings(**FULL), language, advice=counted) for language in ("en", "zh")
    }
    seen = set()
    for feed in FEEDS:
        for answers in (told, uncounted, without_task):
            english, chinese = (getattr(answers[language], feed.field) for language in ("en", "zh"))
            assert [each.id for each in english] == [each.id for each in chinese]
            for one, other in zip(english, chinese, strict=True):
                seen.add(feed.field)
                assert one.label.isascii()
                assert CHINESE.fullmatch(other.label), other.label
                assert other.gist
                assert not {"lines", "lang", "translations"} & shown(other).keys()
    assert seen >= {
        "patterns", "anti_patterns", "failing", "competences", "memories", "lessons",
    }  # fmt: skip


def test_a_known_pitfall_says_so_in_chinese():
    """What the agent wrote stays as it is."""
    state = MemoryState(MemoryType.ANTI_PATTERN, 0.5, NOW)
    memory = present_memory(
        "m", "KNOWN PITFALL: use port 5432", state, source=None, rules=MemoryRules(), now=NOW
    )
    assert in_language(memory, "zh").text == "已知陷阱: use port 5432"
    assert in_language(memory, "en") == memory


@pytest.mark.parametrize(("task", "budget"), [(None, 60), (TASK, 40), (TASK, 400), (None, None)])
def test_reasons_of_lines_are_chinese(task, budget):
    """Of those in the text, and of those that are not."""
    answer = answered(rankings(**FULL), "zh", task=task, budget=budget)
    assert answer.why
    for why in answer.why:
        assert CHINESE.fullmatch(why.reason), why.reason


def test_what_became_of_candidates_is_told_in_chinese():
    """The code of a reason stays what programs compare; the label and the words follow `lang`."""
    own = [Candidate(id=f"t{n}", kind="task", text="x" * 90) for n in range(3)]
    for language in ("en", "zh"):
        told = context_from(
            rankings(**FULL), own, ContextRules(max_candidates=10), project="p", problem=None,
            task=TASK, budget=60, language=language, memory_rules=MemoryRules(), now=time.time(),
        )  # fmt: skip
        assert {each.reason for each in told.left_out} <= {
            "budget", "share", "max_candidates", "replaced",
        }  # fmt: skip
        for each in (*told.taken, *told.left_out):
            assert bool(each.why) is (each.reason is not None)
            texts = (each.label, each.why) if each.why else (each.label,)
            for text in texts:
                assert text.isascii() if language == "en" else CHINESE.fullmatch(text), text
