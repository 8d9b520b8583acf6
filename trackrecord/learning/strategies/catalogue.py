"""The known decomposition strategies, and the phrases that people use for them.

`splits_by` names the unit of division:
`component` is found in "split by component", "group the work per component" or
"component-based split", 组件 in 按组件拆分.

A phrase is a row of slots parted by spaces. A slot is a word, `a|b` is either, and a slot that
ends in `?` may be missing: `write|writing tests? first`. English phrases are matched word by word,
in any letter case, over articles and the like that stand between; Chinese ones, which have no words
to part, character by character with their slots side by side.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from ..numbers.checks import require
from ..text.language import Language
from ..text.slug import slug_of_words

# A phrase that stands for more than this many is a mistake.
MAX_EXPANSIONS = 20_000
# How much of a description is searched: far more than a plan has, far less than a body may have.
MAX_CHARS: Final = 65_536

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_CJK = re.compile(r"[\u3400-\u9fff]")
_JOINT = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u3400-\u9fff])")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is separated by spaces."""
    return frozenset(text.split())


def slots_of(phrase: str) -> list[tuple[str, ...]]:
    """Return the alternatives of each slot, in lower case; "" among them if it may be missing."""
    slots = []
    for slot in phrase.lower().split():
        words = tuple(word for word in slot.removesuffix("?").split("|") if word)
        slots.append((*words, "") if slot.endswith("?") else words)
    return slots


def require_phrase(name: str, phrase: str) -> None:
    """Require a phrase to have at least one phrasing, and not too many."""
    slots = slots_of(phrase)
    require(any("" not in slot for slot in slots), f"{name} must not hold an empty phrase")
    require(
        all(is_chinese(word) or _WORD.search(word) for slot in slots for word in slot if word),
        f"{name} must hold phrases of Latin or Chinese words",
    )
    require(
        prod(len(slot) for slot in slots) <= MAX_EXPANSIONS,
        f"{name} must not hold a phrase that stands for more than {MAX_EXPANSIONS}",
    )


def is_chinese(phrase: str) -> bool:
    """Return whether a phrase is matched by characters."""
    return _CJK.search(phrase) is not None


def as_phrase(name: str) -> str:
    """Return a phrase that matches a name alone."""
    plain = re.sub(r"[|?]", " ", name.lower())
    return "".join(plain.split()) if is_chinese(plain) else " ".join(_WORD.findall(plain))


def phrasings(phrase: str) -> Iterator[tuple[str, ...]]:
    """Yield every sequence of words that an English phrase matches."""
    for words in product(*slots_of(phrase)):
        row = tuple(_WORD.findall(" ".join(words)))
        if row:
            yield row


def patterns_zh(phrase: str) -> Iterator[tuple[str, str]]:
    """Yield the regular expressions of a Chinese phrase, each as its first character and the rest.

    A space may stand between the parts of a phrase, and beside its Latin letters.
    """
    slots = slots_of(phrase)
    for index, slot in enumerate(slots):
        rest = "".join(f" ?{_alternatives(later)}" for later in slots[index + 1 :])
        for word in sorted(filter(None, slot), key=len, reverse=True):
            yield re.escape(word[0]), _spaceable(word)[len(re.escape(word[0])) :] + rest
        if "" not in slot:
            return


def _alternatives(slot: tuple[str, ...]) -> str:
    words = sorted(filter(None, slot), key=len, reverse=True)
    return f"(?:{'|'.join(map(_spaceable, words))}){'?' if '' in slot else ''}"


def _spaceable(word: str) -> str:
    return " ?".join(map(re.escape, _JOINT.split(word)))


@dataclass(frozen=True)
class Strategy:
    """A way to divide work, with its names and the phrases by which it is recognised.

    A project's own needs a name in one language at least; the rest has defaults.

    Attributes:
        name_en: its name in English.
        name_zh: its name in Chinese.
        phrases: phrasings that mention it; its names are always among them.
        splits_by: the unit by which it divides the work.
        slug: its id.
    """

    name_en: str = ""
    name_zh: str = ""
    phrases: tuple[str, ...] = ()
    splits_by: tuple[str, ...] = ()
    slug: str = ""

    def __post_init__(self) -> None:
        name = self.name_en.strip() or self.name_zh.strip()
        slug = slug_of_words(self.slug.strip() or name)
        require(slug is not None, "name_en or name_zh must hold a letter or a digit")
        for phrase in self.phrases:
            require_phrase("phrases", phrase)
        for phrase in self.splits_by:
            require_phrase("splits_by", phrase)
        # A frozen type can fill in missing values only this way.
        object.__setattr__(self, "name_en", self.name_en.strip() or name)
        object.__setattr__(self, "name_zh", self.name_zh.strip() or name)
        object.__setattr__(self, "slug", slug)

    @property
    def names(self) -> tuple[str, ...]:
        """Both names, each also without the parentheses at its end."""
        whole = (self.name_en, self.name_zh)
        brief = tuple(name.partition("(")[0].strip() for name in whole)
        return tuple(dict.fromkeys(name for name in (*whole, *brief) if name))

    def name(self, language: Language) -> str:
        """Return its name in a language."""
        return self.name_zh if language == "zh" else self.name_en


_SUBTASK = "subtask|subtasks|task|tasks"
_OWN = "separate|own|dedicated|different|distinct"
_TESTS = "test|tests|testing"
_CODE = "implementation|implementations|code|source"
_ROUTES = "route|routes|routing|endpoint|endpoints"
_TYPES = "type|types|interface|interfaces"
_MAKE = "handle|define|create|extract|write|build|do|handling|defining|creating|extracting"
_POSSIBLE = "wherever|where|whenever|when possible"

# In the order in which they are returned.
STRATEGIES: Final = (
    Strategy(
        "Split by file type",
        "按文件类型拆分",
        splits_by=(
            "file type|types|kind|extension|extensions",
            "filetype|filetypes",
            "type|types|kind|extension of file|files",
            "文件 的? 类型|扩展名|后缀|种类",
        ),
        phrases=(
            "split|splitting|divide|dividing|group|grouping files by type|extension",
            "文件 类型 拆分|分割|划分",
        ),
        slug="split-by-file-type",
    ),
    Strategy(
        "Split by component",
        "按组件拆分",
        splits_by=("ui|react|vue? component|components", "ui? 组件"),
        phrases=(f"one|a {_SUBTASK} per|for component", "每 个? 组件 一个 子? 任务"),
        slug="split-by-component",
    ),
    Strategy(
        "Split by layer (UI/logic/data)",
        "按层拆分(UI/逻辑/数据)",
        splits_by=(
            "architectural|architecture|application|technical? layer|layers",
            "架构|技术|应用? 分? 层|层次|层级",
        ),
        phrases=(
            "split|splitting|divide|dividing|break|breaking it|work|down|up? into layers",
            f"one|a {_SUBTASK} per|for layer",
            "分层 拆分|分割|划分|分解",
            "每 一? 层 一个 子? 任务",
        ),
        slug="split-by-layer",
    ),
    Strategy(
        "Split by feature",
        "按功能拆分",
        splits_by=("feature|features|functionality", "功能 模块|特性|点?", "特性"),
        phrases=(f"one|a {_SUBTASK} per|for feature", "每 个? 功能 一个 子? 任务"),
        slug="split-by-feature",
    ),
    Strategy(
        "One file per subtask",
        "每个子任务一个文件",
        phrases=(
            f"one|a|single|1 single? file|files per|for|to {_SUBTASK}|agent|worker",
            f"one|single|1 single? file {_SUBTASK}",
            f"file per {_SUBTASK}",
            (
                f"each|every {_SUBTASK} gets|has|owns|touches|edits|modifies|handles|changes"
                " exactly|only|just? one|single|1|a single? file"
            ),
            f"one|a {_SUBTASK} per|for file",
            "每 一? 个? 子? 任务 只|仅? 对应|处理|负责|修改|包含|分配? 一个|单个 文件",
            "每 一? 个? 文件 对应|作为? 一个 子? 任务",
            "一个 子? 任务 只|仅? 对应|处理|负责|修改? 一个 文件",
            "一个 文件 对应|就是|作为? 一个 子? 任务",
        ),
        slug="one-file-per-subtask",
    ),
    Strategy(
        "Handle shared types first",
        "先处理共享类型",
        phrases=(
            (
                f"shared|common {_TYPES} definitions? come|handled|defined|done|created|extracted?"
                " first|upfront"
            ),
            f"shared|common {_TYPES} definitions? before everything|anything|other|rest",
            f"start|starting|begin|beginning with|from shared|common {_TYPES}",
            f"first {_MAKE} shared|common {_TYPES}",
            "优先|首先|先 处理|定义|实现|创建|提取|完成|编写 好? 所有? 共享|公共|通用 的? 类型",
            "共享|公共|通用 的? 类型 定义? 优先|先行|在先|先 处理|定义|实现|做?",
            "从 共享|公共|通用 的? 类型 开始",
        ),
        slug="handle-shared-types-first",
    ),
    Strategy(
        "Separate API routes",
        "分离API路由",
        phrases=(
            f"separate|separating|separated|isolate|isolating out|up? api {_ROUTES}",
            f"api {_ROUTES} remain? separate|separated|separately|isolated|apart",
            "api separate|separated|separately",
            f"keep|keeping api {_ROUTES} apart|separate|separated|isolated",
            f"api {_ROUTES} in|into|as {_OWN} separate? {_SUBTASK}",
            f"split|splitting out|off api {_ROUTES}",
            f"{_OWN} {_SUBTASK} for api {_ROUTES}",
            "分离|拆分|隔离|分开|独立 出? 所有|各个? api 的? 路由|接口|端点",
            "api 的? 路由|接口|端点? 单独|独立? 分离|分开|独立|隔离|拆分|处理",
        ),
        slug="separate-api-routes",
    ),
    Strategy(
        "Tests alongside implementation",
        "测试与实现一起",
        phrases=(
            f"{_TESTS} alongside|beside {_CODE}|feature|features|component|components",
            f"{_TESTS} together|along? with {_CODE}",
            f"{_TESTS} next to {_CODE}",
            f"{_CODE} and|with unit? {_TESTS} together",
            f"implement|implementing and {_TESTS} together",
            f"co? located|locate|locating {_TESTS}",
            f"colocated|colocate|colocating {_TESTS}",
            f"{_TESTS} co? located|colocated with",
            "测试 代码? 与|和|跟|同 功能|业务? 实现|代码 代码? 放|写? 在? 一起|同步|一同|同时",
            "测试 随 代码|实现|功能",
            "实现|代码 与|和|跟|同 测试 放|写? 在? 一起|同步|同时",
            "边 实现|开发|编码 边 测试",
        ),
        slug="tests-alongside-implementation",
    ),
    Strategy(
        "Tests in separate subtask",
        "测试在单独子任务中",
        phrases=(
            f"{_TESTS} in|into|as|to? {_OWN} separate? {_SUBTASK}",
            f"{_OWN} {_SUBTASK} for writing? unit? {_TESTS}",
            f"separate|dedicated|distinct {_TESTS} {_SUBTASK}",
            f"{_TESTS} in {_SUBTASK} of own",
            "测试 代码? 放|写|作为? 在|到|入|为|成? 单独|独立|专门 的? 一个? 子? 任务 中|里?",
            "单独|独立|专门 的? 测试 的? 子? 任务",
            "单独|独立|专门 的? 一个? 子? 任务 来|用于|负责|中|里? 进行|编写|处理|写? 测试",
        ),
        slug="tests-in-separate-subtask",
    ),
    Strategy(
        "Maximize parallelization",
        "最大化并行化",
        phrases=(
            (
                "maximize|maximise|maximizing|maximising|maximum|max|maximal"
                " parallelization|parallelisation|parallelism|concurrency"
            ),
            "parallelize|parallelise|parallelizing|parallelising everything|fully|aggressively",
            (
                "parallelize|parallelise|parallelizing|parallelising all|it|them?"
                " as much|far|many as possible"
            ),
            f"parallelize|parallelise|parallelizing|parallelising everything|them? {_POSSIBLE}",
            "parallelize|parallelise|parallelizing|parallelising|parallel all",
            "parallel everything",
            f"everything|all|every|each {_SUBTASK}|work? run|runs|executed|done? in parallel",
            "as much|many parallelism|parallelization|subtasks|tasks in? parallel? as possible",
            "as much in? parallel as possible",
            "as parallel as possible",
            "in parallel as much|far|often as possible",
            f"in parallel {_POSSIBLE}",
            "fully parallel|parallelize|parallelized",
            "最大化|最大限度|最大程度|尽可能|尽量|充分 的|地? 实现|进行|提高? 并行",
            "并行 化? 所有|全部|一切",
            "最大 并行 化|度?",
            "所有|全部|一切 子? 任务|工作? 都? 并行",
            "完全|全面|全部 并行",
        ),
        slug="maximize-parallelization",
    ),
    Strategy(
        "Sequential execution order",
        "顺序执行顺序",
        phrases=(
            "sequential order|ordering|execution|processing",
            "strictly|purely|fully sequential|sequentially",
            (
                "execute|executed|executing|run|running|process|work|implement|handle|complete"
                f" them|it|{_SUBTASK}|steps|everything? sequentially|serially"
            ),
            f"{_SUBTASK}|steps|everything run|runs|executed|done? sequentially|serially",
            "execution|order|ordering sequential",
            f"one|{_SUBTASK} after another|other",
            f"one {_SUBTASK} at a time",
            f"{_SUBTASK}|steps|work|run|execute|executed|everything them? in sequence",
            "serial execution|order",
            "按|按照 先后|严格? 顺序 来|逐个|依次? 执行|进行|处理|完成",
            "顺序 执行|处理",
            "串行 执行|处理|进行|化",
            "依次|逐个|逐一 执行|处理|完成",
        ),
        slug="sequential-execution-order",
    ),
    Strategy(
        "Respect dependency chain",
        "尊重依赖链",
        phrases=(
            "dependency order|ordering|chain|chains",
            (
                "respect|respecting|respects|follow|following|follows|honor|honoring|honour|honouring"
                " dependency|dependencies chain|chains|order|graph?"
            ),
            (
                "order|ordered|ordering|sort|sorted|sequence|sequenced them|it|work?"
                " by|along dependency|dependencies"
            ),
            "in|by order of dependency|dependencies",
            "topological order|ordering|sort",
            "topologically sorted|ordered",
            "dependencies first",
            "尊重|遵循|遵守|按|按照|依照|根据 任务? 的? 依赖 关系|项? 的? 链|顺序|次序|链条?",
            "依赖 关系? 的? 链|链条|顺序|次序",
            "拓扑 排序|顺序",
        ),
        slug="respect-dependency-chain",
    ),
)


def strategies_by_slug(strategies: Iterable[Strategy]) -> dict[str, Strategy]:
    """Map each strategy's own slug and those of its names to it; the first strategy wins."""
    known: dict[str, Strategy] = {}
    for strategy in strategies:
        for name in (strategy.slug, *strategy.names):
            slug = slug_of_words(name)
            if slug is not None:
                known.setdefault(slug, strategy)
    return known
