"""Names of the commands of a line: "pytest", "cargo test", "npm build".

A name is a program, and for programs that do many things also what it is asked to do.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from trackrecord.learning.competences.episodes.checks import is_check

from .programs import purpose_of_program
from .steps import ShellStep, script_of
from .wrappers import operands_from

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
R bleep dagger earthly fastlane mage melos mill pants please wireit doit rebar3 gleam clojure
"""
_ASKED: Final = frozenset(_ASKED_TEXT.split()) - {"tox", "nox", "vitest"}
_RUN_TEXT: Final = "bun dart devbox hatch lerna melos nix nx pdm pixi rye turbo"
# What stands in front of the name of a script, and says no more than that.
_RUNS_SCRIPT: Final = {
    **dict.fromkeys(_RUN_TEXT.split(), frozenset({"run"})),
    **dict.fromkeys(("composer", "npm"), frozenset({"run", "run-script"})),
    "pnpm": frozenset({"run", "recursive"}),
    "yarn": frozenset({"run", "workspace", "workspaces"}),
    "deno": frozenset({"task"}), "poetry": frozenset({"task"}), "mix": frozenset({"do"}),
    "mise": frozenset({"run", "r", "task", "tasks"}), "moon": frozenset({"run", "ci"}),
    "cargo": frozenset({"hack", "miri", "xtask", "careful", "llvm-cov"}),
    "dotnet": frozenset({"watch"}), "dagger": frozenset({"call"}), "R": frozenset({"CMD"}),
    "docker": frozenset({"buildx"}),
}  # fmt: skip
_SAME: Final = {"mise t": "mise test", "npm t": "npm test", "npm tst": "npm test",
                "npm i": "npm install",
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
CONSOLES: Final = frozenset({"manage.py", "artisan", "setup.py", "ace"})
# Runners of a package's scripts: one after another they run the same.
SCRIPT_RUNNERS: Final = frozenset({
    "npm", "pnpm", "yarn", "bun", "rushx", "composer", "deno", "pdm", "hatch", "rye", "pixi",
})  # fmt: skip
# Subcommands that say what they do for whatever program: one that is not in the table above is
# named with them, too.
_PLAIN: Final = frozenset({"test", "tests", "lint", "check", "typecheck", "build", "compile"})
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
_TAKES_NAMES_TEXT: Final = """
journalctl launchctl loginctl
7z adb apt-cache apt-mark asdf base64 chgrp chmod chown chroot code cosign cp createdb createuser
crontab curl dd dig dropdb emacs ffmpeg gdb gpg gunzip gzip helix http-server hx install kakoune
killall ldd live-server lldb ln locate ltrace make-dir man mc md5sum micro mongo mongosh mount mv
mysql mysqladmin mysqldump nano nc nm nohup npm-check nslookup nvim nvm objdump od open openssl
passwd pg_dump pg_restore ping pkill podman-machine printf psql pyenv rbenv rename rm rmdir rsync
scp screen serve service sftp sha256sum shred sqlite3 ssh strings su subl systemctl tar telnet
tmux touch truncate umount unlink unzip useradd usermod vi vim virtualenv wget whatis whereis
xdg-open zip
"""
TAKES_NAMES: Final = frozenset(_TAKES_NAMES_TEXT.split())
"""Programs whose operands are names of files, hosts and the like: `mkdir test` is no test."""
_GIT_LOOKS_TEXT: Final = """
status diff log show branch rev-parse ls-files remote blame describe config grep reflog fetch
"""
LOOKS: Final = frozenset(_LOOKS_TEXT.split()) | {
    f"git {asked}" for asked in _GIT_LOOKS_TEXT.split()
}


# A step is asked for its name by all that look at it in turn.
@lru_cache(maxsize=1024)
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
        first = next(iter(leading_operands(rest)), "")
        return f"{name} {first}" if first in _PLAIN and _has_subcommands(name) else name
    rest = _MEANT_OTHERWISE.get(name, list)(rest)
    asked = _asked(name, rest)
    whole = f"{name} {asked}" if asked else name
    return _SAME.get(whole, whole)


def _has_subcommands(program: str) -> bool:
    """Return whether a program that no table knows may be told what to do by its first operand."""
    if program in TAKES_NAMES or program in LOOKS or program in TRIVIAL:
        return False
    return purpose_of_program(program) is None


def _without_environment(words: list[str]) -> list[str]:
    if not {"-e", "--environment"} & set(words):
        return words
    at = next(at for at, word in enumerate(words) if word in ("-e", "--environment"))
    return words[:at] + words[at + 2 :]


# Words that stand for something else than they do for other programs.
_MEANT_OTHERWISE: Final[dict[str, Callable[[list[str]], list[str]]]] = {
    "pixi": _without_environment,
    # `pnpm -w test`: the option has no value there.
    "pnpm": lambda words: [word for word in words if word != "-w"],
    # `yarn workspace @shop/api test`
    "yarn": lambda words: words[2:] if words[:1] == ["workspace"] else words,
}


def _asked(name: str, rest: list[str]) -> str:
    operands = leading_operands(rest)
    if operands and operands[0] in _RUNS_SCRIPT.get(name, ()):
        if operands[:2] == ["workspaces", "foreach"] or operands[0] == "workspace":
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


def leading_operands(words: list[str]) -> list[str]:
    """Return the leading operands that can be subcommands, targets or scripts."""
    found: list[str] = []
    at = 0
    while len(found) < 4:
        at += operands_from(words[at:], _VALUED)
        if at >= len(words):
            break
        if words[at].startswith("+") and words[at + 1 : at + 2]:  # `cargo +nightly test`
            at += 1
            continue
        word = words[at].lstrip(":+/").removeprefix("__.").rstrip(",")
        word = word.rpartition("//")[2].rpartition("#")[2]
        if not _OPERAND.match(word) or _FILE.search(word):
            break
        found.append(word)
        at += 1
    return found
