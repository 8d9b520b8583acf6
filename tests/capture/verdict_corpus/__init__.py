"""Outputs of checks and command lines, written by hand, and how each of them ended.

`outputs.txt` and `held_out.txt` hold outputs; rules were written with the first in view and are
measured on both. A record begins with "%% TOOL ENDING EXIT"; its line follows behind "$ ", then
what the command printed. ENDING is "passed", "failed", "nothing" (nothing was checked) or "cut"
(killed before its end).

`recorded.jsonl` and `more_outputs.jsonl` hold more of them, an object a line: the first what real
runners printed when they were run on small projects, the second what is written by hand. There,
ENDING may also be "not started", and "hidden" where what the line shows tells no result.
`unseen.jsonl` holds what runners printed that no rule was written for: it was measured once.

`editing_lines.txt` and `keeping_lines.txt` hold command lines that change the work, and others.

`not_cleared.txt`, `cleared.txt` and `proves_nothing.txt` hold one run a line: its calls in order,
each with how it ended.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = Path(__file__).parent
_RECORD: Final = re.compile(
    r"^%% (\S+) (passed|failed|nothing|cut) (\d+)\n\$ ([^\n]+)\n", re.MULTILINE
)
_KILLED: Final = frozenset({124, 137, 143})


class CheckOutput(NamedTuple):
    """One check as somebody saw it end.

    Attributes:
        tool: what verified.
        ending: "passed", "failed", "nothing", "cut", "not started" or "hidden".
        form: how its command line was changed, "plain" if it was not.
        line: the command line.
        exit_code: the exit status of the line.
        output: what was printed.
    """

    tool: str
    ending: str
    form: str
    line: str
    exit_code: int
    output: str


def outputs_in(name: str) -> list[CheckOutput]:
    """Return the records of a file of the corpus, each in its plain form."""
    if name.endswith(".jsonl"):
        records = map(json.loads, (_FOLDER / name).read_text().splitlines())
        return [
            CheckOutput(
                each["tool"], each["ending"], "plain", each["line"], each["code"], each["output"]
            )
            for each in records
        ]
    _, *parts = _RECORD.split((_FOLDER / name).read_text())
    return [
        CheckOutput(tool, ending, "plain", line, int(code), output)
        for tool, ending, code, line, output in zip(*[iter(parts)] * 5, strict=True)
    ]


def lines_in(name: str) -> list[str]:
    """Return the command lines of a file of the corpus."""
    return (_FOLDER / name).read_text().splitlines()


def forms_of(check: CheckOutput) -> Iterator[CheckOutput]:
    """Yield a check in the ways that agents run it, with the status that each leaves."""
    code, output = check.exit_code, check.output
    lines = output.splitlines(keepends=True)

    def form(name: str, line: str, exit_code: int, shown: str) -> CheckOutput:
        return CheckOutput(check.tool, check.ending, name, line, exit_code, shown)

    yield check
    if check.ending == "hidden":
        return
    yield form("in a folder", f"cd /src/shop && {check.line}", code, output)
    yield form("sh -c", f"sh -c {shlex.quote(check.line)}", code, output)
    yield form("2>&1", f"CI=1 timeout 600 {check.line} 2>&1", code, output)
    tail = "".join(lines[-20:])
    yield form("pipefail", f"set -o pipefail; {check.line} 2>&1 | tail -20", code, tail)
    yield form("status told", f"{check.line}; echo exit=$?", 0, f"{output}exit={code}\n")
    yield form(
        "status of the pipe",
        f'{check.line} 2>&1 | tail -20; echo "rc: ${{PIPESTATUS[0]}}"',
        0,
        f"{tail}rc: {code}\n",
    )
    yield form("tee", f"{check.line} 2>&1 | tee /tmp/log.txt", 0, output)
    yield form("|| true", f"{check.line} || true", 0, output)
    yield form("; echo", f"{check.line}; echo 'All tests passed'", 0, f"{output}All tests passed\n")
    yield form("tail -20", f"{check.line} 2>&1 | tail -20", 0, tail)
    yield form("tail -4", f"{check.line} 2>&1 | tail -n 4", 0, "".join(lines[-4:]))
    yield form("tail -1", f"{check.line} 2>&1 | tail -1", 0, "".join(lines[-1:]))
    yield form("head -5", f"{check.line} 2>&1 | head -5", 0, "".join(lines[:5]))
    good = [line for line in lines if re.search("pass|ok", line, re.IGNORECASE)]
    yield form("grep", f"{check.line} 2>&1 | grep -iE 'pass|ok'", 0 if good else 1, "".join(good))
    if code in _KILLED:
        return
    log = f"{check.line} > /tmp/log.txt 2>&1; tail -3 /tmp/log.txt"
    yield form("log", log, 0, "".join(lines[-3:]))
