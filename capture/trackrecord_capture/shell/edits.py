"""Find the steps of a command line that change files of the work."""

import re
from typing import Final

from .steps import ShellStep, steps_of

# Programs that always change the files they are given.
CHANGES: Final = frozenset({
    "rm", "rmdir", "mv", "cp", "ln", "tee", "truncate", "patch", "rsync", "unzip", "rename", "dd",
    "shred", "install", "apply_patch", "applypatch", "sponge", "unlink", "codemod", "jscodeshift",
})  # fmt: skip
# Programs that change files with one of these options.
_CHANGE_WITH: Final = {
    "sed": re.compile(r"-[a-zA-Z]*i|--in-place"),
    "perl": re.compile(r"-[a-zA-Z]*i"),
    "ruby": re.compile(r"-[a-zA-Z]*i"),
    "awk": re.compile(r"-iinplace|inplace\Z"),
    "gawk": re.compile(r"-iinplace|inplace\Z"),
    "yq": re.compile(r"-i\Z|--inplace"),
    "eslint": re.compile(r"--fix\Z"),
    "stylelint": re.compile(r"--fix\Z"),
    "rubocop": re.compile(r"-[aA]\Z|--auto"),
    "biome": re.compile(r"--write\Z|--apply|--fix\Z"),
    "oxlint": re.compile(r"--fix"),
    "golangci-lint": re.compile(r"--fix\Z"),
    "tar": re.compile(r"-?[a-wyzA-Z]*x[a-zA-Z]*\Z|--extract"),
    "find": re.compile(r"-delete\Z"),
}
# Formatters change files unless they are told to check only.
_FORMATTERS: Final = {
    "black": re.compile(r"--check\Z|--diff\Z"),
    "isort": re.compile(r"--check|-c\Z|--diff\Z"),
    "prettier": re.compile(r"--check\Z|-c\Z|-l\Z|--list-different\Z"),
    "gofmt": re.compile(r"-[ld]\Z"),
    "goimports": re.compile(r"-[ld]\Z"),
    "rustfmt": re.compile(r"--check\Z"),
    "clang-format": re.compile(r"--dry-run\Z|-n\Z"),
    "autopep8": re.compile(r"--diff\Z"),
    "yapf": re.compile(r"-d\Z|--diff\Z"),
    "shfmt": re.compile(r"-d\Z|-l\Z"),
    "dprint": re.compile(r"check\Z"),
    "ruff format": re.compile(r"--check\Z|--diff\Z"),
    "cargo fmt": re.compile(r"--check\Z"),
    "terraform fmt": re.compile(r"-check\Z"),
    "dart format": re.compile(r"--set-exit-if-changed\Z"),
    "deno fmt": re.compile(r"--check\Z"),
    "swift format": re.compile(r"lint\Z"),
    "dotnet format": re.compile(r"--verify-no-changes\Z"),
    "zig fmt": re.compile(r"--check\Z"),
    "gofumpt": re.compile(r"-[ld]\Z"),
    "stylua": re.compile(r"--check\Z|-c\Z"),
    "pint": re.compile(r"--test\Z"),
    "php-cs-fixer": re.compile(r"--dry-run\Z|check\Z"),
    "djlint": re.compile(r"--check\Z|--lint\Z"),
    "taplo fmt": re.compile(r"--check\Z"),
    "mix format": re.compile(r"--check-formatted\Z"),
}
_GIT: Final = frozenset({
    "apply", "am", "checkout", "cherry-pick", "clean", "merge", "mv", "pull", "rebase", "restore",
    "revert", "rm", "stash", "switch",
})  # fmt: skip
_GIT_VALUED: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_GIT_KEEPS: Final = {
    "stash": frozenset({"list", "show"}),
    "checkout": frozenset({"-b", "-B", "--orphan"}),
    "switch": frozenset({"-c", "-C", "--create", "--orphan"}),
    "apply": frozenset({"--check", "--stat", "--numstat", "--summary"}),
    "clean": frozenset({"-n", "--dry-run"}),
    "rm": frozenset({"--cached"}),
}
_RESETS: Final = frozenset({"--hard", "--merge", "--keep"})
# A script that is given in the line itself, and writes.
_WRITES: Final = re.compile(
    r"\bopen\([^\n)]{0,200},\s*(?:mode\s*=\s*)?[rbf]{0,2}['\"][rb]?[wax]|\.write_(?:text|bytes)\("
    r"|\bwriteFile(?:Sync)?\(|\bFile\.write\(|\bfs\.(?:write|append|rename|unlink|rm)"
    r"|\bos\.(?:remove|rename|replace|unlink)\(|\bshutil\.(?:move|copy|rmtree)|\bfile_put_contents\("
)
_LONGEST_SCRIPT: Final = 64 * 1024
_INLINE: Final = frozenset({"python", "node", "ruby", "perl", "php", "bun", "deno"})
_NO_FILE: Final = re.compile(r"/dev/|&|\d+\Z|-\Z")


def edits_of(line: str) -> tuple[tuple[int, str], ...]:
    """Return which steps of a command line change files, and the files.

    Each is the position of a step and a file as the line names it; "" stands for files that the
    line does not name. A program of which nothing is known changes none.
    """
    return tuple(
        (place, file)
        for place, step in enumerate(steps_of(line))
        for file in (*_redirected(step), *step_edits(step))
    )


def is_formatter(step: ShellStep) -> bool:
    """Return whether a step runs a program that formats files or checks their format."""
    return _formatter(step) in _FORMATTERS


def step_edits(step: ShellStep) -> tuple[str, ...]:
    """Return the files that a step's own command changes, as `edits_of` does."""
    if not step.words:
        return ()
    name, rest = step.words[0], step.words[1:]
    if name in CHANGES:
        return _files(rest)
    if name == "git":
        return ("",) if _git_changes(list(rest)) else ()
    if name in _CHANGE_WITH:
        return ("",) if any(map(_CHANGE_WITH[name].match, rest)) else ()
    if name == "ruff" and rest[:1] != ("format",):
        return ("",) if {"--fix", "--fix-only"} & set(rest) else ()
    if is_formatter(step):
        return () if any(map(_FORMATTERS[_formatter(step)].match, rest)) else ("",)
    if name in _INLINE:
        return ("",) if _script_writes(step) else ()
    return ()


def _redirected(step: ShellStep) -> tuple[str, ...]:
    return tuple(file for file in step.writes if not _NO_FILE.match(file))


def _files(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word and not word.startswith("-")) or ("",)


def _formatter(step: ShellStep) -> str:
    if not step.words or step.words[0] in _FORMATTERS:
        return step.words[0] if step.words else ""
    return " ".join(step.words[:2])


def _git_changes(rest: list[str]) -> bool:
    asked, options = git_command(rest)
    if asked == "reset":
        return not _RESETS.isdisjoint(options)
    return asked in _GIT and _GIT_KEEPS.get(asked, frozenset()).isdisjoint(options)


def git_command(rest: list[str]) -> tuple[str, list[str]]:
    """Return the subcommand of git, and the words after it."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in _GIT_VALUED else 1
    return (rest[at], rest[at + 1 :]) if at < len(rest) else ("", [])


def _script_writes(step: ShellStep) -> bool:
    given = step.reads
    for place, word in enumerate(step.words[1:-1], start=1):
        if word in ("-c", "-e", "--eval"):
            given += step.words[place + 1]
    return bool(_WRITES.search(given[:_LONGEST_SCRIPT]))
