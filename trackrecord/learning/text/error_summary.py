"""Error summaries: the failure, without the rest of an error's text.

Whoever makes a call fail chooses the words of its error: a web page, a ticket, a server. Agents
read them, so that nothing of a text is passed on but what tells of a failure: codes and names of
exceptions, and one phrase around a predicate of failure ("not found", "cannot", "已取消"), a few
words long, within one clause. What addresses a reader ends the phrase. Names, codes and plain words
stay; quoted texts, commands, addresses, markup and everything beyond the phrase do not. A text in
which nothing tells of a failure has no summary.

The words are those of a language's grammar (negations, participles of failure, pronouns), not of
known attacks.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from .inert import ELLIPSIS, is_short_name, plain
from .lazy_regex import compile_lazily

# Longer texts keep their end: the name of an exception stands there.
_LONGEST: Final = 4000
_MOST_BEFORE: Final = 4
_MOST_AFTER: Final = 5
_MOST_CHARS: Final = 90
_MOST_HAN: Final = 6
_MOST_CODES: Final = 2
_MOST_OPENING: Final = 5
# How close to a clause the name of an exception stands in front of it.
_CODE_WITHIN: Final = 60

# What varies in a template, and what is never passed on: markup, addresses, quoted texts, commands.
_HIDDEN: Final = compile_lazily(
    r"<[a-z]{1,8}>|‹[^‹>\n]{0,200}>|\b[A-Za-z][A-Za-z0-9+.-]{1,15}:/[^\s\"'<>)\]]*|\bwww\.\S+"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}|`[^`\n]{0,500}`|\$\([^)\n]{0,500}\)"
)
_QUOTED: Final = compile_lazily(
    r"\"([^\"\n]{0,500})\"|(?<!\w)'([^'\n]{0,500})'(?!\w)|[“„«]([^”“»\n]{0,500})[”“»]"
)
# Where JSON says what went wrong.
_MESSAGE: Final = compile_lazily(
    r"\"(?:message|msg|error|detail|details|reason|title)\"\s?:\s?\"([^\"\n]{1,500})\""
)
_CODE: Final = compile_lazily(
    r"\b(?:[A-Za-z_]\w{0,40}(?:Error|Exception|Warning|Failure|Fault|Timeout|Interrupt|Exit)\b"
    r"|E[A-Z]{3,15}\b|(?:E|TS|CS|SQLSTATE\ |ORA-|HTTP\ |Errno\ |Error\ )\d{1,5}\b|SIG[A-Z]{2,7}\b"
    r"|[Ee]xit(?:ed)?(?:\ with)?(?:\ (?:code|status))?:?\ (?:\d{1,3}\b|…)"
    r"|status(?:\ code)?\ (?:\d{3}\b|…))"
)
# Clauses: the ends of sentences and lines, and what stands between the parts of a message.
_CLAUSE_END: Final = compile_lazily(
    r"(?:[.!?;,](?=\s|\Z)|[。！？；，、：:](?=\s|[^\W\d_a-zA-Z]|\Z)|:\ |\s[-–—→=|&]{1,3}\s"
    r"|[\n()\[\]{}|<>\"“”»«*#^]|\.\.\.|&&)+"
)
_COLONS: Final = frozenset({": ", ":", "："})
_TRIMMED: Final = ".,:;!?·•'’"

# Predicates that say how something failed; each alternative is tried from the left.
_ENGLISH: Final = (
    r"(?:no such file or directory|can ?not|can[’']?t|could ?n[o’']t|could not|unable to"
    r"|fail(?:ed|s) to|refus(?:es|ed|ing) to|does ?n[o’']?t|does not|did ?n[o’']?t|did not"
    r"|is ?n[’']t|was ?n[’']t|are ?n[’']t|has no|have no|had no|there (?:is|are|was|were) no"
    r"|no such|no longer|(?<!\w )(?<!\w)no(?= \w+ing\b| \w+ed\b)|\Ano(?= [a-z]+)"
    r"|(?<!do )(?<!does )not(?= \w)|not allowed|without success"
    r"|missing|invalid|illegal|unknown|undefined|un(?:expected|supported|recogni[sz]ed|declared"
    r"|resolved|authori[sz]ed|available|reachable|matched|handled|terminated|satisfied|processable)"
    r"|forbidden|denied|declined|refused|rejected|revoked|expired|exceed(?:ed|s)|timed out"
    r"|time-?out|conflicts?|already|duplicate|deadlock|insufficient|incompatible|inconsistent"
    r"|out of"
    r"|too (?:many|few|long|short|large|small|big|old|late|early|deep)|overflow|underflow|mismatch"
    r"|violat(?:es|ed|ion)|malformed|corrupt(?:ed)?|abort(?:ed)?|cancell?ed|interrupted|killed"
    r"|locked|overdue|depleted|exhausted|lost|broken|reset by|closed by|by zero|out-of-\w+"
    r"|must (?:not )?(?:be|have|match|contain|start|end|equal|exceed|lie)|requires?"
    r"|expect(?:ed|s|ing)"
    r"|stopped|crashed|panicked|truncated|blocked|disabled|deprecated|obsolete|stale|empty)\b"
)
_WEAK: Final = (
    r"(?:fail(?:ed|s|ing)?|failures?|errors?|exception|wrong|bad|limit|warnings?|fatal"
    r"|fehler|erreur|ошибка)\b"
)
_OTHERS: Final = (
    # German
    r"(?:nicht (?=\w)|keine?[nrsm]?(?= \w)|fehlgeschlagen|verweigert|abgelehnt|ungültig\w*"
    r"|fehl(?:t|en|ende\w?)\b|unbekannt\w*|existiert|überschritten|abgelaufen|abgebrochen|gesperrt"
    r"|zeitüberschreitung|gescheitert"
    # French
    r"|introuvables?|refusée?s?|invalides?|échec|échoué\w*|impossible|n[’'](?:existe|est|a) pas"
    r"|manquante?s?|inconnue?s?|expirée?s?|dépassée?s?|interdite?s?|insuffisante?s?|annulée?s?"
    # Spanish
    r"|no (?:se |es |está |existe|encontrad|válid|disponible|hay)\w*|denegad[oa]s?|rechazad[oa]s?"
    r"|inválid[oa]s?|falló|fallid[oa]s?|falta|desconocid[oa]s?|caducad[oa]s?|agotad[oa]s?"
    r"|insuficientes?|cancelad[oa]s?|excedid[oa]s?"
    # Russian: negated participles and short forms, never an infinitive or an order
    r"|не (?=\w+(?:н|на|но|ны|т|та|то|ты|ет|ит|ут|ют|ено|ся|ось)\b)|нет(?= \w)|отказано\w*"
    r"|отклон[её]н\w*|невозможно|неверн\w+|недопустим\w+|отсутству\w+|истекл?\w*|превышен\w*"
    r"|недостаточно|прервано?\w*|отмен[её]н\w*)\b"
)
_TELLING: Final = compile_lazily(rf"(?<![\w-])(?:{_ENGLISH}|{_OTHERS})", re.IGNORECASE)
_WEAKLY: Final = compile_lazily(rf"(?<![\w-]){_WEAK}", re.IGNORECASE)
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_CHINESE: Final = compile_lazily(
    rf"[{_HAN}\w]{{0,{_MOST_HAN}}}?(?:不存在|未找到|找不到|不到|无法|不能|失败|超时|拒绝|不足|不够|没有"
    rf"|无效|非法|缺少|不可用|取消|冲突|过期|超出|超过|不支持|不匹配|已满|中断|未[{_HAN}]|无[{_HAN}])"
    rf"[{_HAN}\w]{{0,{_MOST_HAN}}}"
)
_ADDRESS_ZH: Final = compile_lazily(r"[请您你]|必须|应该|应当|务必|立即|马上|不要|(?:现|先)在?再")
# Whom a text addresses, and what binds a reader.
_ADDRESS_TEXT: Final = """
you your yours yourself i me my mine we us our let lets please must should shall ought always never
need needs gotta kindly now immediately instead
du dein deine deinen deiner dir dich ihr euch bitte musst müssen müsst sollst sofort jetzt
tu ton ta tes toi vous votre vos veuillez devez dois
tú tus usted ustedes debes debe tienes favor ahora
ты тебе тебя твой вы вам вас ваш должен должна должны пожалуйста
"""
# What begins another clause.
_JOINTS_TEXT: Final = """
and or but so then because since until unless although while when whenever if which who whom whose
that where note hint try see use usage
und oder aber dann weil bis wenn dass et ou mais puis car donc si y o pero entonces porque
и или но потом чтобы если затем
"""
_DETERMINERS_TEXT: Final = """
the a an this that these those all any every each its his her their our previous everything
everyone die das den alle le la les tous toutes el los las todos todas все всех
"""
# Words that do not open an order although a determiner follows.
_OPENERS_TEXT: Final = """
all both half not in on at of for from by with to is are was were what whatever neither either
while during despite without within
"""
# Nothing ends with these, or with a determiner.
_LOOSE_TEXT: Final = """
to of in on at for from by with into onto over under about than be been is are was were has have had
"""
# Behind these stand names: what is said to be needed, or first, is no command.
_BINDING_TEXT: Final = """
require requires required requiring expect expects expected expecting must without before after
needs first
"""
_PROGRAMS_TEXT: Final = """
apk apt apt-get aws awk az base64 bash brew bun cargo cat chmod chown cmake cp crontab curl dd deno
dnf docker echo eval exec export find gcloud gh git go helm install kill killall kubectl ln make mv
nc node npm npx openssl perl php pip pip3 pipx pkill pnpm podman poetry python python3 rm rsync ruby
run scp sed sh source ssh su sudo systemctl tar tee terraform unzip uv uvx wget xargs yarn yum zsh
"""
_ACT: Final = compile_lazily(r"\A-|[/\\@=~$|&;`]")
_BINDING: Final = frozenset(_BINDING_TEXT.split())
_PROGRAMS: Final = frozenset(_PROGRAMS_TEXT.split())
_ADDRESS: Final = frozenset(_ADDRESS_TEXT.split())
_CUTS: Final = _ADDRESS | frozenset(_JOINTS_TEXT.split())
_DETERMINERS: Final = frozenset(_DETERMINERS_TEXT.split())
_OPENERS: Final = frozenset(_OPENERS_TEXT.split())
_LOOSE: Final = _DETERMINERS | frozenset(_LOOSE_TEXT.split())


class _Clause(NamedTuple):
    """A part of a message, within which words belong together.

    Attributes:
        text: the clause.
        follows_colon: whether a colon stands in front of it.
    """

    text: str
    follows_colon: bool


class _Phrase(NamedTuple):
    """A phrase that reports a failure.

    Attributes:
        is_weak: whether it says no more than that something failed.
        follows_code: whether the name of an exception stands in front.
        words: the phrase.
    """

    is_weak: bool
    follows_code: bool
    words: str


_NOTHING: Final = _Clause("", follows_colon=False)


def error_summary(text: str, *, most_phrases: int = 1, keeps_quoted: bool = False) -> str:
    """Return the words of an error text that report the failure; "" if there are none.

    The summary is one inert line of codes and phrases, "ModuleNotFoundError: No module named …",
    and takes time in proportion to the text's length.

    Args:
        text: an error's text or its template, as a tool reported it.
        most_phrases: how many phrases it has at most (≥ 1).
        keeps_quoted: whether short quoted names stay, as a retry of the same task needs them.
    """
    return _summary(text[-_LONGEST:], most_phrases, keeps_quoted)


def opening(text: str) -> str:
    """Return the first words of a text, to recognise it by; "" if they give a reader orders.

    At most five words up to the end of its first sentence or clause, without what is hidden in an
    error; names and words alone, and an ellipsis where there are more.

    Args:
        text: a trigger, an activity, a line of output, or an error that has no summary.
    """
    clauses = list(_clauses(_hidden(text[:_LONGEST], keeps_quoted=False)))
    first_end = next((n for n, each in enumerate(clauses) if n and not each.follows_colon), None)
    words = ": ".join(clause.text for clause in clauses[:first_end]).split()
    first = words[:_MOST_OPENING]
    if _is_order(words) or any(_folded(word) in _ADDRESS for word in first):
        return ""
    shown = (_word(word) + ":" * word.endswith(":") for word in _trimmed(first))
    said = " ".join(filter(None, shown)).rstrip(":")
    if not said.strip(ELLIPSIS + " ") or _ADDRESS_ZH.search(said):
        return ""
    is_cut = len(words) > len(first) or first_end is not None
    return f"{said} {ELLIPSIS}" if is_cut and not said.endswith(ELLIPSIS) else said


# The same few errors come again and again, in each language and at each prompt.
@lru_cache(maxsize=2048)
def _summary(text: str, most_phrases: int, keeps_quoted: bool) -> str:
    shown = _hidden(text, keeps_quoted=keeps_quoted)
    codes = list(dict.fromkeys(_CODE.findall(shown)))[-_MOST_CODES:]
    phrases = sorted(_phrases(shown), key=_rank)
    said = list(dict.fromkeys(each.words for each in phrases))[:most_phrases]
    codes = [code for code in codes if not any(code in phrase for phrase in said)]
    summary = ": ".join((*codes[-1:], "; ".join(said))) if codes else "; ".join(said)
    return summary.rstrip(": ")


def _rank(phrase: _Phrase) -> tuple[bool, bool]:
    return phrase.is_weak, not phrase.follows_code


def _hidden(text: str, *, keeps_quoted: bool) -> str:
    """Return a text without its confidential parts."""
    text = _HIDDEN.sub(ELLIPSIS, _MESSAGE.sub(r"\n\1\n", plain(text)))
    return _QUOTED.sub(_shown_name if keeps_quoted else ELLIPSIS, text)


def _shown_name(quoted: re.Match[str]) -> str:
    name = next(filter(None, quoted.groups()), "")
    return name if is_short_name(name) else ELLIPSIS


def _clauses(text: str) -> Iterator[_Clause]:
    start, follows_colon = 0, False
    for end in _CLAUSE_END.finditer(text):
        if said := text[start : end.start()].strip():
            yield _Clause(said, follows_colon)
            follows_colon = False
        start, follows_colon = end.end(), end.group() in _COLONS
    if said := text[start:].strip():
        yield _Clause(said, follows_colon)


def _phrases(text: str) -> Iterator[_Phrase]:
    clauses = list(_clauses(text))
    for place, clause in enumerate(clauses):
        before = clauses[place - 1] if place else _NOTHING
        follows = clause.follows_colon and bool(_CODE.search(before.text[-_CODE_WITHIN:]))
        if (chinese := _chinese(clause.text)) is not None:
            yield _Phrase(is_weak=False, follows_code=follows, words=chinese)
            continue
        found = _TELLING.search(clause.text)
        is_weak = found is None
        found = found or _WEAKLY.search(clause.text)
        if found is None:
            continue
        after = clauses[place + 1] if place + 1 < len(clauses) else _NOTHING
        words = _around(clause.text, found)
        if not words or (is_weak and not _says_more(words, found.group())):
            continue
        # "pnpm: command not found", "no such table: users".
        head = f"{before.text}: " if clause.follows_colon and _is_name(before.text) else ""
        tail = f": {after.text}" if after.follows_colon and _is_name(after.text) else ""
        yield _Phrase(is_weak, follows, f"{head}{words}{tail}")


def _is_name(text: str) -> bool:
    return is_short_name(text) and not (_CODE.fullmatch(text) or _WEAKLY.fullmatch(text))


def _says_more(words: str, predicate: str) -> bool:
    """Return whether a phrase adds to the fact that something failed."""
    others = (word for word in words.casefold().split() if word not in predicate.casefold())
    return any(word not in _LOOSE and word != ELLIPSIS for word in others)


def _around(clause: str, found: re.Match[str]) -> str:
    """Return the words around a predicate, as far as they belong to the statement."""
    before, after = clause[: found.start()].split(), clause[found.end() :].split()
    subject = [] if _is_order(before) else _since_cut(before[-_MOST_BEFORE:])
    binds = not _BINDING.isdisjoint(found.group().casefold().split())
    rest = _trimmed(_until_act(_until_cut(after[:_MOST_AFTER]), binds=binds))
    words = [*subject, found.group(), *rest]
    shown = [each for each in map(_word, words) if each]
    while shown and shown[0] == ELLIPSIS:
        shown.pop(0)
    return " ".join(shown)[:_MOST_CHARS].rstrip()


def _word(word: str) -> str:
    word = word.strip(_TRIMMED)
    if ELLIPSIS in word:
        return ELLIPSIS
    return word if " " in word or is_short_name(word) else ELLIPSIS if word else ""


def _is_order(words: Sequence[str]) -> bool:
    """Return whether a clause that begins so is an instruction: "delete the …"."""
    if len(words) < 2:
        return bool(words) and _folded(words[0]) in _ADDRESS
    first, second = map(_folded, words[:2])
    is_verb = not (first in _OPENERS | _DETERMINERS | _CUTS or first.endswith("ing"))
    return first in _ADDRESS or (second in _DETERMINERS and is_verb)


def _folded(word: str) -> str:
    return word.casefold().strip(_TRIMMED)


def _since_cut(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for word in reversed(words):
        if _folded(word) in _CUTS:
            break
        kept.append(word)
    return kept[::-1]


def _until_cut(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for word in words:
        if _folded(word) in _CUTS:
            break
        kept.append(word)
    return kept


def _until_act(words: Sequence[str], *, binds: bool) -> list[str]:
    """Return words up to what a reader could do, where they say what has to be or to come first."""
    kept: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        runs = _folded(word) in _PROGRAMS and following.strip(_TRIMMED)[:1].isalpha()
        if binds and (runs or _ACT.search(word)):
            break
        binds = binds or _folded(word) in _BINDING
        kept.append(word)
    return kept


def _trimmed(words: Sequence[str]) -> list[str]:
    kept = list(words)
    while kept and _folded(kept[-1]) in _LOOSE:
        kept.pop()
    return kept


def _chinese(clause: str) -> str | None:
    """Return the words around a predicate in Chinese; None if there is none."""
    address = _ADDRESS_ZH.search(clause)
    found = _CHINESE.search(clause[: address.start()] if address else clause)
    return found.group() if found else None
