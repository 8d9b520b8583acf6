"""The headings of the sections of learnt entries, in English and in Chinese.

Apart from the texts of single entries: an agent's process reads those ready from the cache, and
need not import what writes them.
"""

from typing import Final

from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.language import Language

ANTI_PATTERNS_HEADING: Final[dict[Language, str]] = {
    "en": "## Anti-Patterns to Avoid",
    "zh": "## 要避免的反模式",
}
ANTI_PATTERNS_INTRODUCTION: Final[dict[Language, str]] = {
    "en": "Based on past failures, avoid these strategies:",
    "zh": "基于过去失败,避免这些策略:",
}
FAILED_HEADING: Final[dict[Language, str]] = {
    "en": "## Strategies That Failed",
    "zh": "## 失败过的策略",
}
FAILED_INTRODUCTION: Final[dict[Language, str]] = {
    "en": "Tasks with these strategies mostly failed:",
    "zh": "采用这些策略的任务大多失败:",
}
PATTERN_HEADINGS: Final[dict[Language, dict[Maturity, str]]] = {
    "en": {
        Maturity.PROVEN: "## Proven Patterns",
        Maturity.ESTABLISHED: "## Established Patterns",
        Maturity.CANDIDATE: "## Candidate Patterns",
        Maturity.DEPRECATED: "## Deprecated Patterns",
    },
    "zh": {
        Maturity.PROVEN: "## 已验证的模式",
        Maturity.ESTABLISHED: "## 已确立的模式",
        Maturity.CANDIDATE: "## 候选模式",
        Maturity.DEPRECATED: "## 已弃用的模式",
    },
}
COMPETENCES_HEADING: Final[dict[Language, str]] = {
    "en": "## Tool Procedures and How Often They Worked",
    "zh": "## 工具流程及其成功率",
}
FAILING_HEADING: Final[dict[Language, str]] = {
    "en": "## Tool Procedures That Never Succeeded",
    "zh": "## 从未成功的工具流程",
}
MEMORIES_HEADING: Final[dict[Language, str]] = {"en": "## Memories", "zh": "## 记忆"}
PAST_TASKS_HEADING: Final[dict[Language, str]] = {
    "en": "## Similar Past Tasks and How They Ended",
    "zh": "## 类似的过往任务及其结果",
}
LESSONS_HEADING: Final[dict[Language, str]] = {
    "en": "## Lessons From Tool Calls",
    "zh": "## 工具调用的经验",
}
PROCEDURES_HEADING: Final[dict[Language, str]] = {
    "en": "## What Worked in Similar Tasks",
    "zh": "## 类似任务中有效的做法",
}
PREVIOUS_ERRORS_HEADING: Final[dict[Language, str]] = {
    "en": "## Previous Errors of This Task",
    "zh": "## 此任务先前的错误",
}
