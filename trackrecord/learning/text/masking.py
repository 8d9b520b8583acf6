"""Masking: remove from one run's text the parts that agents of other runs must not see.

Names, ids, addresses and numbers are replaced by placeholders, so that an agent learns what a task
was about and not whose it was. A text has no marks for what is personal: see `masked` for what
cannot be seen.
"""

import re
from typing import Final

# A longer text is known by its beginning.
LONGEST: Final = 4000

NAME: Final = "{name}"
_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}")
_URL: Final = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>)\]]+")
_HOME: Final = re.compile(r"(?<![\w/\\])(?:[A-Za-z]:)?[\\/](?:home|Users|users)[\\/][^\s\"'<>)\]]+")
# A word with digits in it, with the parts that are joined to it: mia_li_3668, PROJ-41, 7f3a-22.
_ID: Final = re.compile(r"\b(?=[\w#-]{0,200}\d)\w+(?:[-_#]\w+)*\b")
_NUMBER: Final = re.compile(r"(?<!\w)\+?\d+(?:[.,:/]\d+)*%?(?!\w)")
_DIGITS: Final = re.compile(r"\d+")
_LETTERS: Final = re.compile(r"[^\W\d_]{3,}")

_WORD: Final = r"[A-Z\u00c0-\u00d6\u00d8-\u00de][a-z\u00df-\u00f6\u00f8-\u00ff]+"
_PART: Final = rf"{_WORD}(?:[-'’]{_WORD})?"
# Who is meant is said in front of a name.
_INTRODUCED: Final = re.compile(
    r"\b((?:[Yy]ou are|I am|I['’]m|[Mm]y name is|[Nn]amed|[Cc]alled|Mrs?\.?|Ms\.?|Dr\.?|Prof\.?"
    r"|[Ff]riend|[Ww]ife|[Hh]usband|[Ss]on|[Dd]aughter|[Mm]other|[Ff]ather|[Bb]rother|[Ss]ister"
    r"|[Cc]olleague|[Pp]assenger|[Cc]ustomer|[Cc]lient|[Uu]ser|[Pp]atient|[Ee]mployee)"
    rf"[,:]?\x20)({_PART}(?:\x20{_PART}){{0,2}})"
)
_INTRODUCED_ZH: Final = re.compile(
    r"(我叫|名叫|姓名[:：是]?)[\u4e00-\u9fff]{2,4}?(?=[,，。;；\s]|$)"
)
_PAIR: Final = re.compile(rf"\b(?:([Tt]he|[Aa]n?)\x20)?({_PART}(?:\x20{_PART}){{1,2}})\b")
# Words that open the name of a place.
_PLACES_TEXT: Final = """
New San Santa Los Las Saint North South East West Great United Fort Port Lake Mount Cape Rio
Hong Buenos
"""
# Other words that are written large where no person is meant.
_NO_NAME_TEXT: Final = """
Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
July August September October November December The This That These If When While After Before
And But Or For From In On At To Is Are Do Does Can Could Please Fix Add Remove Update Change
Make Write Read Run Test Use Check Find Create Delete Implement Support Allow Return Set Get
Show Move Rename Refactor Repair You Your I We They He She It
"""
_PLACES: Final = frozenset(_PLACES_TEXT.split())
_NO_NAME: Final = _PLACES | frozenset(_NO_NAME_TEXT.split())
# What stands behind these is an id although it has no digit: "reservation HXDUBJ".
_CODE: Final = re.compile(
    r"\b([Rr]eservation|[Bb]ooking|[Oo]rder|[Tt]icket|[Cc]ode|[Nn]umber|[Aa]ccount|id|ID)"
    r"((?:\x20(?:is|id|ID|number|code)|:){0,2}\x20)[A-Z]{5,12}\b"
)
# And beside another id: "IFOYYZ and 7H3KQ2".
_CODE_BESIDE: Final = re.compile(r"\b[A-Z]{5,12}(?=(?:,| and| or|, and|/)\x20?\{id\})")
_REPEATED: Final = re.compile(r"(\{(?:id|n|name|mail|url|path)\})(?:[\s,;]*\1)+")


def masked(text: str) -> str:
    """Return a text with names, ids, addresses and numbers replaced by placeholders.

    The placeholders are `{name}`, `{id}`, `{n}`, `{mail}`, `{url}` and `{path}`. The time is linear
    in the length of the text, of which the first 4,000 characters remain. A second call changes
    nothing.

    What is not seen: a person's single name where nothing introduces it and no id in the text is
    made of it, a name in small letters, a name in Chinese that nothing introduces, an address of a
    street without numbers. What is masked needlessly: a thing's name of two capitalised words,
    such as Visual Studio, and a word with a digit, such as python3.
    """
    text = text[:LONGEST]
    known: set[str] = set()
    if "://" in text:
        text = _URL.sub("{url}", text)
    if "@" in text:
        text = _MAIL.sub(lambda found: _kept(found.group(), "{mail}", known), text)
    text = _HOME.sub("{path}", text)
    text = _NUMBER.sub("{n}", text)
    text = _ID.sub(lambda found: _id(found.group(), known), text)
    text = _DIGITS.sub("{n}", text)
    text = _CODE.sub(r"\1\2{id}", text)
    text = _CODE_BESIDE.sub("{id}", text)
    text = _INTRODUCED.sub(lambda found: found[1] + _introduced(found[2], known), text)
    text = _INTRODUCED_ZH.sub(r"\1{name}", text)
    text = _PAIR.sub(lambda found: _pair(found, known), text)
    if known:
        text = _LETTERS.sub(lambda found: _known(found.group(), known), text)
    return _REPEATED.sub(r"\1", text)


def _kept(found: str, placeholder: str, known: set[str]) -> str:
    """Remember the words of a masked part: an id is often made of a name."""
    known.update(word.casefold() for word in _LETTERS.findall(found.split("@")[0]))
    return placeholder


def _id(word: str, known: set[str]) -> str:
    if not any(character.isalpha() for character in word):
        return "{n}"
    return _kept(word, "{id}", known) if "_" in word else "{id}"


def _introduced(name: str, known: set[str]) -> str:
    if name.split(" ", 1)[0] in _NO_NAME:
        return name
    return _kept(name, NAME, known)


def _pair(found: re.Match[str], known: set[str]) -> str:
    article, words = found[1], found[2].split(" ")
    if article is not None:
        return found.group()
    # A sentence may begin in front of a name: "Ask Anya Garcia".
    opening = words.pop(0) if words[0] in _NO_NAME else ""
    if len(words) < 2 or words[0] in _NO_NAME or opening in _PLACES:
        return found.group()
    return f"{opening} {_kept(' '.join(words), NAME, known)}".lstrip()


def _known(word: str, known: set[str]) -> str:
    return NAME if word[0].isupper() and word.casefold() in known else word
