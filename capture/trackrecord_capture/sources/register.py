"""The agents whose recorded sessions can be read, by name."""

from collections.abc import Mapping
from typing import Final

from .claude_code import ClaudeCode
from .codex import Codex
from .opencode import OpenCode
from .source import Source

# A file that several could read belongs to the first: the names of rollouts are Codex's own.
_ALL: Final[tuple[Source, ...]] = (Codex(), OpenCode(), ClaudeCode())
SOURCES: Final[Mapping[str, Source]] = {source.name: source for source in _ALL}
