"""The verdict of a person's next prompt on the run before it.

A correction counts only at the *beginning* of a prompt, after fillers such as "no," or "hmm": what
comes later is more often about the next task. "No problem" and "that's not wrong" are no
corrections, and neither is a question. Praise is no evidence: people also say "thanks" for work
that is unfinished.

The phrases with which a person says that the work before was wrong stand by language in
`corrections`. Each line is a regular expression that the beginning of a prompt is compared with. A
space stands for any white space, and an apostrophe for both of its forms. In
`tests/capture/next_prompts` are the sentences that the phrases are measured on.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_TABLES: Final = Path(__file__).with_name("corrections")
CORRECTIONS: Final[Mapping[str, str]] = {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(_TABLES.glob("*.txt"))
}


_LONGEST: Final = 400
_MOST_FILLERS: Final = 12

_FILLER: Final = re.compile(
    # "No" says little by itself; "no problem" says that it is well.
    r"(?:no(?=\s*[,.!…:;—–-]|\s*\Z|\s+no\b)[\s,.!…:;—–-]*"
    r"|(?:nope|nah|hmm*|um+|uh|ok|okay|well|wait|stop|sorry|but|hey|hi|please|argh|ugh|oh|ah|and|so"
    r"|actually|unfortunately|yes|claude|codex|again|wtf|omg|crap|damn"
    r")\b[\s,.!…:;—–-]*|[\s,.!…:;—–-]+|嗯|啊|呃|哦|等等|等一下|等下|抱歉|但是|可是|不过|还|哎|唉"
    r"|，|。|！|、|：|；)\s*",
    re.IGNORECASE,
)


def _compiled(table: str) -> re.Pattern[str]:
    lines = filter(None, map(str.strip, table.splitlines()))
    text = "|".join(f"(?:{line})" for line in lines)
    return re.compile(text.replace(" ", r"\s").replace("'", "['’]"), re.IGNORECASE)


_WRONG: Final = tuple(map(_compiled, CORRECTIONS.values()))
_WHY: Final = re.compile(r"why\b|你?(?:为|怎)|are you", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!\n。！;；]|\?|？|\Z")
_WHY_AT_LAST: Final = re.compile(r"[,;.!] why\?\s*\Z", re.IGNORECASE)
_GOES_ON: Final = re.compile(
    r"\W*(?:(?:ok|okay|yes|please|bitte|ja|oui|sí|por favor|好的?|はい)[\s,.，、]+){0,2}"
    r"(?:continue|go\s+on|go\s+ahead|carry\s+on|keep\s+going|keep\s+on|proceed|resume"
    r"|(?:mach(?:e|en\s+sie)?\s+)?weiter(?:machen)?|fahre?\s+fort|continuez|poursuis|vas-y"
    r"|continúa|continua|sigue|adelante|prosigue|继续|繼續|接着来?|请继续|往下|続けて|続き)"
    r"(?:\s+from\s+there|\s+(?:from\s+)?where\s(?:you|we|it|i)\b[^.\n]{0,25})?"
    r"(?:\s+please|\s+bitte|\s+por\s+favor|\s+s['’]il\s+te\s+plaît)?(?:吧|做|执行|下去|ください|を?お願いします)*\W*\Z",
    re.IGNORECASE,
)


def says_wrong(prompt: str) -> str:
    """Return the words at a prompt's beginning that call the work before it wrong; or ""."""
    text = prompt[:_LONGEST]
    for start in _starts(text):
        for wrong in _WRONG:
            found = wrong.match(text, start)
            if found is not None:
                return "" if _is_question(text, found) else found.group().strip(" ,.!:;，。！、")
    return ""


def _starts(text: str) -> Iterator[int]:
    """Yield where a prompt may begin: at its start, and behind each of its first fillers."""
    yield (position := len(text) - len(text.lstrip()))
    for _ in range(_MOST_FILLERS):
        filler = _FILLER.match(text, position)
        if filler is None:
            return
        yield (position := filler.end())


def _is_question(text: str, found: re.Match[str]) -> bool:
    end = _SENTENCE_END.search(text, found.end())
    asks = end is not None and end.group() in ("?", "？")
    return asks and _WHY.match(found.group()) is None and _WHY_AT_LAST.search(text) is None


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
