"""The texts about memories in a prompt, in English and in Chinese.

What an agent wrote stands in quotation marks as a note of an agent, and a past task as a quotation:
neither is an order to whoever reads it.
"""

from typing import Final

from ..text.inert import quoted
from ..text.language import Language, both
from .rules import PITFALL_PREFIX, MemoryType, without_prefix

_PITFALL: Final = both(PITFALL_PREFIX, "已知陷阱: ")

_NOTED: Final = both("an agent noted: ", "智能体记录:")
_NOTED_PITFALL: Final = both("an agent noted, known as a pitfall: ", "智能体记录,已知为陷阱:")
_MEMORY_LIMIT = 300


def memory_line(
    text: str, kind: MemoryType, *, confidence: float, language: Language = "en"
) -> str:
    """Return the line of one memory.

    Args:
        text: its text, as an agent wrote it.
        kind: whether it is a known pitfall.
        confidence: as stored; the decayed one would change the text by the minute.
        language: the language of the words that are added.
    """
    noted = (_NOTED_PITFALL if kind is MemoryType.ANTI_PATTERN else _NOTED)[language]
    said = noted + quoted(without_prefix(text), _MEMORY_LIMIT, is_chinese=language == "zh")
    label = "置信度" if language == "zh" else "confidence"
    return f"- {said} [{label} {confidence:g}]"


def pitfall_text(text: str, language: Language = "en") -> str:
    """Return a known pitfall's text with the words that mark it in a language."""
    return _PITFALL[language] + without_prefix(text)
