"""The words of reasons why a line is in a prompt or not, in English and in Chinese."""

from typing import Final

from trackrecord.learning.text.language import Language, both

from ..choosing.offer import Basis

# What an entry's relevance follows from.
BASES: Final[dict[Language, dict[Basis, str]]] = {
    "en": {
        "project": "holds for the project as a whole",
        "words": "the task's own words name what it is about",
        "tools": "such tasks use its tools with a probability of {:.0%}",
        "kinds": "seen in tasks of this kind, relevance {:.0%}",
        "text": "its text fits the task, similarity {:.0%}",
        "meaning": "its meaning fits the task, similarity {:.0%}",
        "votes": "{:.0%} of the votes of similar tasks that succeeded",
    },
    "zh": {
        "project": "适用于整个项目",
        "words": "任务文字提到了它所说的内容",
        "tools": "此类任务使用其工具的概率为{:.0%}",
        "kinds": "见于此类任务,相关度{:.0%}",
        "text": "文字与任务相符,相似度{:.0%}",
        "meaning": "含义与任务相符,相似度{:.0%}",
        "votes": "在成功的类似任务中得票{:.0%}",
    },
}
SECTION_USED: Final = both("; section {} of {} tokens", ";本节占{}/{}个词元")
# Where a section takes room that no other needs.
SECTION_EXCEEDED: Final = both(
    "; section {} tokens, {} beyond its share, which no other section needs",
    ";本节占{}个词元,超出份额{}个,其他各节不需要",
)
OVER_SHARE: Final = both("; no room in its section's share of {:.0%}", ";本节{:.0%}的份额已满")
OVER_BUDGET: Final = both("; no room in the budget of {} tokens", ";{}个词元的预算已满")
EXCLUDED: Final = both("excluded", "已排除")
REFUTED: Final = both(
    "such tasks otherwise do as well or better, or it may be chance",
    "此类任务不用它也一样好或更好,或可能只是偶然",
)
NO_TOOL: Final = both(
    "the agent that asks has not got its tools, as far as its runs show",
    "从运行记录看,提问的代理没有其工具",
)
# Of procedures that fail.
MAY_BE_CHANCE: Final = both(
    "such tasks fail at times anyway, and so few failures may be chance",
    "此类任务本来就有失败,这么少的失败可能只是偶然",
)
UNRELATED: Final = both("not about this task", "与此任务无关")
OF_ANOTHER: Final = both(
    "it is about a tool of another coding agent's own, and only that agent met it",
    "它涉及另一编程代理自己的工具,且只有该代理遇到过",
)
# Of lessons about tools that fail at times.
NEEDS_NAMING: Final = both(
    "nothing is known that helps, or it is rare; it is told to tasks that name it",
    "尚无已知的解决办法,或很少发生;只告知提到它的任务",
)
BEYOND_LIMIT: Final = both("beyond the limit of its section", "超出本节的数量上限")
# Why a candidate of `context()` was left out, by its code.
LEFT_OUT: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "budget": "no room in the budget",
        "share": "no room in the share of its section",
        "max_candidates": "more candidates were handed in than are ranked",
        "replaced": "the agent handed in its own",
    },
    "zh": {
        "budget": "预算已满",
        "share": "所属份额已满",
        "max_candidates": "候选项超过排名上限",
        "replaced": "已由代理自己的候选项取代",
    },
}
