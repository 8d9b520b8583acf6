"""Instruction files, which coding agents read by themselves, in a folder and its repository."""

from pathlib import Path
from typing import Final

from trackrecord.settings.projects.repositories import repository_of

_FILES: Final = (
    "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md",
    "GEMINI.md", "QWEN.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".github/copilot-instructions.md",
)  # fmt: skip
_LONGEST: Final = 64 * 1024


def instructions_in(folder: str) -> str:
    """Return the texts of the instruction files of a folder and of its repository.

    Args:
        folder: where an agent works.

    Returns:
        The first 64 KB of each as one text; "" without any. A file that cannot be read is none.
    """
    repository = repository_of(folder)
    folders = dict.fromkeys((folder, folder if repository is None else repository.folder))
    return "\n".join(_text(Path(each) / name) for each in folders for name in _FILES)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST)
    except OSError:
        return ""
