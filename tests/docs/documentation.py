"""The pages of the documentation, and what is in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md",
    ROOT / "examples" / "README.md", *sorted(DOCS.glob("*.md")),
]  # fmt: skip
PAGE_NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
PACKAGE_FOLDERS = [
    ROOT / "trackrecord", ROOT / "producers", ROOT / "worker", ROOT / "consolidation",
    ROOT / "capture", ROOT / "door", ROOT / "cli",
]  # fmt: skip

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(name: str) -> str:
    """A page's text, by its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(*languages: str) -> Iterator[Block]:
    """The fenced blocks of all pages in one of the languages."""
    for name in PAGE_NAMES:
        text = text_of(name)
        for found in _BLOCK.finditer(text):
            if found[1] in languages:
                line = text.count("\n", 0, found.start()) + 1
                yield Block(name, line, found[1], found[2])


def prose_of(name: str) -> str:
    """A page's text without its fenced blocks."""
    return _BLOCK.sub("", text_of(name))


def tables(text: str) -> Iterator[list[list[str]]]:
    """The rows of each table, its header first, cell by cell."""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            if not re.fullmatch(r"[\s|-]+", line):
                rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif rows:
            yield rows
            rows = []
