"""Finer names of shell calls: `shell:pytest` for `cd x && FOO=1 uv run pytest -q tests/a.py`.

A name is a program, and for programs that do many things also what it is asked to do. Of a line
with several commands the one that it is about gives the name: a check before anything else, then
the last command that does something, then what only looks, and last `cd`, `echo` and the like.
"""

import re
from typing import Final

from trackrecord.learning.competences.episodes.checks import is_check

from .steps import ShellStep, script_of, steps_of
from .wrappers import operands_from

SHELL: Final = "shell"

# Programs whose first operand says what they do.
_ASKED_TEXT: Final = """
alembic ant apk apt apt-get artisan aws az bazel brew bun bundle cabal cargo celery cmake composer
conda dart deno django-admin dnf docker docker-compose dotnet firebase flutter fly gcloud gem gh
git glab go gradle hatch helm heroku hg jj just kubectl lein lerna make manage.py mamba mix mvn ng
nix npm nx pdm pip pipenv pixi playwright pnpm podman poetry pre-commit prisma rails rake rebar3
ruff rustup sbt stack supabase svn swift systemctl task terraform tofu trackrecord turbo uv vercel
vite next vitest cypress wrangler yarn zig openssl tox nox
astro buck2 buf devbox django dune invoke meson mise moon poe pyrefly rtk rush rushx rye
ty vp
"""
_ASKED: Final = frozenset(_ASKED_TEXT.split()) - {"tox", "nox", "vitest"}
# What stands in front of the name of a script, and says no more than that.
_RUNS_SCRIPT: Final = {
    "npm": frozenset({"run", "run-script"}),
    "pnpm": frozenset({"run"}),
    "yarn": frozenset({"run", "workspace"}),
    "bun": frozenset({"run"}),
    "turbo": frozenset({"run"}),
    "nx": frozenset({"run"}),
    "deno": frozenset({"task"}),
    "composer": frozenset({"run", "run-script"}),
    "pdm": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "pixi": frozenset({"run"}),
    "devbox": frozenset({"run"}),
    "mise": frozenset({"run", "r"}),
    "lerna": frozenset({"run"}),
    "moon": frozenset({"run", "ci"}),
}
_SAME: Final = {"npm t": "npm test", "npm tst": "npm test", "npm i": "npm install",
                "pnpm i": "pnpm install", "pnpm t": "pnpm test", "cargo t": "cargo test",
                "cargo b": "cargo build", "cargo c": "cargo check"}  # fmt: skip
# Several operands say what they do, each in its turn.
_SEVERAL: Final = frozenset({
    "make", "mvn", "gradle", "ant", "rake", "just", "task", "turbo", "nx", "invoke", "poe", "ninja",
})  # fmt: skip
_TWO_WORDS: Final = frozenset({("docker", "compose"), ("podman", "compose"), ("uv", "pip")})
_VALUED_TEXT: Final = """
-C -c -f --file -n --namespace --prefix --filter -F --cwd --manifest-path -w --workspace -p
--project --project-name --profile --context --git-dir --work-tree --directory -j --jobs -pl
--package --color --features --target --config
"""
_VALUED: Final = frozenset(_VALUED_TEXT.split())
# Scripts of frameworks that are told what to do, as a program is.
CONSOLES: Final = frozenset({"manage.py", "artisan"})
# A tool of the agent's own, which models without it call through the shell.
_OWN_TOOLS: Final = frozenset({"apply_patch"})
_OPERAND: Final = re.compile(r"[A-Za-z][\w.@:+-]{0,39}\Z")
_FILE: Final = re.compile(r"\.(?:py|js|ts|mjs|cjs|tsx|jsx|rb|sh|go|rs|ya?ml|json|toml|md|txt)\Z")
_PROGRAM: Final = re.compile(r"[\w.+@\[-]{1,64}\Z")

_TRIVIAL_TEXT: Final = """
cd pushd popd echo printf export unset source . set true false : exit sleep pwd which type date [
local read wait trap shopt alias ulimit umask return declare typeset let clear
"""
_LOOKS_TEXT: Final = """
ls cat bat head tail grep egrep fgrep rg ag wc find fd sort uniq cut tr awk less more jq yq tee file
stat tree du df printenv ps diff column nl xxd basename dirname realpath readlink mkdir seq yes
history id whoami uname hostname pgrep lsof top kill sed
"""
TRIVIAL: Final = frozenset(_TRIVIAL_TEXT.split())
_GIT_LOOKS_TEXT: Final = """
status diff log show branch rev-parse ls-files remote blame describe config grep reflog fetch
"""
LOOKS: Final = frozenset(_LOOKS_TEXT.split()) | {
    f"git {asked}" for asked in _GIT_LOOKS_TEXT.split()
}


def tool_name(line: str) -> str:
    """Return the finer name of a shell's call: "shell:" and the command that the line is about.

    Args:
        line: the command line, of any length and in any state. The name has at most 128 characters
            and holds no more of the line than programs, subcommands and scripts that they run by
            name. It is "shell" alone where no command can be told, and "apply_patch" for the tool
            that an agent also offers as a command.
    """
    best, best_rank, in_pipe = "", -1, False
    for step in steps_of(line):
        name = step_name(step)
        rank = _rank(name) if name else -1
        # In a pipe the first command gives the name, in a list the last one.
        if rank > best_rank or (rank == best_rank >= 0 and not in_pipe):
            best, best_rank = name, rank
        in_pipe = step.joined == "|"
    if best in _OWN_TOOLS:
        return best
    return f"{SHELL}:{best}" if best else SHELL


def _rank(name: str) -> int:
    if name in TRIVIAL:
        return 0
    if name in LOOKS:
        return 1
    return 3 if is_check(name) else 2


def step_name(step: ShellStep) -> str:
    """Return the name of one command; "" if it has none."""
    if not step.words or not _PROGRAM.match(step.words[0]):
        return ""
    name, rest = step.words[0], list(step.words[1:])
    script = script_of(step)
    if script in CONSOLES:
        name, rest = script, rest[rest.index(script) + 1 :] if script in rest else rest
    elif script and name in ("bash", "sh", "zsh") and _PROGRAM.match(script):
        return script
    if name not in _ASKED:
        return name
    asked = _asked(name, rest)
    whole = f"{name} {asked}" if asked else name
    return _SAME.get(whole, whole)


def _asked(name: str, rest: list[str]) -> str:
    operands = _operands(rest)
    if operands and operands[0] in _RUNS_SCRIPT.get(name, ()):
        if operands[0] == "workspace":
            operands = operands[1:]
            if operands[1:2] == ["run"]:
                operands = operands[1:]
        operands = operands[1:] or operands[:1]
        if name in ("nx", "moon") and operands:
            operands = [operands[0].rpartition(":")[2]]
    if operands and (name, operands[0]) in _TWO_WORDS:
        return " ".join(operands[:2])
    if name in _SEVERAL:
        return next((operand for operand in operands if is_check(operand)), "") or "".join(
            operands[:1]
        )
    return "".join(operands[:1])


def _operands(words: list[str]) -> list[str]:
    """Return the leading operands that can be subcommands, targets or scripts."""
    found: list[str] = []
    at = 0
    while len(found) < 4:
        at += operands_from(words[at:], _VALUED)
        if at >= len(words):
            break
        word = words[at].lstrip(":")
        if not _OPERAND.match(word) or _FILE.search(word):
            break
        found.append(word)
        at += 1
    return found
