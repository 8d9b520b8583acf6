"""The verdict of a person's next prompt on the run before it.

A correction counts only at the *beginning* of a prompt, after fillers such as "no," or "hmm": what
comes later is more often about the next task. "No problem" and "that's not wrong" are no
corrections, and neither is a question. Praise is no evidence: people also say "thanks" for work
that is unfinished.

The phrases with which a person says that the work before was wrong, by language.

Each line is a regular expression that the beginning of a prompt is compared with. A space stands
for any white space, and an apostrophe for both of its forms. `tests/capture/next_prompts` holds the
sentences that the phrases are measured on.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

# ruff: noqa: E501 - a phrase is one line, in its own writing


_EN: Final = r"""
(?:that|this|it)(?:'s| is) (?:a |an )?(?:terrible|horrible|awful|bad|useless|stupid|ugly|pointless) (?:solution|idea|fix|change|hack|approach|design)?
stop (?:doing|changing|editing|adding|deleting|touching) (?:that|this|it|things|files|everything|my)\b
you (?:have not|haven't|did not|didn't|don't|do not) (?:understand|understood|get|got)\b
the (?:\w+ ){1,2}(?:now )?(?:fails|crashes|hangs|breaks|freezes|times out|returns nothing|returns null)(?: now)?(?: (?:now|again|with)\b|,? (?:that|which|this)(?:'s| is) wrong)
(?:it|everything) (?:just |now )*(?:hangs|freezes|times out|loops)(?: (?:forever|now|again)\b| ?[.,!]|\Z)
(?:that|this|it) (?:just |has |also )*(?:deleted|removed|wiped|overwrote|erased|dropped|killed)\b
i (?:wanted|asked for|meant|need|said) (?:it |this |that |them )?.{1,40}?,? not (?:in|on|for|to|with|a|an|the|at|from|by|your)\b
you (?:put|placed|added|wrote|moved|made|named|used|called|picked|chose) .{0,20}?(?:the )?wrong(?:ly)?\b
(?:that|this|your) (?:change|fix|edit|commit|solution|code|refactoring) (?:is|was) (?:useless|pointless|wrong|bad|unnecessary|not needed|terrible|not what)\b
go back,? .{0,40}(?:old|previous|earlier) (?:version|one|code)\b
not even close\b
(?:that|this|it) (?:does not|doesn't) (?:match|follow|respect|meet|conform|correspond)\b
(?:reset|discard|drop|remove|delete) (?:all )?(?:your (?:changes|edits|commit)|that again)\b
looks? (?:wrong|broken|off|bad)\b
incorrect ?(?:[.,!;:]|\Z)
you (?:cheated|lied|made that up|just deleted|are wrong|were wrong|got it wrong|have it backwards)\b
(?:it|this|that|everything|the (?:result|output|total|totals|answer|import|export|build|ci|tests?|page|file|code|fix|login|server|numbers?|order|format|layout)) (?:is|are|looks|seems|comes out) (?:still |now |just |all |completely |totally )*(?:messed up|wrong|incorrect|broken|red|failing|off|garbage|corrupted|a mess)\b(?! one)
(?:this|that|it|you|which) (?:just |now |has |have |completely )*(?:broke|broken|crashed|breaks|messed up|killed|destroyed) (?!if\b)
ci is (?:red|failing|broken)
you(?:'re| are|'ve| have| just| only| now| also| even| again| simply)* (?:changed|reformatted|rewrote|rewritten|hallucinated|invented|faked|hard-?coded|skipped|disabled|commented out|made (?:this |it |that )?up|touched|duplicated|renamed the wrong|editing|changing|breaking|deleting|only (?:did|fixed|changed|half)|fixed half|fixed only|did half)\b(?! no)
i (?:still |now |just )*(?:get|see|have) (?:a|an|the|exactly)? ?(?:\w+ ){0,3}?(?:[45]\d\d|error|errors|exception|traceback|stack ?trace)(?: (?:now|again|when)\b| ?[.,!:]|\Z)
(?:that|this) is (?:exactly |precisely )+what i (?:told you not|said not|asked you not|did not|didn't)
no (?:luck|effect|change|difference|improvement)(?: ?[.,!]|\Z)
(?:it |this |that )?fails? (?:again|with the same|now)\b
it (?:compiles|builds|runs|starts|works)(?: now)? but\b.{0,40}(?:fail|error|wrong|crash|broke|not\b|n't)
why (?:is|are) .{1,40}?(?:empty|gone|missing|broken|deleted|red|failing) now\b
(?:back out|take out|throw away|get rid of) (?:that|this|these|those|your|all of (?:that|it))\b
the (?:\w+ ){1,2}(?:does|do) nothing\b
(?:that|this|it)(?:'s| is| was) not (?:a|an|the|my) (?:real )?(?:fix|solution|question|answer|point|right|problem|idea)\b
(?:that|this|it)(?:'s| is| was| looks| seems) (?:still |all |just |now |completely |totally |plain |simply )*(?:wrong|incorrect|broken|worse|a mistake|failing|crashing|nonsense|the (?:same error|wrong|exact opposite|opposite))\b
(?:it|this|that|these|those|they|(?:the|your) (?:fix|change|changes|tests?|build|code|result|output|solution|patch))(?: is not| isn't| are not| aren't| was not| wasn't|'s not|'re not) (?:quite |even |at all )?(?:right|correct|working|what|it\b|fixed|compiling|true|how)
not (?:what i|fixed|working|correct|right[.,!]|like (?:that|this)|good enough)\b
(?:it|this|that|these|those|they|(?:the|your) (?:fix|change|changes|tests?|build|code|result|solution|patch|page|server|app)) (?:still )?(?:does not|doesn't|do not|don't|did not|didn't|won't|will not|cannot|can't) (?:even )?(?:work|compile|build|run|pass|help|fix|start|do what|look right|make sense|solve|change anything|address)\b
(?:does not|doesn't|did not|didn't) (?:even )?(?:work|compile|build|help|fix)\b
(?:it|this|that|these|those|they|(?:the|your) (?:same )?(?:fix|changes?|tests?|build|code|result|output|bug|error|problem|issue|page|server|app|ci)) (?:are |is )?still (?:fail|broken|red\b|wrong|not\b|crash|the same|there\b|empty|blank|get|happen|occur|persist|exist|present|does|do not|don't|throw|show)
(?:it|this|they)(?: now)? (?:fails?|failed|broke|breaks|crashes|crashed)\b(?! if\b| when the\b)
still (?:broken|failing|fails?\b|wrong|not\b|red\b|crash|the same|getting|does not|doesn't|do not|don't|no (?:output|change|luck|difference)|empty|blank|an error|errors)(?! covered| needed| urgent)
(?:getting |i (?:still )?(?:get|see|have) )?(?:exactly )?the same (?:error|exception|problem|failure|issue|bug)\b(?! (?:handling|messages?|code|should|must|for|in the))
same (?:error|exception|problem|failure|issue|bug)(?: (?:again|as|still|here|persists)\b|[.,!:]|\Z)
now (?:(?:it|the \w+|everything|all)(?: just| all)? (?:crash|fail|is broken|are broken|broke|breaks|does not|doesn't|do not|don't|hangs|won't|can't|cannot)|nothing (?:works|starts|compiles))
now (?:i|we) (?:get|am getting|are getting|see) (?:a|an|the|this|another|\d+)\b
(?:\d+|some|more|several|other) tests? (?:now )?(?:fail|are failing|is failing|broke)(?:s|ed)? (?:now|again)
(?:the|that) (?:\w+ ){1,2}(?:is|are) (?:failing|broken|blank|empty|gone|red) (?:now|again)\b
nothing (?:has )?(?:changed|works|happens|happened|is fixed)\b(?! in| without)
(?:you|you've|you have|you just|you've just) (?:just |also |completely |totally |again |accidentally )*(?:broke|broken|deleted|removed|forgot|forgotten|misunderstood|misread|ignored|missed|overwrote|overwritten|messed|screwed|destroyed|reverted|dropped)\b(?!\s(?:no|nothing|none|that i)\b)
you (?:did not|didn't|have not|haven't) (?:actually |even |really )?(?:run|change|changed|fix|fixed|do\b|done|update|updated|add|added|test|follow|read|listen|implement|finish|touch)\b
your (?:\w+ )?(?:fix|change|changes|solution|code|patch|edit|commit|test|refactoring|approach|version) (?:is |are |still |just |has |have |made )?(?:wrong|incorrect|breaks?|broke|broken|fails?|doesn't|does not|do not|don't|makes no|introduced|it worse)\b
(?:that|this|it|which) (?:only |just )?(?:made|makes) (?:it|things|everything) worse
(?:that|this)(?: \w+)? (?:makes no|made no|doesn't make|does not make) sense
i (?:already )?(?:said|told you|asked you) (?:not to|to not|don't|no |to leave|explicitly)\b
i (?:did not|didn't|never) (?:ask|asked|want|wanted|mean|meant|say|said|tell|told)\b(?! that)
why (?:did you|have you|would you|on earth) (?:just )?(?:delete|deleted|remove|removed|break|broken|revert|reverted|change|changed|ignore|ignored|overwrite|overwritten|touch|touched|drop|rewrite)\b
(?:undo|revert|roll back|rollback|take back|discard)(?: please)? (?:(?:all )?(?:that|this|it|these|those|your|everything|all|what you)\b|the (?:last|previous|latest) (?:change|changes|commit|edit|edits|step|one|thing)\b)
(?:undo|revert|rollback|roll back|discard)\s*(?:[.!,]|\Z)
(?:roll|take|put|change|turn|set|bring) (?:that|this|it|everything|them|all of (?:that|it)) back\b(?! (?:online|up|to (?:the (?:user|server|queue|pool)|\w+\.\w+)))
don't do (?:that|this|it)\b(?= ?[.,!])
restore (?:the )?(?:old|previous|original|deleted) (?:file|files|version|code|state|behaviou?r|content)\b
(?:the |that's the )?wrong(?! or\b)(?: (?:file|branch|approach|again|place|one|directory|folder|function|class|method|way|answer|direction|project|repo|repository|version|module)(?: ?[.,!;:—–-]|\Z| (?:again|please)\b)| ?[.,!;—–-]|\Z)
(?:bad|terrible|horrible|useless) (?:change|idea|fix|edit|solution|result|answer)\b
are you (?:kidding|serious|joking)\b
"""
_ZH: Final = r"""
错(?:[。！，,.!]|\Z)
(?:还是|仍然|依然|仍)(?:显示|返回|用的?|旧|老|[45]\d\d|打印|出来)
.{0,10}(?:还是|仍然|依然|仍) ?[45]\d\d
(?:这|你|它|这个|这次|你的改动)(?:又)?(?:把|让).{1,20}?(?:弄坏|搞坏|改坏|弄乱|搞乱|坏了|崩了|挂了|没了)
什么(?:变化|效果|作用|反应)(?:都|也)没(?:有)?
(?:测试|构建|CI)(?:是|全是|都是|还是)红的?
.{0,6}(?:布局|样式|格式|顺序|界面|页面|代码)(?:全|都|完全|又|被)(?:乱|坏|错|崩|毁)了
(?:这个|你的|这)(?:方案|办法|做法|实现|写法)(?:太|很|真|实在)?(?:糟|差|烂|蠢|丑|不好)
别(?:这么|这样|再)(?:干|做|改|搞|弄)
为(?:什么|啥)(?:要)?(?:改|动)(?:了)?(?!名字为|成功)
(?:跟|和|与)我(?:要|想|说|需要).{0,4}(?:的)?(?:正好|刚好|完全)?(?:相反|不一样|不同|不符)
(?:比|反而比)(?:之前|以前|原来|刚才)(?:还|更)?(?:糟|差|慢|坏)
(?:没有|没|不)，?(?:还是|仍然|依然)(?:红|失败|错|不)
你(?:漏|少|忘|删|放|写|改|加|用|搞|弄)(?:掉|了|改|写|错)?(?:了)?(?:.{0,12}(?:第二|另一|调用|错|地方)|错.{0,6}了?)
.{0,8}?现在(?:一直|就|又|都)?(?:报|出现|抛|失败|卡|挂|崩|超时)
(?:这|那|它)(?:把|又把|直接把)我.{1,14}(?:删|覆盖|清空|弄丢|毁)
我(?:要|想要|需要)的是.{1,30}(?:不是|而不是)
(?:这个|这|你的|那个)(?:改动|修改|方案|修复|提交|代码)(?:没(?:有)?(?:意义|用|必要)|不对|有问题|是错的|不行|多余)
(?:测试)?(?:跑不过|过不了|跑不通)
(?:退回|回到|恢复到)(?:去)?(?:吧|旧版|之前|原来|上一)
差得?(?:太)?远|差远了
(?:完全)?不(?:符合|满足)(?:规范|要求|需求|预期)
(?:接口|函数|结果|页面|它).{0,16}(?:，|,)?这(?:是|就是|也)?(?:错的|不对|有问题)
把(?:这个|那个|它|这些)(?:去掉|删掉|拿掉|移除|撤掉)
(?:看起来|看上去|好像|似乎)(?:就|还是|也)?(?:不对|有问题|错了|坏了)
.{0,8}不是这么(?:用|写|做|算|改)
你(?:作弊|撒谎|骗|瞎编|编造|搞反|弄反|理解反)
这(?:可|真)?不是(?:(?:个|一个)?(?:好主意|好办法)|我(?:要|想|说)的)
.{0,10}?(?:被你|让你)(?:全|都|又)?(?:改坏|弄坏|搞坏|删|改没|弄没|搞乱|改乱)
(?:没啥|没什么|没多大|不管|不起|没起)(?:用|作用|效果)(?:，|。|！|\Z|了)
这(?:正是|就是|恰恰是)我(?:说|让你|叫你|告诉你)(?:过)?(?:不要|别|不许)
把.{1,20}?(?:改动|修改|更改|提交|变更)(?:都|全部|全)?(?:撤销|撤回|回滚|还原|恢复|退回)
(?:能|可以)(?:编译|运行|启动|跑).{0,4}?但是?.{0,20}(?:失败|报错|错|不|崩)
你(?:就|只|才)(?:改|做|修|完成)(?:了)?(?:一半|一部分|一个)
我(?:问|说|要|指)的(?:不是|并不是)
(?:按钮|点击|点了|点).{0,6}(?:没反应|没有反应|不起作用|无效)
(?:根本|压根)(?:就)?(?:没有|没|不存在|不是|不能|不行)
(?:.{0,8}(?:后|之后|以后|现在|完) ?)?(?:ci|CI|构建|测试) ?(?:就|全|都)(?:红了|挂了|失败了)
这(?:不叫|不算|算什么|哪里?是|不是)(?:修复|修|解决|解决方案|方案)
你把.{1,24}?(?:格式化|重写|重构|改名|删|改|注释)(?:了|掉)
你(?:不该|不应该|不能|不可以)(?:动|改|删|碰)
(?:全部|都|全)(?:恢复|还原|撤销|回滚|改回)
(?:这个|这样|这|那个|那|它|你|又|全|都|刚才的?|结果|改的|改|测试|方向|思路|完全|明显|现在|肯定|好像|似乎|是|里|么|做|地方|文件){0,4}(?:不对(?![称齐外应比照话等劲着于吗么呢])(?!的话)|错了(?![吗么没呢])|弄错|搞错|改错|改坏|写错|做错|搞坏|弄坏|理解错|误解|不正确(?!的)|有误|是错的|不是这样|不是(?:我|这个意思)|不是.{0,4}(?:要的|想要的)|没(?:有)?(?:解决|修好|改对|生效|改好|变化|效果|反应|修复)|没(?:有)?用(?![到过户的于])|是?不行(?!的话|就|，?就)|行不通|不能用|还?没好|没过|没通过|不通过|跑不通|跑不起来|一样的错)
(?:这|那|它|这个|那个|结果)?(?:还是|依然|仍然|仍|依旧|又|继续)(?:会|在|有|是|出现|一样)*(?:报错|失败|出错|错的|不行|不对|不能|错|没通过|没过|不通过|一样的?错误?|同样的?错误?|崩溃|空的?|没|不工作|有问题|老样子|这个错误)
(?:测试|构建|编译|问题|错误|bug|页面|程序|服务|服务器|它|这个|这)(?: )?(?:还是|依然|仍然|仍|依旧|还|又)(?:会|在|有)*(?:失败|报错|没过|没通过|不通过|在(?!写|做|跑)|存在|出现|不行|不对|没(?:过|通过|好|修|解决)|崩)
(?:测试|构建|编译|ci) ?(?:没过|没通过|挂了|不过|失败了|不通过|全挂|红了)
(?:现在|这下|结果)?(?:就|完全|根本|直接|服务器|服务|程序|页面)*(?:运行不了|运行不起来|跑不了|启动不了|无法启动|无法运行|无法编译|编译不了|打不开|用不了|登录不了|崩溃了|崩了)
现在(?:页面|程序|服务|全|都|又|反而|更|连|就|整个|什么都)*(?:是空白|空白|报错|坏了|挂了|错了|启动不了|不能|没了|糟|红了|失败)
你(?:又|怎么|还|刚才|居然|竟然|直接)?(?:把|给)(?!.{0,20}[?？]?\Z(?<=吗)).{1,20}?(?:搞坏|弄坏|改坏|删了|删掉了|覆盖|去掉了|弄丢|破坏|改没|改乱|弄乱|写死)
你(?:又|好像|还|完全|根本)?(?:忘了|忘记了?|漏了|漏掉了|漏改|忽略了|没(?:有)?(?:改|跑|运行|测试|理解|听|按|看)|误会|删错|改错|理解错|没动)
(?:撤销|撤回|回滚|回退|还原|恢复)(?:\Z|吧|掉|刚才|这|那|上|你|所有|全部|更改|修改|改动|它|一下|到(?:之前|上一|原来|改动前)|成?(?:原来|原样|之前|改动前)|[，。！])
(?:改|换|变|弄)回(?:来|去|原来|之前|原样)
为(?:什么|啥|何)(?:要|你|把|又|会)*(?:删|去掉|改掉|改了|覆盖|动了|移除|撤|破坏)(?!除失败)
你?(?:为什么|怎么|为啥)(?:又|要|会)?把.{1,20}?(?:删|去掉|改|覆盖|移除|弄|搞)
我(?:都|明明|已经|不是|之前|早)?(?:说过|说了|讲过|告诉过你)(?:吗|让你)?(?:不要|别|不用|不能|不许)
我(?:没|没有|从没|并没有?)(?:让|叫|要求|要|说)(?:你)?
我(?:不是|要的不是|想要的不是|说的不是)(?:这个|这样|那个|要|让)
谁(?:让|叫)你
(?:什么都|什么也|啥都|一点都|完全|根本|都)没(?:有)?(?:变|改|动|做|生效|修)
(?:越改越|更|反而更|越来越)(?:糟|差|坏|乱)
"""
CORRECTIONS: Final[Mapping[str, str]] = {
    "en": _EN,
    "zh": _ZH,
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
    r"|continúa|continua|sigue|adelante|prosigue|继续|接着来?|请继续|往下|続けて|続き)"
    r"(?:\s+please|\s+bitte|\s+por\s+favor|\s+s['’]il\s+te\s+plaît)?(?:吧|做|下去|ください|を?お願いします)*\W*\Z",
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
