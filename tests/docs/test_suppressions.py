"""Every lint exception says why."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.docs.documentation import PACKAGE_FOLDERS, ROOT

_WITH_REASON = re.compile(r"noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* - \S")


def test_noqa_carries_a_reason():
    """`# noqa: X123 - why`, and never a bare one."""
    folders = (*PACKAGE_FOLDERS, ROOT / "tests", ROOT / "docs", ROOT / "benchmarks")
    without = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for line, comment in _comments(path)
        if "noqa" in comment and not _WITH_REASON.search(comment)
    ]
    assert not without


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    source = path.read_text(encoding="utf-8")
    if "noqa" not in source:  # reading every token takes its time
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
