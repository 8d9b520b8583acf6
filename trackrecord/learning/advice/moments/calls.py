"""Calls as they are tried again: by which names a later call of the same kind is known.

A call is known by its exact line, by the shape of it, by its first words, by a program with an
option, and a tool for files by the file. Facts are counted from these.
"""

import re
import shlex
from collections.abc import Iterator, Sequence, Set
from itertools import dropwhile, groupby, pairwise, takewhile
from posixpath import basename
from typing import Final

import msgspec

from ...competences.episodes.checks import CHECKS, MAKES
from ...text.inert import one_line
from ...text.lazy_regex import compile_lazily
from ...text.words import words_of
from ..runs.failures import has_not_started, masked_line
from .facts import TEST

LONGEST_LINE: Final = 300
PASSED: Final = "passed"
RAN: Final = "ran"
NOT_STARTED: Final = "not started"
EDITS: Final = frozenset({"edit", "write"})
"""The words on record for the tools that change a file."""
_SHELL: Final = "shell:"

_HOME: Final = compile_lazily(
    r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:'\"]+(?=[/\\\s:'\"]|\Z)"
)
_ROOT_HOME: Final = compile_lazily(r"(?<![\w./~-])/root(?=[/\s:'\"]|\Z)")
# What only shows an output, or less of it.
_SHOWS: Final = compile_lazily(
    r"(?:\s*\d?>&\d|\s*\d?>>?\s?/dev/null|\s*\|&?\s*(?:tail|head|cat)(?:\s+-[\w=]+(?:\s+\d+)?)?"
    r"|\s*;\s*echo\s+\S*\$\?\S*)+\s*\Z"
)
# A line with one of these is not told: a secret was in it, or the text of a file, or it was cut.
_UNTOLD: Final = compile_lazily(r"<secret>|<<|…\s*\Z")
_PARTS: Final = compile_lazily(r"&&|\|\|?|[;\n(]")
_SEPARATORS: Final = frozenset({"&&", "||", ";", "|"})
_ASSIGNED: Final = compile_lazily(r"[A-Za-z_]\w{0,127}=")
_PROGRAM: Final = compile_lazily(r"[A-Za-z][\w.+-]{0,31}\Z")
# Their options are those of what they start.
_LAUNCHERS: Final = frozenset({
    "npx", "bunx", "pnpx", "uvx", "rtk", "pnpm", "npm", "yarn", "bun", "uv", "poetry", "pipenv",
    "pdm", "hatch", "docker", "sudo", "env", "time", "timeout", "xargs", "nohup",
})  # fmt: skip
# Words of many lines, which tell nothing of the program.
_STARTS: Final = frozenset({
    "run", "exec", "x", "dlx", "python", "python3", "node", "bash", "sh", "compose",
}).union(_LAUNCHERS, CHECKS)  # fmt: skip
# Which package of a repository is meant.
_MEMBER: Final = compile_lazily(
    r"(?:--(?:filter|workspace|package|prefix|dir|cwd)|-[FCw])[ =][^\s]{1,100}"
)
# The person, or a rule of the person's, did not let the call happen.
_REFUSED: Final = compile_lazily(
    r"refused by the person|the user doesn'?t want|permission to use|requires approval"
    r"|user rejected|was blocked|hook error|denied by|not approved",
    re.IGNORECASE,
)


# What a check does not need: addresses, what a command or a text says to run, and hidden parts.
_INDIRECT: Final = compile_lazily(
    r"://|\bwww\.|[`\n]|\$\(|[<>]\(|\beval\b|\b(?:ba|da|z|k|fi|c)?sh +-\w*c\b"
    r"|\|&?\s*(?:sudo +|env +)*(?:\S{0,64}/)?"
    r"(?:(?:ba|da|z|k|fi|c)?sh|python[\d.]*|node|perl|ruby|php)\b"
)
# By the words of their names, what lines do that check nothing.
WORK: Final = {
    "format": frozenset({"fmt", "format", "fix", "gofmt", "prettier"}),
    "install": frozenset({"install", "ci", "sync", "bootstrap"}),
    "generate": frozenset({"generate", "gen", "codegen"}),
    "start": frozenset({"dev", "serve", "start"}),
}
# What only looks is no preparation; what destroys is not named.
UNNAMED: Final = compile_lazily(
    r"^(?:ls|cat|head|tail|grep|rg|find|which|echo|printf|man|pwd|ps|curl|wc|sed|awk|jq|stat|sleep|cd|env|rm"
    r"|sudo|kill|pkill|dd|mv|chmod|chown)\b|\b(?:status|log|diff|show|ps|logs|list|rm|delete|drop"
    r"|reset|clean|prune|push|publish|deploy|release|destroy|remove|uninstall|force)\b"
)
_LONGEST_WORK: Final = 120
_VERSIONS: Final = frozenset({"git", "gh", "glab"})
CI: Final = "CI"
# Clients of what hosts repositories; words for what runs there, and for looking at it.
_HOSTS: Final = frozenset({"gh", "glab", "tea", "az", "circleci", "bk"})
_RUNS_THERE: Final = frozenset({"ci", "run", "runs", "checks", "pipeline", "pipelines", "build"})
_LOOKS_THERE: Final = frozenset({"checks", "watch", "view", "list", "status", "trace", "logs"})
# Programs that run here what would run there.
_CI_HERE: Final = frozenset({"act", "gitlab-ci-local"})
_WORK: Final = compile_lazily("|".join(sorted(_HOSTS.union(_CI_HERE, *WORK.values()))))
_ENDS: Final = frozenset({"&&", "||", ";", "|", "|&", "&", "(", ")"})
_PREPARES: Final = compile_lazily(
    r"(?:cd|pushd) \S+\Z|(?:export )?[A-Za-z_]\w{0,127}=\S*\Z"
    r"|(?:source|\.) \S{0,200}activate\S{0,20}\Z"
)
_TOOL: Final = compile_lazily(r"[\w.:/-]{1,64}")
_NAME: Final = compile_lazily(r"[\w.@:/+-]{1,100}\Z(?<!-)|-m\Z")
_PATH: Final = compile_lazily(
    r"(?:[A-Za-z]:)?[~.]{0,2}[\\/]?[\w.@+-]{1,100}(?:[\\/][\w.@+()\[\]-]{1,100}){0,30}"
)
# A sentence has more plain words than the names of a command.
_MOST_WORDS: Final = 5


class TriedCheck(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A check that a command line ran, or failed to start.

    Attributes:
        kind: "test", "lint", "type check", "build", or "check" for several of these at once.
        state: "passed", "ran" with another result, "not started"; None if that is not known.
        line: the line that runs it alone; "" where none may be told.
        is_whole: whether it runs on all that its program would run on.
    """

    kind: str
    state: str | None = None
    line: str = ""
    is_whole: bool = False


class TriedCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call of a tool.

    Attributes:
        tool: its name, finer for a shell: "shell:git commit".
        at: when it was made, seconds since the epoch.
        ok: whether it succeeded; None if that is not known.
        line: the command line as it may be told, see `told_line`; "" if it may not, or is none.
        launcher: what starts the command, as "uv run"; "" for none.
        error: the line of its error that tells what went wrong, inert; "" without one.
        checks: the checks of the line.
        file: the file that it is about, as it is told; "" for none.
        sought: the pattern of file names that it searched for; "" for none.
        found: whether such a search found anything.
    """

    tool: str
    at: float = 0.0
    ok: bool | None = None
    line: str = ""
    launcher: str = ""
    error: str = ""
    checks: tuple[TriedCheck, ...] = ()
    file: str = ""
    sought: str = ""
    found: bool = True

    @property
    def failed(self) -> bool:
        """Return whether the call failed: of a check, whether it did not start.

        What a check finds is its result, and what a person refuses was never tried.
        """
        if self.checks:
            return any(check.state == NOT_STARTED for check in self.checks)
        return self.ok is False and _REFUSED.search(self.error) is None

    @property
    def ran(self) -> bool:
        """Return whether the call did its work."""
        if self.checks:
            known = [check.state for check in self.checks if check.state is not None]
            return bool(known) and NOT_STARTED not in known
        return self.ok is True

    @property
    def told(self) -> str:
        """The line by which it is told: of a call that is one check, without what shows less."""
        if len(self.checks) == 1 and self.checks[0].line:
            return self.checks[0].line
        return self.line

    @property
    def words(self) -> str:
        """Its first words as written: launcher, program and subcommand; or else its tool."""
        if not (self.line or self.file or self.sought):
            return self.tool if _TOOL.fullmatch(self.tool) else ""
        name = self.tool.removeprefix(_SHELL) if self.tool.startswith(_SHELL) else ""
        words = f"{self.launcher} {name}".split()
        return _spelt(self.line.split(), words) or " ".join(words)

    @property
    def not_started(self) -> tuple[str, ...]:
        """The kinds of its checks that did not start."""
        return tuple(dict.fromkeys(c.kind for c in self.checks if c.state == NOT_STARTED))


class TriedRun(msgspec.Struct, frozen=True, gc=False):
    """The calls of one run that can be tried again.

    Attributes:
        outcome: the row of its outcome.
        session: the session that it is part of; unique within the project.
        ended_at: when it ended, seconds since the epoch.
        calls: its calls, in order.
        repository: the repository that it worked in; "" for the project's own.
        machine: a digest of the machine and its user; "" if unknown.
        speaker: whose word all this is.
    """

    outcome: int
    session: str
    ended_at: float
    calls: tuple[TriedCall, ...]
    repository: str = ""
    machine: str = ""
    speaker: str = ""


def keys_of(call: TriedCall) -> Iterator[str]:
    """Yield the names by which a call is known, the most exact first."""
    if call.file and not call.line:
        yield f"file {call.tool} {call.file}"
        return
    if not call.line:
        if call.words:
            yield f"tool {call.words}"
        return
    told = call.told
    if told:
        yield exact_key(told)
        shape = masked_line(told)
        if shape != told:
            yield f"shape {shape}"
    words = call.words
    if " " in words:
        yield f"words {words}"


def _spelt(line: Sequence[str], words: Sequence[str]) -> str:
    """Return the part of a line that holds words in order: "bun run test" for "bun" and "test"."""
    rest = iter(words)
    wanted, start = next(rest, None), None
    for place, word in enumerate(line):
        if word == wanted:
            start = place if start is None else start
            wanted = next(rest, None)
            if wanted is None:
                return " ".join(line[start : place + 1])
        elif start is not None and word in _SEPARATORS:
            break
    return ""


def exact_key(line: str) -> str:
    """Return the name by which exactly one line is known."""
    return f"line {line}"


def is_exact(key: str) -> bool:
    """Return whether a key names one line, or one file, and no kind of them."""
    return key.startswith(("line ", "file "))


def programs_of(line: str) -> frozenset[str]:
    """Return the words of a line that can be its programs, without what starts them."""
    part = _MEMBER.sub("", line.rpartition("&& ")[2])
    return frozenset(word for word in part.split() if _PROGRAM.match(word) and word not in _STARTS)


def told_line(command: str) -> str:
    """Return a command line as it may be told; "" if it may not.

    One inert line of at most 300 characters without what only shows its output, home folders as
    "~". None that held a secret, or the text of a file, or of which only the beginning is known.
    """
    if len(command) >= LONGEST_LINE or _UNTOLD.search(command):
        return ""
    line = one_line(without_home(_SHOWS.sub("", command)), LONGEST_LINE)
    return "" if "`" in line or line.endswith("…") else line


def holds_check(line: str) -> bool:
    """Return whether a line is a command that runs a check, and hardly anything else."""
    commands = _commands_of(line)
    options = [[word for word in part if word.startswith("-")] for part in commands]
    words = [_words_of(part, *own) for part, own in zip(commands, options, strict=True)]
    return bool(words) and not any(map(CHECKS.isdisjoint, words))


def work_of(line: str) -> str:
    """Return what kind of work a line that checks nothing does, and hardly anything else.

    Args:
        line: the line, as it may be told.

    Returns:
        "format", "install", "generate", "start" or "CI"; "" for anything else.
    """
    if len(line) > _LONGEST_WORK or _WORK.search(line) is None:
        return ""
    commands = _commands_of(line)
    if commands and all(map(_is_of_ci, commands)):
        return CI
    if any(part[0] in _VERSIONS or UNNAMED.search(" ".join(part)) for part in commands):
        return ""
    named = [_words_of(part) for part in commands]
    for kind, words in WORK.items():
        if named and not any(map(words.isdisjoint, named)):
            return kind
    return ""


def _is_of_ci(part: Sequence[str]) -> bool:
    """Return whether a command shows, or runs here, what checks the work elsewhere.

    A number that is no option's value names one run of the past.
    """
    words, pairs = frozenset(part[1:]), pairwise(part)
    looks = not (words.isdisjoint(_RUNS_THERE) or words.isdisjoint(_LOOKS_THERE))
    is_past = any(word.isdigit() and not before.startswith("-") for before, word in pairs)
    return part[0] in _CI_HERE or (part[0] in _HOSTS and looks and not is_past)


def _commands_of(line: str) -> list[list[str]]:
    """Return the commands of a line that do more than to prepare the shell.

    None if something is fetched, or runs what another command or a text says.
    """
    if _INDIRECT.search(line) or one_line(line, LONGEST_LINE) != line:
        return []
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        parts = [[*part] for is_end, part in groupby(words, _ENDS.__contains__) if not is_end]
    except ValueError:  # a quote that does not end
        return []
    return [part for part in parts if not _PREPARES.match(" ".join(part))]


def _words_of(part: Sequence[str], *options: str) -> frozenset[str]:
    """Return the words of the names at the beginning of a command; none of a sentence."""
    named = dropwhile(_ASSIGNED.match, part)
    names = list(takewhile(lambda word: _NAME.match(word) is not None, named))
    if not names or sum(map(str.isalpha, part)) > _MOST_WORDS:
        return frozenset()
    return words_of(" ".join([*names, *options]))


def is_path(text: str) -> bool:
    """Return whether a text is the path of a file."""
    return _PATH.fullmatch(text) is not None


def is_inside(path: str) -> bool:
    """Return whether a path, as it is told, starts from the top of its repository."""
    return not path.startswith(("/", "~", "..")) and ":" not in path


def ending_of(path: str) -> str:
    """Return the ending of a file's name; all of a name without one."""
    return basename(path).rpartition(".")[2]


def without_home(text: str) -> str:
    """Return a text with home folders as "~"."""
    if "/" not in text and "\\" not in text:
        return text
    return _ROOT_HOME.sub("~", _HOME.sub("~", text))


def check_by_name(
    tool: str, command: str, ok: bool | None, error: str, line: str
) -> tuple[TriedCheck, ...]:
    """Return the check of a call of which only names are known; nothing if it checks nothing.

    Args:
        tool: its name.
        command: its command line.
        ok: whether it succeeded.
        error: the line that tells of its error.
        line: the command line as it may be told.
    """
    name = tool.removeprefix(_SHELL) if tool.startswith(_SHELL) else ""
    # Of several commands it is not known which one the name and the state are of.
    words = words_of(name or command) if not _PARTS.search(command) else set()
    if not words & CHECKS or words & MAKES:
        return ()
    state = PASSED if ok else None
    if ok is False and has_not_started(error):
        state = NOT_STARTED
    return (TriedCheck(_kind(words), state, line, is_whole=False),)


def _kind(words: Set[str]) -> str:
    """Return what a check checks, by the words of its name."""
    if words & _TESTS:
        return TEST
    if words & _TYPES:
        return "type check"
    return "build" if words & _BUILDS else "lint"


_TESTS: Final = frozenset({
    "test", "tests", "pytest", "unittest", "jest", "vitest", "mocha", "rspec", "junit", "tox",
    "nox", "ctest", "phpunit", "nosetests", "nextest", "minitest", "verify", "测试",
})  # fmt: skip
_TYPES: Final = frozenset({
    "typecheck", "typechecker", "typechecking", "mypy", "pyright", "basedpyright", "tsc",
})  # fmt: skip
_BUILDS: Final = frozenset({"build", "compile", "构建", "编译"})
