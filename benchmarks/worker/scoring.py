"""Scoring an outcome, and recognising the strategies in its description of 300 characters."""

import random
import re
import time
from collections.abc import Callable, Iterator

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from trackrecord.learning.outcomes.scoring import ScoringRules, score_outcome
from trackrecord.learning.strategies.catalogue import STRATEGIES
from trackrecord.learning.strategies.recogniser import Recogniser

UNIT = "µs"
_MOST_US = 30.0
_CHARS = 300
_DIFFERENT = 200
_ROUNDS = 5

_PROSE_EN = (
    "The order service loses the discount when a voucher is redeemed twice.",
    "Customers see yesterday's prices until the page is loaded once more.",
    "Nothing else may change, and reviewers have asked for a small difference!",
    "Replace the hand-written parser of the report (see src/report.ts) and keep its output.",
    "Afterwards run the whole suite; look at the log, too.",
)
_PROSE_ZH = (
    "优惠券重复使用时订单服务会丢失折扣。", "用户在刷新页面之前看到的是昨天的价格,需要修复。",
    "其他部分保持不变,评审希望改动尽量小!", "重写报表解析器并保持输出格式一致;之后运行全部测试。",
    "同时检查日志,确认没有新的警告。",
)  # fmt: skip
_NEGATED_EN = ("Don't split by file type.", "One file per subtask instead of splitting by layer.")
_NEGATED_ZH = ("不要按文件类型拆分。", "每个子任务一个文件,而不是按层拆分。")
_NAMES_EN = tuple(f"We {each.name_en.partition('(')[0].strip().lower()}." for each in STRATEGIES)
_NAMES_ZH = tuple(f"我们{each.name_zh.partition('(')[0]}。" for each in STRATEGIES)


def measure(scale: Scale) -> Measured:
    """Measure English and Chinese, without and with mentions, two of them negated."""
    recogniser, rules = Recogniser(), ScoringRules()
    names = [name for each in STRATEGIES for name in each.names]
    one_expression = re.compile("|".join(map(re.escape, names)), re.IGNORECASE)

    def score(description: str) -> None:
        score_outcome(rules, success=True, duration_ms=400_000, error_count=1, retry_count=0)
        recogniser.recognise(description)

    def search(description: str) -> None:
        one_expression.findall(description)

    figures = tuple(
        Figure(
            f"score and recognise, {name}",
            _mean_us(score, texts, scale.publish_calls),
            UNIT,
            at_most(_MOST_US),
            (
                Baseline(
                    "one regular expression of the 24 names",
                    _mean_us(search, texts, scale.publish_calls),
                ),
            ),
        )
        for name, texts in _kinds()
    )
    return Measured(
        f"{_DIFFERENT} different descriptions of {_CHARS} characters of each kind; processor time "
        f"per outcome, best of {_ROUNDS} rounds",
        figures,
    )


def _kinds() -> Iterator[tuple[str, list[str]]]:
    yield "English, nothing mentioned", _texts(_PROSE_EN, ())
    yield "English, three mentions", _texts(_PROSE_EN, _NAMES_EN, 3)
    yield "English, negated mentions", _texts(_PROSE_EN, (*_NEGATED_EN, *_NAMES_EN), 4)
    yield "Chinese, nothing mentioned", _texts(_PROSE_ZH, ())
    yield "Chinese, three mentions", _texts(_PROSE_ZH, _NAMES_ZH, 3)
    yield "Chinese, negated mentions", _texts(_PROSE_ZH, (*_NEGATED_ZH, *_NAMES_ZH), 4)


def _texts(prose: tuple[str, ...], mentions: tuple[str, ...], count: int = 0) -> list[str]:
    chance = random.Random(7)
    found = []
    for _ in range(_DIFFERENT):
        parts = [chance.choice(mentions) for _ in range(count)]
        while sum(map(len, parts)) < _CHARS:
            parts.insert(chance.randrange(len(parts) + 1), chance.choice(prose))
        # From both ends: neither the first sentence nor the last stands in all of them.
        text = " ".join(parts)
        start = chance.randrange(len(text) - _CHARS + 1)
        found.append(text[start : start + _CHARS])
    return found


def _mean_us(call: Callable[[str], None], texts: list[str], count: int) -> float:
    best = float("inf")
    rounds = max(1, count // _ROUNDS // len(texts))
    for _ in range(_ROUNDS):
        began = time.process_time()
        for _ in range(rounds):
            for text in texts:
                call(text)
        best = min(best, time.process_time() - began)
    return best * 1e6 / (rounds * len(texts))
