"""The agents whose recorded sessions can be read, by name."""

from collections.abc import Mapping
from typing import Final

from .claude_code import ClaudeCode
from .codex import Codex
from .opencode import OpenCode
from .source import Source

SOURCES: Final[Mapping[str, Source]] = {
    source.name: source for source in (ClaudeCode(), Codex(), OpenCode())
}
