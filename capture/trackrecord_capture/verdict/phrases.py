"""Read a verdict on the last run from a person's next prompt, by a short table of phrases.

Only a prompt that *begins* with one of them counts, after fillers such as "no," or "hmm": what
comes later in a prompt is more often about the next task. "No problem" and "that's not wrong" are
none of them, nor is a question. Praise is no evidence: "thanks" is said of unfinished work, too.
"""

import re
from typing import Final

_LONGEST: Final = 400

_FILLERS: Final = re.compile(
    r"(?:(?:no|nope|nah|hmm+|um+|uh|ok|okay|well|wait|stop|sorry|but|hey|hi|please|argh|ugh|oh|ah|and"
    r"|actually|unfortunately|yes|claude|codex)\b|[\s,.!…:;—–-]|嗯|啊|呃|哦|等等|等一下|抱歉|但是|可是|不过|还"
    r"|，|。|！|、|：|；)*+",
    re.IGNORECASE,
)
_IT: Final = (
    r"(?:it|this|that|these|those|they|the\ (?:fix|change|changes|tests?|build|code|result))"
)
_DOES_NOT: Final = r"(?:does\ not|doesn['’]?t|do\ not|don['’]?t|did\ not|didn['’]?t)"
_IS_NOT: Final = (
    r"(?:is\ not|isn['’]?t|are\ not|aren['’]?t|was\ not|wasn['’]?t|['’]s\ not|['’]re\ not)"
)
_YOURS: Final = r"(?:that|this|it|these|those|your|the\ (?:last|previous)|everything|all|what\ you)"
_WRONG: Final = re.compile(
    rf"""
    (?: (?:that|this|it)(?:['’]s|\ is|\ was|\ looks|\ seems)\s
        (?:still\ |all\ |just\ |completely\ |totally\ )?
        (?:wrong|incorrect|broken|worse|a\ mistake|failing|the\ same\ error)\b
    | {_IT}(?:\ {_IS_NOT}|['’]s\ not|['’]re\ not)\s
        (?:right|correct|working|what\ i|it|fixed|done)\b
    | not\ what\ i\ (?:asked|wanted|meant|said)
    | {_IT}\ (?:still\ )?{_DOES_NOT}\ (?:even\ )?(?:work|compile|build|run|pass|help|fix)\b
    | {_DOES_NOT}\ work\b
    | {_IT}\ (?:are\ |is\ )?still\ (?:fail|broken|red\b|wrong|not\ |crash|the\ same|error|get)
    | {_IT}\ (?:fails?|failed|broke|breaks)\b
    | still\ (?:broken|failing|fails|wrong|not\ working|not\ fixed|red\b|crash|the\ same|getting
        |{_DOES_NOT})
    | you(?:['’]ve|\ have)?\ (?:just\ )?
        (?:broke|broken|deleted|removed|forgot|misunderstood|ignored|missed)\b
    | i\ (?:said|told\ you|asked\ you)\ (?:not\ to|to\ not|don['’]t)\b
    | why\ did\ you\ (?:delete|remove|break|revert|change|ignore|overwrite)\b
    | (?:undo|revert|roll\ ?back)\ {_YOURS}\b
    | (?:undo|revert)\s*(?:[.!]|\Z)
    | wrong\b(?!\?)\s*
        (?:[.,!:;—–-]|\Z|(?:file|branch|approach|again|place|one|directory|folder)\b)
    | (?:这|那|它|你|还|又|全|都|这个|这样|刚才的?|结果|改的?|测试)*+
      (?: 不对(?![称齐外应比照话等劲着于吗么])(?!的话) | 错了(?![吗么没])
        | 弄错 | 搞错 | 改错 | 改坏 | 写错 | 不正确 | 有误 | 是错的 | 不是这样
        | 不是我(?:要|想|说) | 没(?:有)?(?:解决|修好|改对|生效|改好)
        | 没(?:有)?用(?![到过户的]) | 是?不行(?!的话) | 行不通 | 不能用 | 还?没好
        | 还?(?:是|在)?(?:报错|失败|不工作|不能|没通过|不通过|跑不通|一样的错) )
    | (?:撤销|撤回|回滚|还原|恢复)
        (?:\Z|吧|掉|刚才|这|那|上|你|所有|全部|更改|修改|改动|它|一下|[，。！])
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!\n。！;；]|\?|？|\Z")
_GOES_ON: Final = re.compile(
    r"\W*(?:please\s+)?(?:continue|go\s+on|go\s+ahead|carry\s+on|keep\s+going|proceed|resume|继续|接着来?|请继续|往下)"
    r"(?:\s+please)?(?:吧|做)?\W*\Z",
    re.IGNORECASE,
)


def says_wrong(prompt: str) -> str:
    """Return the words at a prompt's beginning that call the work before it wrong; or ""."""
    text = prompt[:_LONGEST]
    filler = _FILLERS.match(text)
    found = _WRONG.match(text, filler.end() if filler else 0)
    if found is None:
        return ""
    end = _SENTENCE_END.search(text, found.end())
    if (
        end is not None
        and end.group() in ("?", "？")
        and not found.group().lower().startswith("why")
    ):
        return ""
    return found.group().strip(" ,.!:;，。！")


def goes_on(prompt: str) -> bool:
    """Return whether a prompt only asks the agent to go on."""
    return bool(_GOES_ON.match(prompt[:_LONGEST]))


_LOOK: Final = re.compile(
    r"\W*(?:(?:please|can|could|would|you|just|now|quickly|kindly)\s+){0,4}"
    r"(?:do|does|did|is|are|was|were|has|have|why|what|which|how|who|where|when|run|re-?run|check|show"
    r"|tell|list|explain|look|see|verify|test|report|describe|review|find\s+out|investigate)\b"
    r"|\W*(?:请|帮我|麻烦)*(?:运行|跑|检查|看看|看一下|查看|为什么|是否|解释|说明|列出|告诉)",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"\b(?:fix|mend|repair|make|get|add|implement|change|update|write|create|remove|delete|rename"
    r"|refactor|solve|resolve|correct|edit|improve|build|migrate|install|ensure|until|green)\b"
    r"|修复|修正|解决|添加|增加|实现|修改|更改|删除|重构|改成|写|创建|优化",
    re.IGNORECASE,
)


def only_looks(instruction: str) -> bool:
    """Return whether a person only wanted information: "do the tests pass?"."""
    text = instruction[:_LONGEST]
    return bool(_LOOK.match(text)) and not _CHANGE.search(text)
