"""Command lines of bash, sh and zsh, taken apart into their simple commands.

This is no shell: what a line expands to is not known. What must be right is which commands there
are, what is joined to what, and that quoted text and the bodies of heredocs are no commands. The
kept parsers fall short: bashlex refuses arithmetic, `case` and an unclosed quote (and is under the
GPL), and shlex knows no heredoc and no substitution.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

# A line is known by its beginning; a long heredoc has what stands around it in front.
LONGEST: Final = 64 * 1024
_MOST_COMMANDS: Final = 200
_LONGEST_WORD: Final = 4096

_BLANK: Final = re.compile(r"(?:[ \t\r]|\\\r?\n)++")
_COMMENT: Final = re.compile(r"#[^\n]*+")
_OPERATOR: Final = re.compile(r"\n|&&|\|\||\|&|;;&?|;&|[;|()]|&(?!>)")
_REDIRECTION: Final = re.compile(
    r"(?:\d{0,3}|\{\w{1,32}\})(<<<|<<-?|<>|>>|>\||[<>]&|<(?!\()|>(?!\())|&>>?"
)
# A backslash within a word is one of PowerShell's folders: in bash nobody quotes a letter.
_PLAIN: Final = re.compile(r"(?:[^\s\\'\"`$;&|()<>]++|(?<=[\w.:~])\\(?=\w|\.\w))++")
_PLAIN_WORD: Final = re.compile(rf"{_PLAIN.pattern}(?=[\s;&|()]|\Z)")
# What each begins with.
_SKIPPED: Final = {**dict.fromkeys(" \t\r\\", _BLANK), "#": _COMMENT}
_REDIRECTS: Final = frozenset("<>&{0123456789")
_OPERATES: Final = frozenset("\n;&|()")
_DOUBLE_PLAIN: Final = re.compile(r"(?:[^\\\"`$]++|\\(?![\\\"`$\n]))++")
_PARAMETER: Final = re.compile(r"\$(?:\{[^}\n]{0,200}\}|\w{1,64}|[?!$#@*-])?")
_JOINS: Final = {"\n": ";", "|&": "|", ";;": ";", ";;&": ";", ";&": ";"}
_BRACES: Final = {"{": "(", "}": ")"}
_IN_SUBSTITUTION: Final = re.compile(r"[()\"'\\`]|<<-?[ \t]*(['\"]?)(\w{1,64})\1")


class ShellCommand(msgspec.Struct, kw_only=True):
    """One simple command of a line.

    Attributes:
        words: its words without quotes, redirections left out.
        text: the words as they are written, with quotes and what is replaced.
        joined: the operator between it and what follows: "&&", "||", "|", "&", ";" or "".
        writes: the files that its output is redirected to.
        reads: the text of its heredocs.
        piped: whether its output, or that of a group around it, feeds another command.
        hidden: whether the exit status of its group is hidden by "||" or "&".
    """

    words: list[str]
    text: str = ""
    joined: str = ""
    writes: list[str] = []
    reads: str = ""
    piped: bool = False
    hidden: bool = False


# Its steps and the lines of its checks are told from the same commands.
@lru_cache(maxsize=256)
def commands_of(line: str) -> tuple[ShellCommand, ...]:
    """Split a command line into commands; open quotes end with the line. The time is linear."""
    return tuple(_Reader(line[:LONGEST]).read())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._commands: list[ShellCommand] = []
        self._command = ShellCommand(words=[])
        self._start = self._ended = 0  # where its words begin and end
        self._groups: list[int] = []
        self._closed: int | None = None  # where the group began that was just closed
        self._heredocs: list[tuple[str, bool, ShellCommand]] = []
        self._missing: set[str] = set()

    def read(self) -> list[ShellCommand]:
        while self._at < len(self._text) and len(self._commands) < _MOST_COMMANDS:
            self._step()
        self._end("")
        return self._commands

    def _step(self) -> None:
        text, at = self._text, self._at
        skipped = _SKIPPED.get(text[at])
        if skipped is not None and (found := skipped.match(text, at)):
            self._at = found.end()
        elif text[at] in _REDIRECTS and (found := _REDIRECTION.match(text, at)):
            self._redirect(found)
        elif text[at] in _OPERATES and (found := _OPERATOR.match(text, at)):
            self._at = found.end()
            self._operate(found.group())
        else:
            self._add(self._word(), at)

    def _add(self, word: str, start: int) -> None:
        if word in _BRACES and not self._command.words:
            self._operate(_BRACES[word])
        else:
            self._start = self._start if self._command.words else start
            self._command.words.append(word)
            self._ended = self._at

    def _operate(self, operator: str) -> None:
        if operator == "(":
            self._end(";")
            self._groups.append(len(self._commands))
        elif operator == ")":
            self._end(";")
            self._closed = self._groups.pop() if self._groups else None
        else:
            self._end(_JOINS.get(operator, operator))
        if operator == "\n":
            self._read_heredocs()

    def _end(self, joined: str) -> None:
        command = self._command
        if command.words or command.writes:
            self._closed = None
            command.text = self._text[self._start : self._ended] if command.words else ""
            command.joined, command.piped = joined, joined == "|"
            command.hidden = joined in ("||", "&")
            self._commands.append(command)
            self._command = ShellCommand(words=[])
        elif self._closed is not None and joined and self._commands:
            self._join_group(self._closed, joined)
            self._closed = None

    def _join_group(self, first: int, joined: str) -> None:
        self._commands[-1].joined = joined
        for command in self._commands[first:]:
            command.piped = command.piped or joined == "|"
            command.hidden = command.hidden or joined in ("||", "&")

    def _redirect(self, found: re.Match[str]) -> None:
        self._at = found.end()
        if blank := _BLANK.match(self._text, self._at):
            self._at = blank.end()
        target = self._word() if self._at < len(self._text) else ""
        operator = found.group(1) or found.group()
        if operator.startswith("<<") and operator != "<<<":
            self._heredocs.append((target, operator == "<<-", self._command))
        elif ">" in operator and target and not (operator == ">&" and target.lstrip("-").isdigit()):
            self._command.writes.append(target)

    def _read_heredocs(self) -> None:
        for delimiter, indented, command in self._heredocs:
            tabs = r"\t*" if indented else ""
            expression = rf"^{tabs}{re.escape(delimiter)}\r?$"
            found = None
            if delimiter not in self._missing:
                found = re.compile(expression, re.MULTILINE).search(self._text, self._at)
            if found is None:  # never closed: the rest belongs to it
                self._missing.add(delimiter)
                end = after = len(self._text)
            else:
                end, after = found.start(), found.end()
            command.reads += self._text[self._at : end]
            self._at = after
        self._heredocs.clear()

    def _word(self) -> str:
        found = _PLAIN_WORD.match(self._text, self._at)
        if found is not None:  # most are no more than that
            self._at = found.end()
            return found.group()[:_LONGEST_WORD]
        return "".join(self._parts())[:_LONGEST_WORD]

    def _parts(self) -> Iterator[str]:
        text, start = self._text, self._at
        while self._at < len(text):
            if found := _PLAIN.match(text, self._at):
                self._at = found.end()
                yield found.group()
            elif text[self._at] in "\\'\"`$" and not text.startswith("\\\n", self._at):
                yield self._quoted(text[self._at])
            elif text[self._at] in "<>" and text.startswith("(", self._at + 1):
                yield self._substitution(self._at + 2)
            else:
                break
        if self._at == start:  # whatever it is, it must not stand still
            self._at += 1

    def _quoted(self, mark: str) -> str:
        if mark == "\\":
            self._at += 2
            return self._text[self._at - 1 : self._at]
        if mark == "'":
            return self._until("'", self._at + 1)
        if mark == '"':
            return "".join(self._double())
        if mark == "`":
            return "`" + self._until("`", self._at + 1) + "`"
        # Within double quotes neither of the two means more than a dollar.
        if self._text.startswith("$'", self._at):
            return self._until("'", self._at + 2)
        if self._text.startswith('$"', self._at):
            self._at += 1
            return "".join(self._double())
        return self._dollar()

    def _until(self, mark: str, begin: int) -> str:
        end = self._text.find(mark, begin)
        end = len(self._text) if end < 0 else end
        self._at = end + 1
        return self._text[begin:end]

    def _double(self) -> Iterator[str]:
        text = self._text
        self._at += 1
        while self._at < len(text):
            character = text[self._at]
            if character == '"':
                self._at += 1
                return
            if found := _DOUBLE_PLAIN.match(text, self._at):
                self._at = found.end()
                yield found.group()
            elif character == "\\":
                yield text[self._at + 1 : self._at + 2]
                self._at += 2
            elif character == "`":
                yield "`" + self._until("`", self._at + 1) + "`"
            else:
                yield self._dollar()

    def _dollar(self) -> str:
        text, at = self._text, self._at
        if text.startswith("$(", at):
            return self._substitution(at + 2)
        found = _PARAMETER.match(text, at)
        assert found is not None  # noqa: S101 - it begins with "$"
        self._at = found.end()
        return found.group()

    def _substitution(self, begin: int) -> str:
        """Skip "$(...)" with its quotes and heredocs."""
        start, text = self._at, self._text
        closing, self._at = [")"], begin
        while closing and (found := _IN_SUBSTITUTION.search(text, self._at)):
            self._at = found.end()
            self._pass(found, closing)
        if closing:
            self._at = len(text)
        return text[start : self._at]

    def _pass(self, found: re.Match[str], closing: list[str]) -> None:
        mark, text = found.group(), self._text
        if mark == closing[-1]:
            closing.pop()
        elif mark == "\\":
            self._at += 1
        elif closing[-1] == '"':
            if mark == "(" and text[found.start() - 1] == "$":
                closing.append(")")
        elif mark == "(":
            closing.append(")")
        elif mark == '"':
            closing.append('"')
        elif mark in "'`":
            self._until(mark, found.end())
        elif found.group(2):
            self._skip_body(found.group(2))

    def _skip_body(self, delimiter: str) -> None:
        if delimiter in self._missing:
            return
        end = self._text.find("\n" + delimiter, self._at)
        if end < 0:
            self._missing.add(delimiter)
        else:
            self._at = end + 1 + len(delimiter)
