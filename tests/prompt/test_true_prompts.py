"""Each number and each claim of a prompt is read back from its text and held against the counts."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.prompt.advised import NOW, advice, expected, past_tasks, pattern_entry, rankings, texts
from tests.support.prompt_answers import answer_from
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.prompt.choosing.exposure import TRIED, TRIED_ANYWAY, exposure_plan_of
from trackrecord.prompt.documents.presentation import present_failing, present_pattern
from trackrecord.prompt.documents.rankings_document import ProjectDocuments
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.resources.prompt_documents.prompt_document import ranked_patterns

EMPTY = rankings(computed_at=NOW)
# Making a recogniser takes fifty times as long as an example.
NAME_OF = Recogniser().name_of
USED = {
    "en": re.compile(
        r"- (.+) \[used in (\d+) of (\d+) runs of similar tasks that succeeded"
        r"(?:, (\d+) of (\d+) that failed)?\]"
    ),
    "zh": re.compile(
        r"- (.+) \[类似任务的(?P<s>\d+)次成功运行中(?P<u>\d+)次使用"
        r"(?:,(?P<f>\d+)次失败运行中(?P<uf>\d+)次使用)?\]"
    ),
}
COMPARED = {
    "en": re.compile(
        r"- .+ \[.*?, (?P<points>-?\d+) points above what such tasks do otherwise\]( \(.*\))?"
    ),
    "zh": re.compile(r"- .+ \[.*?,比同类任务通常高(?P<points>-?\d+)个百分点\](\(.*\))?"),
}
COUNTED = {
    "en": re.compile(r"(?P<won>\d+) of (?P<tasks>\d+) runs? succeeded"),
    "zh": re.compile(r"(?P<tasks>\d+)次运行中(?P<won>\d+)次成功"),
}


def asked(document, counted, task, language="en", **more):
    return answer_from(document, task=task, language=language, advice=counted, **more)


def close_texts(tasks, counted, task):
    """The texts that are at least half as similar as the best one, found without the engine."""
    known = sorted(tasks)
    index = counted.past_tasks.index
    found = [each for each in index.similar(task, most=50) if each[1] >= 0.1]
    if not found and index.is_usual(task):  # all of them are alike then
        return known
    return [known[place] for place, cosine in found if cosine >= found[0][1] / 2]


@given(past_tasks, texts, st.sampled_from(["en", "zh"]))
def test_recommended_procedures_count_what_similar_tasks_used(tasks, task, language):
    """The counts are those of the close past tasks, and successes used it more often."""
    counted = advice(tasks)
    answer = asked(EMPTY, counted, task, language)
    runs = [run for text in close_texts(tasks, counted, task) for run in tasks[text]]
    lines = [line for line in answer.prompt.split("\n") if USED[language].fullmatch(line)]
    assert len(lines) == len(answer.procedures) <= 2
    for line in lines:
        found = USED[language].fullmatch(line)
        if language == "en":
            counts = [int(each or 0) for each in found.groups()[1:]]
            used, successes, used_by_failures, failures = counts
        else:
            used, successes, failures, used_by_failures = (
                int(found[name] or 0) for name in ("u", "s", "f", "uf")
            )
        tools = set(found[1].split(" → "))
        sets_or_parts = [
            [run for run in runs if set(run[0]) == tools],
            [run for run in runs if set(run[0]) >= tools],
        ]  # fmt: skip
        assert successes == sum(run[1] for run in runs)
        assert failures == sum(run[2] for run in runs)
        assert (used, used_by_failures) in [
            (sum(run[1] for run in some), sum(run[2] for run in some)) for some in sets_or_parts
        ]
        assert not failures or used / successes > used_by_failures / failures


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.sampled_from(["en", "zh"]))
def test_patterns_and_warnings_count_tasks(helpful, neutral, harmful, language):
    """What succeeded without scoring helpful succeeded; nobody is told that it failed."""
    succeeded = helpful + neutral
    total = succeeded + harmful
    evidence = Evidence(
        helpful, neutral, harmful, float(helpful), float(harmful), succeeded=succeeded
    )
    standing = standing_of(
        MaturityRules(), AntiPatternRules(), PatternFacts("x", "named", "x", None), evidence
    )
    shown = present_pattern(standing, NAME_OF)
    field = "anti_patterns" if shown.is_negative else "patterns"
    document = rankings(computed_at=NOW, **{field: (shown,)})
    prompt = asked(document, advice({}), None, language).prompt
    found = [int(each) for each in re.findall(r"\d+", "".join(re.findall(r"\n- (.*)", prompt)))]
    if shown.is_negative and prompt:
        assert found[:2] == [harmful, total]
    elif prompt:
        assert (found == [succeeded, total]) if language == "en" else (found == [total, succeeded])


_effects = st.none() | st.tuples(st.floats(-0.9, 0.9), st.floats(0.0, 0.9))
_records = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 30), _effects, st.booleans(), st.booleans()
    ).filter(lambda record: sum(record[:2]) > 0),
    min_size=1,
    max_size=4,
)


@given(_records, st.sampled_from(["en", "zh"]), st.sampled_from(["off", "full"]), st.integers(0, 9))
def test_what_such_tasks_go_better_with_says_by_how_much(records, language, explore, task_number):
    """Counts and points are those of the record, and nothing is both tried and warned of."""
    standings, entries = {}, []
    for number, (won, lost, effect, is_worth, is_sure) in enumerate(records):
        evidence = Evidence(won, 0, lost, float(won), float(lost), succeeded=won)
        slug = f"p{number}"
        facts = PatternFacts(slug, "named", f"Do {slug}", None)
        standings[slug] = standing_of(MaturityRules(), AntiPatternRules(), facts, evidence)
        known = {"is_worth_recommending": is_worth, "is_surely_better": is_sure}
        if effect is not None:
            low, high = effect[0] - effect[1], effect[0] + effect[1]
            known |= {"effect": effect[0], "effect_low": low, "effect_high": high}
        entries.append(pattern_entry(slug, successes=won, failures=lost, **known))
    patterns, warnings, others = ranked_patterns(list(standings.values()), NAME_OF)
    best = ranked_patterns(list(standings.values()), NAME_OF, most=2)
    untold = {each.id.removeprefix("anti-") for each in warnings[2:]}
    held_back = [each for each in others if each.id not in untold]
    assert best == (patterns[:2], warnings[:2], held_back[:2])
    lists = {"patterns": patterns, "anti_patterns": warnings, "others": others}
    document = rankings(computed_at=NOW, **{name: tuple(each) for name, each in lists.items()})
    counted = advice({}, patterns=tuple(entries))
    question = PromptQuestion("p", task_id=f"t{task_number}")
    known = ProjectDocuments(document, counted)
    exposure_plan = exposure_plan_of(question, known, holdout=0.0, explore=explore)
    answer = asked(document, counted, None, language, exposure_plan=exposure_plan)
    lines = answer.prompt.split("\n")
    warned = {each.id.removeprefix("anti-") for each in answer.told["anti_patterns"]}
    assert not warned & {each.id for each in answer.told["patterns"]}
    for pattern in answer.told["patterns"]:
        (line,) = (
            each
            for each in lines
            if f"Do {pattern.id}" in each.replace("”", '"').replace("“", '"').split('"')[1:2]
        )
        won, lost, effect, is_worth, is_sure = records[int(pattern.id[1:])]
        counts = COUNTED[language].search(line)
        assert (int(counts["won"]), int(counts["tasks"])) == (won, won + lost)
        assert "DEPRECATED" not in line
        assert pattern.state != "proven" or lost / (won + lost) < 0.15
        compared = COMPARED[language].fullmatch(line)
        is_other = pattern.id in {each.id for each in others}
        is_tried = line.endswith((TRIED[language], TRIED_ANYWAY[language]))
        if compared is not None:
            assert is_worth
            assert is_sure
            assert int(compared["points"]) == round(100 * effect[0]) >= 1
        is_above = is_worth and effect is not None and round(100 * effect[0]) >= 1
        assert compared is not None or is_tried or not (is_above and is_sure)
        assert is_tried or (is_above if is_other else is_worth)


@given(st.integers(1, 40), st.sampled_from(["en", "zh"]))
def test_what_never_succeeded(failures, language):
    """With its count, unless that may be chance."""
    document = rankings(computed_at=NOW, failing=(present_failing("get", failures),))
    counted = advice({}, expected=expected(4, 6))
    answer = asked(document, counted, None, language)
    prompt = answer.prompt
    numbers = [int(each) for each in re.findall(r"\d+", prompt)]
    is_chance = (1 - counted.expected.mean) ** failures > 0.01
    assert numbers == ([] if is_chance else [0, failures] if language == "en" else [failures, 0])
    (why,) = answer.why
    assert why.is_in is not is_chance
    assert ("chance" in why.reason or "偶然" in why.reason) is is_chance


@given(past_tasks, texts, st.integers(0, 400))
def test_the_same_documents_and_task_give_the_same_bytes(tasks, task, budget):
    """Whatever was asked in between; within the budget, and never a name, an id or a number."""
    counted = advice(tasks)
    first = asked(EMPTY, counted, task, budget=budget)
    asked(EMPTY, counted, "something else", budget=99)
    again = asked(EMPTY, advice(tasks), task, budget=budget)
    assert (again.prompt, again.why) == (first.prompt, first.why)
    assert first.tokens <= budget
    for personal in ("Anya Garcia", "mia_li_3668", "7H3"):
        assert personal not in first.prompt
