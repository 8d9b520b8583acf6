"""Labels of entries for people, in English and in Chinese, and what all documents have."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

import msgspec

from trackrecord.learning.text.language import Language

_Entry = TypeVar("_Entry", bound=msgspec.Struct)
_Made = TypeVar("_Made")

_ZH: Final = {
    "avoid": "避免",
    "pattern": "模式",
    "proven": "已验证",
    "established": "已确立",
    "candidate": "候选",
    "competence": "工具流程",
    "never succeeded": "从未成功",
    "procedure": "有效流程",
    "memory": "记忆",
    "anti-pattern": "已知陷阱",
    "past task": "过往任务",
    "lesson": "经验",
    # The kinds of candidates.
    "phase": "阶段",
    "task": "任务",
    "decision": "决定",
    "evidence": "证据",
    "agent context": "上下文",
    "anti pattern": "反模式",
}
# How an entry is cached, and no part of what is shown of it.
NOT_SHOWN: Final = ("lines", "translations", "lang", "record_lines")


class Labelled(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entry with a line of prompt text by language."""

    named: ClassVar[str]
    """Its label in English."""

    if TYPE_CHECKING:
        # The fields stand where each kind of entry has them: they are cached by place.
        lines: dict[str, str]
        lang: str

    @property
    def label(self) -> str:
        """Return the label for people."""
        return label(self.named, self.lang)

    @property
    def gist(self) -> str:
        """Return a summary for a table of all kinds."""
        return gist(self.lines, self.lang)


class Document(msgspec.Struct, frozen=True, dict=True):
    """A cached document of a project, and what is derived from it."""

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """Return values derived from this document, made once; not cached in Redis."""
        return {}

    def once(self, name: str, make: Callable[[Self], _Made]) -> _Made:
        """Return a value derived from this document, computed once and not for each prompt."""
        if name not in self.derived:
            self.derived[name] = make(self)
        made: _Made = self.derived[name]
        return made


def label(name: str, language: str) -> str:
    """Return an entry's label in a language; in English by default."""
    return _ZH.get(name, name) if language == "zh" else name


def gist(lines: dict[str, str], language: str) -> str:
    """Return the content of a line of prompt text, in the language or else in English."""
    return (lines.get(language) or lines.get("en", "")).removeprefix("- ")


def in_language(entry: _Entry, language: Language) -> _Entry:
    """Return an entry whose texts and label are in a language; what agents wrote stays as it is."""
    if language == "en":
        return entry
    texts: dict[str, Any] = entry.texts_in(language) if hasattr(entry, "texts_in") else {}
    return msgspec.structs.replace(entry, lang=language, **texts)


def shown(entry: msgspec.Struct) -> dict[str, Any]:
    """Return an entry as a JSON object, without its lines, which the prompt contains already."""
    fields = msgspec.structs.asdict(entry)
    return {name: value for name, value in fields.items() if name not in NOT_SHOWN}
