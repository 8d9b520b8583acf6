"""Recognising strategies in the prose of a plan."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import grows_by_at_most, repeated
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.outcomes.scoring import ScoringRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.learning.strategies.catalogue import STRATEGIES, Strategy
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer, recogniser_of

RECOGNISER = recogniser_of(Rules())

NAMES_EN = (
    "Split by file type", "Split by component", "Split by layer (UI/logic/data)",
    "Split by feature", "One file per subtask", "Handle shared types first",
    "Separate API routes", "Tests alongside implementation", "Tests in separate subtask",
    "Maximize parallelization", "Sequential execution order", "Respect dependency chain",
)  # fmt: skip
NAMES_ZH = (
    "按文件类型拆分", "按组件拆分", "按层拆分(UI/逻辑/数据)", "按功能拆分", "每个子任务一个文件",
    "先处理共享类型", "分离API路由", "测试与实现一起", "测试在单独子任务中", "最大化并行化",
    "顺序执行顺序", "尊重依赖链",
)  # fmt: skip

FILE_TYPE, COMPONENT, LAYER, FEATURE, ONE_FILE, TYPES, ROUTES, ALONGSIDE, APART, PARALLEL, SERIAL, \
    DEPENDENCIES = (strategy.slug for strategy in STRATEGIES)  # fmt: skip


def slugs(description: str) -> list[str]:
    return [strategy.slug for strategy in RECOGNISER.recognise(description)]


def test_the_catalogue_is_the_rules():
    """Twelve names in both languages, in the order in which they are answered."""
    assert tuple(strategy.name("en") for strategy in STRATEGIES) == NAMES_EN
    assert tuple(strategy.name("zh") for strategy in STRATEGIES) == NAMES_ZH


@pytest.mark.parametrize("name", NAMES_EN + NAMES_ZH)
def test_every_strategy_by_its_own_name(name):
    """Exactly that one; in any letter case, and after other words."""
    (strategy,) = RECOGNISER.recognise(name)
    assert name in strategy.names
    assert RECOGNISER.recognise(name.upper()) == (strategy,)
    assert RECOGNISER.recognise(name.lower()) == (strategy,)
    assert RECOGNISER.recognise(f"The plan: {name}.") == (strategy,)


@pytest.mark.parametrize(
    ("description", "slug"),
    [
        ("splitting by file types", FILE_TYPE), ("A file-type-based split", FILE_TYPE),
        ("按照文件类型来划分", FILE_TYPE), ("Break the page down by UI component", COMPONENT),
        ("one subtask per component", COMPONENT), ("根据组件拆分任务", COMPONENT),
        ("dividing the work by layer", LAYER), ("Separated along architectural layers", LAYER),
        ("feature-based decomposition", FEATURE), ("split work\nper feature", FEATURE),
        ("按照功能模块进行拆分", FEATURE), ("each subtask touches a single file", ONE_FILE),
        ("one subtask for each file", ONE_FILE), ("每个任务只修改一个文件", ONE_FILE),
        ("shared types first", TYPES), ("start with the shared types", TYPES),
        ("首先定义共享的类型", TYPES), ("keep the API routes separate", ROUTES),
        ("separating all API endpoints", ROUTES), ("分离 API 路由", ROUTES),
        ("tests with implementation", ALONGSIDE), ("tests with code", ALONGSIDE),
        ("Tests are written alongside the code", ALONGSIDE), ("测试和代码放在一起", ALONGSIDE),
        ("tests separate subtask", APART), ("tests go into their own subtask", APART),
        ("a separate task for writing the tests", APART), ("测试放在独立的任务里", APART),
        ("parallelize everything", PARALLEL), ("run all tasks in parallel", PARALLEL),
        ("尽可能并行", PARALLEL), ("execute the subtasks sequentially", SERIAL),
        ("one task after the other", SERIAL), ("按顺序执行", SERIAL),
        ("respecting the dependency order", DEPENDENCIES), ("in topological order", DEPENDENCIES),
        ("按照依赖关系的顺序", DEPENDENCIES),
    ],
)  # fmt: skip
def test_common_phrasings(description, slug):
    """How people put it."""
    assert slug in slugs(description)


@pytest.mark.parametrize(
    "description",
    [
        "don't split by file type", "Don’t split by file type.", "do not split by file type",
        "We should not, under any circumstances, split by layer", "never split by layer",
        "avoid splitting by layer, splitting by component, and splitting by feature",
        "without splitting by feature", "instead of splitting by layer",
        "neither split by layer nor by component", "Splitting by layer is not an option",
        "one file per subtask isn't possible", "avoid shortcuts, e.g. splitting by layer",
        "不要按文件类型拆分", "避免按层拆分、按组件拆分", "别按功能拆分", "而不是按层拆分",
        "不应该按层拆分", "按层拆分是不可取的", "不要 split by file type",
        "", " ", "Sort the table by component",
        "Fix the file type icon of one component, layer by layer",
        "Run the tests with code coverage", "The shared types are fine; first fix the login",
        "所有改动都要经过审查",
    ],
)  # fmt: skip
def test_what_is_no_strategy(description):
    """A negated mention, the first or a later one, and the same words about something else."""
    assert slugs(description) == []


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("Don't split by file type, but split by feature", [FEATURE]),
        ("Don't split by file type but split by feature", [FEATURE]),
        ("Don't split by file type. Split by feature.", [FEATURE]),
        ("- don't split by file type\n- split by feature", [FEATURE]),
        ("Don't split by file type — split by feature", [FEATURE]),
        ("Instead of splitting by layer, split by feature", [FEATURE]),
        ("Split by feature instead of splitting by layer", [FEATURE]),
        ("split not by layer but by feature", [FEATURE]),
        ("Don't split by feature at first. Later: split by feature!", [FEATURE]),
        ("not only split by feature but also one file per subtask", [FEATURE, ONE_FILE]),
        ("No, split by feature", [FEATURE]), ("不要按文件类型拆分,按功能拆分", [FEATURE]),
        ("不要按文件类型拆分，按功能拆分", [FEATURE]),
        ("不要按文件类型拆分但按功能拆分", [FEATURE]), ("与其按层拆分,不如按功能拆分", [FEATURE]),
        ("分别按功能拆分", [FEATURE]), ("不同的人按功能拆分", [FEATURE]),
        ("不得不按功能拆分", [FEATURE]),
    ],
)  # fmt: skip
def test_a_negation_ends_with_its_clause(description, found):
    """What is done instead is mentioned."""
    assert slugs(description) == found


def test_no_duplicates_and_the_catalogues_order():
    """However often and in whatever order they are mentioned."""
    text = "One file per subtask. Split by layer. 按层拆分. Split by file type; SPLIT BY LAYER"
    assert slugs(text) == [FILE_TYPE, LAYER, ONE_FILE]


@pytest.mark.parametrize(
    ("half", "full"),
    [
        ("按层拆分(UI/逻辑/数据),按功能拆分", "按层拆分（UI／逻辑／数据），按功能拆分"),
        ("split by layer (UI); tests with code", "split by layer（UI）；tests with code"),
        ("split by feature", "ｓｐｌｉｔ　ｂｙ　ｆｅａｔｕｒｅ"),
    ],
)  # fmt: skip
def test_width_does_not_matter(half, full):
    """Full- and half-width characters are the same."""
    assert slugs(full) == slugs(half) != []


def test_projects_add_strategies_of_their_own():
    """Found by name, by phrase and by what they split by; answered after the twelve."""
    tenant = Strategy(
        "Split by tenant", "按租户拆分", ("tenant|customer silos",), ("tenant", "租户")
    )
    slices = Strategy("Vertical slices")
    recogniser = Recogniser([tenant, slices])
    assert recogniser.recognise("group the work by tenant") == (tenant,)
    assert recogniser.recognise("customer silos") == (tenant,)
    assert recogniser.recognise("根据租户划分") == (tenant,)
    assert recogniser.recognise("不要按租户拆分") == ()
    both = recogniser.recognise("vertical slices, split by tenant, split by feature")
    assert [each.name_en for each in both] == [
        "Split by feature", "Split by tenant", "Vertical slices",
    ]  # fmt: skip
    assert recogniser.slug_of("按租户拆分") == "split-by-tenant"
    assert recogniser.name_of("split-by-tenant", "x", "zh") == "按租户拆分"
    assert recogniser.name_of("unknown", "as written", "zh") == "as written"
    assert slices.name_zh == "Vertical slices"


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name_en", {}),
        ("name_en", {"name_en": "---"}),
        ("phrases", {"name_en": "x", "phrases": ("",)}),
        ("phrases", {"name_en": "x", "phrases": ("a?",)}),
        ("phrases", {"name_en": "x", "phrases": ("ещё",)}),
        ("phrases", {"name_en": "x", "phrases": ("a|b|c|d|e|f|g|h|i|j " * 9,)}),
        ("splits_by", {"name_en": "x", "splits_by": ("!",)}),
    ],
)
def test_a_strategy_that_could_never_be_found_is_refused(field, given):
    """With the field's name."""
    with pytest.raises(ValueError, match=field):
        Strategy(**given)  # type: ignore[arg-type]  # of any type on purpose


@given(st.text())
def test_any_text_can_be_read(text):
    """Nothing is raised, and every answer is in the catalogue."""
    assert set(RECOGNISER.recognise(text)) <= set(STRATEGIES)


PIECES = """
    split splitting by file type feature layer one per subtask not don't avoid never , . ; but or
    and instead of rather than tests alongside code 's the is - ( )
    不要 按 功能 拆分 ， 。 但 而不是 避免
"""
words = st.sampled_from([*PIECES.split(), "\n", "e.g."])


@given(st.lists(words, max_size=40))
def test_plans_made_of_what_matters(parts):
    """Never an error, and letter case never matters."""
    text = " ".join(parts)
    assert RECOGNISER.recognise(text.upper()) == RECOGNISER.recognise(text)


@given(st.sampled_from(NAMES_EN), st.lists(words, max_size=20))
def test_a_new_sentence_can_always_be_heard(name, before):
    """Whatever was said and denied before."""
    found = RECOGNISER.recognise(" ".join(before) + f". {name}.")
    assert name in [strategy.name_en for strategy in found]


HOSTILE = [
    # phrases, whole and begun, again and again
    "split by file type ", "split ", "by ", "tests in the the the the the ", "one one per per ",
    "handle handle shared ", "split the the the by ", "by by tenant ", "group it by ",
    "tests tests with code ", "sub-task ", "per subtask one file ",
    "按文件类型", "每一个", "每个子任务", "最大 ", "测试 放", "文件类型 ", "按 ", "按不同",
    "以", "按租户",
    # negation, its borders, and what is taken back
    "don't split by layer ", "not ", "not, ", "never, split ", "avoid split by layer or ",
    "avoid, ", "instead ", "instead of rather than ", "isn't ", "if not, ", "not only ",
    "split by feature, and ", "split by layer should not be, ", "split by layer should have been ",
    "不要按文件类型拆分", "不", "不要 ", "不得不不", "而不是", "按层拆分不可取",
    # marks and spaces of all kinds, and letters that are no words here
    "\n", "\n \t", "é\n ", " ", ",", ", ", ".", "'", "a'", "e.g. ", "a", "一", "\\", "- ", "-- ",
    "x-", "a.b.", "split by\n- ",
    "\n1) ", "— ", "…", "“", "’", "，", "，或", "、", "。", "\u3000", "\u200b",
    "Ａ", "１", "𠀀", "İ", "ß", "a一", "一a",
]  # fmt: skip
OWN = Strategy(
    "Split by tenant", "按租户拆分", phrases=("group? it? by? tenant",),
    splits_by=("tenant", "租户"),
)  # fmt: skip


@pytest.fixture(scope="module")
def unbounded() -> Recogniser:
    """It reads a text to its end."""
    return Recogniser((OWN,), max_chars=10**9)


@pytest.mark.linear_time
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(piece, unbounded):
    """Eight times the text takes about eight times as long; squared growth would take 64."""
    short, long = (repeated(piece, length) for length in (16 * 1024, 128 * 1024))
    assert grows_by_at_most(8, unbounded.recognise, short=short, long=long)


@pytest.mark.linear_time
@pytest.mark.parametrize("piece", ["don't split by layer, or ", "不要按层拆分,", "a一", "按不同"])
def test_time_to_score_grows_with_the_outcome_and_no_faster(piece):
    """Up to a whole mebibyte: no rule looks at more of a description than it is told to."""

    def body_of(size: int) -> bytes:
        description = piece * (size // len(piece.encode()) - 20)
        fields = {"task_id": "t", "success": True, "description": description}
        return json.dumps(fields, ensure_ascii=False).encode()

    scorer = OutcomeScorer(ScoringRules(), RECOGNISER, CriteriaRules())

    def score(body: bytes) -> None:
        scorer.score(decode_outcome(body), body, received_at=0.0, outcome_id="o")

    whole = body_of(2**20)
    assert 1_000_000 < len(whole) <= 2**20
    assert grows_by_at_most(8, score, short=body_of(2**17), long=whole)


def test_only_so_much_of_a_text_is_looked_at():
    """And how much is a parameter."""
    text = "x " * 100 + "split by feature"
    assert Recogniser(max_chars=200).recognise(text) == ()
    assert Recogniser(max_chars=300).recognise(text) != ()
