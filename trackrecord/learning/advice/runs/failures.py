"""Failures of calls: which ones count, and the significant line of their errors.

An error template is that line without what differs from one occurrence to the next.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from ...text.lazy_regex import compile_lazily

# Of a longer text the beginning and the end are read.
_LONGEST_READ: Final = 32 * 1024
_GAP: Final = "…"
LONGEST_TEMPLATE: Final = 200
# How much of a long line stands in front of what tells.
_BEFORE: Final = 60

_ANSI: Final = compile_lazily(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_FRAMES: Final = compile_lazily(
    r"^(?:Traceback \(most recent call last\)|[ \t]+at \S|[ \t]+File \"|goroutine \d)", re.MULTILINE
)
_NAMED: Final = ("Error", "Exception", "Fault", "Failure", "Timeout", "Interrupt", "Exit")


class _Sign(NamedTuple):
    """A pattern for lines, and words in lower case one of which is in every match.

    To look for a word costs a hundredth of what it costs to look for such a pattern.
    """

    pattern: re.Pattern[str]
    words: tuple[str, ...]


_RAISED_WORDS: Final = (*(name.lower() for name in _NAMED), "panic")
# What was raised, with the name of its type.
_RAISED_LINE: Final = (
    r"^(?:E\s+|[^\w\s]{1,3}\s+|Caused\ by:\ |Uncaught\ |Exception\ in\ thread\ \S{1,80}\ )?"
    rf"(?:[A-Za-z_$][\w$.]{{0,160}}?(?:{'|'.join(_NAMED)})\b(?=:|\s*$|\ \[)|panic:\ "
    r"|thread\ \S{1,80}\ panicked\ )"
)
_RAISED: Final = _Sign(compile_lazily(_RAISED_LINE), _RAISED_WORDS)
# The same where frames of a call stack are printed.
_RAISED_IN_FRAMES: Final = _Sign(
    compile_lazily(rf"{_RAISED_LINE}|^(?:Uncaught )?[Ee]rror: "), _RAISED_WORDS
)
# From here on each table is looked through before the next one.
_TELLING: Final = (
    _Sign(
        compile_lazily(
            r"not found|no such|not exist|not installed|no module|denied|not permitted"
            r"|(?:un|not )recogni[sz]ed|unknown (?:\w+ )?"
            r"(?:option|argument|(?:sub)?command|flag|field|key|property|tool|skill)\b"
            r"|(?:illegal|invalid|unexpected) (?:option|argument)"
            r"|(?:can't|cannot|could not|couldn't|unable to) (?:find|open|connect|resolve|load)"
            r"|connection refused|timed out|already in use|no space left|did not match|no matches"
            r"|missing script",
            re.IGNORECASE,
        ),
        (
            "not found", "no such", "not exist", "not installed", "no module", "denied",
            "not permitted", "recogni", "unknown ", "illegal ", "invalid ", "unexpected ",
            "can't ", "cannot ", "could not ", "couldn't ", "unable to ", "connection refused",
            "timed out", "already in use", "no space left", "did not match", "no matches",
            "missing script",
        ),
    ),
    _Sign(
        compile_lazily(
            # Behind a position it is a finding, whatever comes then.
            r"\b(?:error|fatal|ERR!)(?:\[\w{1,20}\]| [A-Z]{1,4}\d{1,6})?:|:\d{1,6}\s+error\s",
            re.IGNORECASE,
        ),
        ("error", "fatal", "err!"),
    ),
    _Sign(
        compile_lazily(
            r"\bfail(?:ed|s|ures?)?\b|\berrors?\b|invalid|refused|rejected|unable to|\bcannot\b"
            r"|can't|could not|exceed|\bmissing\b|conflict|失败|错误|无法|不存在|未找到",
            re.IGNORECASE,
        ),
        (
            "fail", "error", "invalid", "refused", "rejected", "unable to", "cannot", "can't",
            "could not", "exceed", "missing", "conflict", "失败", "错误", "无法", "不存在",
            "未找到",
        ),
    ),
)  # fmt: skip
# Lines around an error that do not tell which one it is, by how they begin.
_TELLS_NOTHING: Final = compile_lazily(
    r"""
      (?:error:\ )?(?:exit\ (?:code|status)|exited\ with|command\ failed\ with)\b[^:]{0,60}$
    | g?make(?:\[\d+\])?:\ \*\*\*
    | npm\ (?:ERR!|error)\ (?:code\ (?!E[A-Z])|errno|path|command|syscall|workspace|lifecycle
      |a\ complete)\b
    | husky\ -\ | for\ more\ information | usage: | hint: | node\.js\ v\d
    | >?\s?\d{1,6}\s?[|│]                                   # source, as linters print it
    | (?:at|file)\ \S+.{0,300}:?\d | traceback\ \( | \[?(?:started|completed|skipped|success)\]
    | (?:warn(?:ing)?|info|debug|note)\b | (?:ok|pass)\b
    | \W*(?:errors?|failures?|short\ test\ summary\ info|call\ log:)\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# The same, wherever these stand.
_TELLS_NOTHING_ANYWHERE: Final = _Sign(
    compile_lazily(r"\bexited with (?:code|status|exit)\b|\bELIFECYCLE\b|[✓✔√]", re.IGNORECASE),
    ("exited with ", "elifecycle", "✓", "✔", "√"),
)
# The lines that tools draw around what they say.
_RULES: Final = compile_lazily(r"([=!_*#~+─━═-])\1{3,}")
_RULE_BEGINS: Final = tuple(4 * sign for sign in "=!_*#~+─━═-")
_LETTER: Final = compile_lazily(r"[^\W\d_]{2}")
# The program of a check could not be run, was called in a way that it does not know, or needs a
# server that is away.
_NOT_STARTED: Final = compile_lazily(
    r"command not found|not found\s*$|no module named|no such file|not recogni[sz]ed|not installed"
    r"|unrecogni[sz]ed|unknown (?:option|argument|(?:sub)?command|flag)|no such option"
    r"|(?:illegal|invalid|unexpected) (?:option|argument)|missing script"
    r"|script not found|no rule to make target"
    r"|permission denied|(?:can't|cannot) open|connection refused|ECONNREFUSED"
    r"|(?:could not|couldn't|failed to|cannot) connect|is the server running",
    re.IGNORECASE,
)

_NAMES_REMEDY: Final = compile_lazily(
    r"has not been read yet|\bread (?:it|the file) (?:first|again)|must read (?:it|the file)"
    r"|use the read tool first|modified since (?:it was last )?read|set replace_all to true",
    re.IGNORECASE,
)

_TIME: Final = r"\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
_PATH: Final = r"(?:[\\/~.]{0,3}[\w.@+-]{1,255})?(?:[\\/][\w.@+-]{1,255}){1,64}[\\/]?"
# In this order: a time holds numbers, a path may hold a hash.
_VARIABLE: Final = tuple(
    (compile_lazily(expression), placeholder)
    for expression, placeholder in (
        (rf"\b\d{{4}}-\d\d-\d\d(?:[T ]{_TIME})?", "<time>"),
        (rf"\b{_TIME}", "<time>"),
        (r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>)\]]+", "<url>"),
        (r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+", "<mail>"),
        (rf"(?<![\w/.])(?:[A-Za-z]:)?{_PATH}", "<path>"),
        (r"\"[^\"\n]{1,500}\"|(?<!\w)'[^'\n]{1,500}'(?!\w)|`[^`\n]{1,500}`", "<text>"),
        # Hashes and UUIDs.
        (r"\b(?=[0-9a-fA-F-]{0,63}\d)[0-9a-fA-F]{7,64}(?:-[0-9a-fA-F]{2,32}){0,8}\b", "<id>"),
        # A word with digits in it: an identifier more often than not.
        (r"\b(?=\w{0,63}[A-Za-z_])(?=\w{0,63}\d)\w{2,64}\b", "<id>"),
        (r"[-+]?\b\d[\d.,]*\b%?", "<n>"),
    )
)
_REPEATED: Final = compile_lazily(r"(<\w+>)(?:[\s,;]*\1)+")

# "reproducible" is another thing.
_REPRODUCTION: Final = r"(?<![^\W_])(?:repro(?![a-z])|reproduc(?!ib)|复现)"
_REPRODUCTION_NAME: Final = compile_lazily(_REPRODUCTION, re.IGNORECASE)
_RUNS_REPRODUCTION: Final = compile_lazily(
    r"(?:(?<![\w./-])(?:python[\d.]*|pytest|node|deno|bun|tsx|ts-node|npx|go|cargo|java|ruby|rspec"
    rf"|php|perl|bash|sh|zsh|make|dotnet|julia|Rscript|lua|mix)\s[^;&|\"]{{0,120}}?|\./){_REPRODUCTION}",
    re.IGNORECASE,
)
_LONGEST_COMMAND: Final = 4000


def is_wanted_failure(tool: str, arguments: str) -> bool:
    """Return whether a call that failed was meant to fail: it ran a script that reproduces a bug.

    Such a call has a tool, or runs a script, whose name begins with "repro" or "reproduce". A call
    that only writes, reads or edits such a script is a call like any other.

    Args:
        tool: the tool's name.
        arguments: the arguments, as JSON or as text.
    """
    return bool(
        _REPRODUCTION_NAME.search(tool[:_LONGEST_COMMAND])
        or _RUNS_REPRODUCTION.search(arguments[:_LONGEST_COMMAND])
    )


def has_not_started(error: str) -> bool:
    """Return whether an error, or its template, shows that a program did not even start."""
    return _NOT_STARTED.search(error) is not None


def names_its_remedy(error: str) -> bool:
    """Return whether an agent's own tool says itself what to do: the file has to be read first."""
    return _NAMES_REMEDY.search(error) is not None


def error_template(text: str) -> str:
    """Return the significant line of an error, with placeholders for its variable parts.

    Numbers, quoted texts, paths, addresses, ids, hashes and times become `<n>`, `<text>`, `<path>`,
    `<url>`, `<mail>`, `<id>` and `<time>`. It has at most 200 characters, in whole words.
    """
    return masked_line(error_line(text))


# The same few lines come again and again.
@lru_cache(maxsize=4096)
def masked_line(line: str) -> str:
    """Return a line of an error, or of a command, with its variable parts replaced."""
    for pattern, placeholder in _VARIABLE:
        line = pattern.sub(placeholder, line)
    line = _REPEATED.sub(r"\1", line).strip()
    return _beginning(line, LONGEST_TEMPLATE)


def error_line(text: str) -> str:
    """Return the significant line of an error's text, verbatim.

    That is the last exception of a stack trace; else the first line that says that something was
    not found, denied or unknown; else the first that calls itself an error; else the last line. Of
    a long line, no more than 200 characters around what tells remain, in whole words.
    """
    if len(text) > 2 * _LONGEST_READ:
        text = f"{text[:_LONGEST_READ]}\n{text[-_LONGEST_READ:]}"
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    line, at = _telling(text)
    return _around(line, at)


def _telling(text: str) -> tuple[str, int]:
    """Return the significant line with its spaces evened out, and the place of the match."""
    has_frames = _FRAMES.search(text) is not None
    lines = _Lines(text)
    if lines.are_several:
        if has_frames and (found := lines.last(_RAISED_IN_FRAMES)):
            return found
        if found := lines.first(_RAISED):
            return found
    for telling in _TELLING:
        if found := lines.first(telling):
            return found
    return lines.end


def _without_rules(text: str) -> str:
    return _RULES.sub(" ", text) if any(begin in text for begin in _RULE_BEGINS) else text


class _Lines:
    """The lines of a text that may tell what went wrong; all of them if none does."""

    def __init__(self, text: str) -> None:
        lines = _without_rules(text).splitlines()
        every = [even for line in lines if (even := " ".join(line.split()))]
        self._lower = "\n".join(every).lower()
        anywhere = self._words(_TELLS_NOTHING_ANYWHERE)
        self._lines = [
            line
            for line in every
            if _LETTER.search(line)
            and not _TELLS_NOTHING.match(line)
            and not (anywhere and _TELLS_NOTHING_ANYWHERE.pattern.search(line))
        ] or every

    @property
    def are_several(self) -> bool:
        """Return whether there are two or more."""
        return len(self._lines) > 1

    @property
    def end(self) -> tuple[str, int]:
        """The last line and its length."""
        return (self._lines[-1], len(self._lines[-1])) if self._lines else ("", 0)

    def first(self, sign: _Sign) -> tuple[str, int] | None:
        """Return the first line with a sign, and the place of the sign."""
        return self._found(sign, self._lines)

    def last(self, sign: _Sign) -> tuple[str, int] | None:
        """Return the last line with a sign, and the place of the sign."""
        return self._found(sign, reversed(self._lines))

    def _found(self, sign: _Sign, lines: Iterable[str]) -> tuple[str, int] | None:
        words = self._words(sign)
        for line in lines if words else ():
            lower = line.lower()
            for word in words:
                if word in lower:
                    if found := sign.pattern.search(line):
                        return line, found.start()
                    break
        return None

    def _words(self, sign: _Sign) -> list[str]:
        """Return those words of a sign that are anywhere in the text."""
        return [word for word in sign.words if word in self._lower]


def _around(line: str, at: int) -> str:
    """Return the words of a line around a position."""
    if len(line) <= LONGEST_TEMPLATE:
        return line
    start = min(max(0, at - _BEFORE), len(line) - LONGEST_TEMPLATE + len(_GAP) + 1)
    if start <= _BEFORE:
        return _beginning(line, LONGEST_TEMPLATE)
    rest = line[start:]
    words = rest.partition(" ")[2] or rest
    return f"{_GAP} {_beginning(words, LONGEST_TEMPLATE - len(_GAP) - 1)}"


def _beginning(line: str, most: int) -> str:
    """Return the first words of a line."""
    if len(line) <= most:
        return line
    cut = line[: most - len(_GAP) - 1]
    words = cut.rpartition(" ")[0] if line[len(cut)] != " " else cut
    return f"{words or cut} {_GAP}"
