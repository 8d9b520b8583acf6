"""Wrappers: commands that run another command, and how to find it among their words."""

import re
from typing import Final

import msgspec

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w{0,127}(?:\[[^\]]{0,64}\])?\+?=")
_VERSION: Final = re.compile(r"(?<=[a-z])-?\d[\d.]*\Z")
_VERSIONED: Final = frozenset({"python", "pythonw", "pip", "pypy", "node", "ruby", "php", "lua"})
_ALIASES: Final = {
    "gradlew": "gradle", "mvnw": "mvn", "nodejs": "node", "py": "python", "pypy": "python",
    "gmake": "make", "bazelisk": "bazel", "go-task": "task", "inv": "invoke",
    "gtimeout": "timeout", "pythonw": "python", "test": "[", "[[": "[",
}  # fmt: skip


class Wrapper(msgspec.Struct, frozen=True):
    """The syntax of a wrapper, for looking through it.

    Attributes:
        valued: its options whose value is a word of its own.
        operands: how many of its own operands stand before the command.
        dashes: whether the command only begins behind "--".
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    dashes: bool = False


def _valued(options: str) -> frozenset[str]:
    return frozenset(options.split())


_PLAIN: Final = Wrapper()
_PACKAGE: Final = Wrapper(_valued("-p --package --from --with --python -c --call"))
_UV_RUN: Final = Wrapper(
    _valued(
        "--with --with-requirements --with-editable -p --python --extra --no-extra --group"
        " --no-group --only-group --project --directory --package --env-file --index"
        " --default-index --index-url --cache-dir --config-file --color"
    )
)
_CONDA_RUN: Final = Wrapper(_valued("-n --name -p --prefix --cwd"))
_EXEC: Final = Wrapper(
    _valued("-u --user -w --workdir -e --env --env-file --index --detach-keys"), operands=1
)
_RUN: Final = Wrapper(
    _valued(
        "-u --user -w --workdir -e --env --env-file -v --volume --name --entrypoint -p --publish"
        " -l --label --network --mount --platform -m --memory --cpus --add-host --gpus --hostname"
    ),
    operands=1,
)
# By the wrapper's own words, the longest first.
WRAPPERS: Final[dict[tuple[str, ...], Wrapper]] = {
    ("docker", "compose", "exec"): _EXEC,
    ("docker", "compose", "run"): _RUN,
    ("docker-compose", "exec"): _EXEC,
    ("docker-compose", "run"): _RUN,
    ("podman", "compose", "exec"): _EXEC,
    ("docker", "exec"): _EXEC,
    ("docker", "run"): _RUN,
    ("podman", "exec"): _EXEC,
    ("podman", "run"): _RUN,
    ("kubectl", "exec"): Wrapper(dashes=True),
    ("uv", "tool", "run"): _PACKAGE,
    ("uv", "run"): _UV_RUN,
    ("poetry", "run"): _PLAIN,
    ("pipenv", "run"): _PLAIN,
    ("pdm", "run"): Wrapper(_valued("-p --project")),
    ("rye", "run"): _PLAIN,
    ("hatch", "run"): _PLAIN,
    ("pixi", "run"): Wrapper(_valued("-e --environment --manifest-path")),
    ("pipx", "run"): Wrapper(_valued("--spec --python --pip-args")),
    ("conda", "run"): _CONDA_RUN,
    ("mamba", "run"): _CONDA_RUN,
    ("micromamba", "run"): _CONDA_RUN,
    ("npm", "exec"): _PACKAGE,
    ("npm", "x"): _PACKAGE,
    ("pnpm", "exec"): _PACKAGE,
    ("pnpm", "dlx"): _PACKAGE,
    ("yarn", "exec"): _PACKAGE,
    ("yarn", "dlx"): _PACKAGE,
    ("bun", "x"): _PACKAGE,
    ("bundle", "exec"): _PLAIN,
    ("coverage", "run"): Wrapper(_valued("--source --rcfile --omit --include --context")),
    ("mise", "exec"): Wrapper(dashes=True),
    ("mise", "x"): Wrapper(dashes=True),
    ("rtk",): _PLAIN,
    ("rtk", "test"): _PLAIN,
    ("rtk", "err"): _PLAIN,
    ("rtk", "summary"): _PLAIN,
    ("rtk", "proxy"): _PLAIN,
    ("opam", "exec"): Wrapper(dashes=True),
    ("devbox", "run"): Wrapper(_valued("-c --config -e --env --env-file")),
    ("nix", "develop"): Wrapper(dashes=True),
    ("asdf", "exec"): _PLAIN,
    ("pyenv", "exec"): _PLAIN,
    ("rbenv", "exec"): _PLAIN,
    ("direnv", "exec"): Wrapper(operands=1),
    ("doppler", "run"): Wrapper(dashes=True),
    ("dotenvx", "run"): Wrapper(dashes=True),
    ("op", "run"): Wrapper(dashes=True),
    ("uvx",): _PACKAGE,
    ("npx",): _PACKAGE,
    ("pnpx",): _PACKAGE,
    ("bunx",): _PACKAGE,
    ("sudo",): Wrapper(_valued("-u --user -g --group -h -p -C -D -R -T -U -r -t")),
    ("doas",): Wrapper(_valued("-u -C")),
    ("env",): Wrapper(_valued("-u --unset -C --chdir")),
    ("time",): Wrapper(_valued("-o -f")),
    ("nice",): Wrapper(_valued("-n --adjustment")),
    ("ionice",): Wrapper(_valued("-c -n")),
    ("chrt",): Wrapper(operands=1),
    ("taskset",): Wrapper(operands=1),
    ("nohup",): _PLAIN,
    ("setsid",): _PLAIN,
    ("unbuffer",): _PLAIN,
    ("chronic",): _PLAIN,
    ("caffeinate",): _PLAIN,
    ("command",): _PLAIN,
    ("builtin",): _PLAIN,
    ("exec",): Wrapper(_valued("-a")),
    ("stdbuf",): Wrapper(_valued("-i -o -e")),
    ("timeout",): Wrapper(_valued("-s --signal -k --kill-after"), operands=1),
    ("flock",): Wrapper(_valued("-w --timeout -E"), operands=1),
    ("watch",): Wrapper(_valued("-n --interval")),
    ("strace",): Wrapper(_valued("-e -o -p -s")),
    ("xvfb-run",): Wrapper(_valued("-s -n -e")),
    ("xargs",): Wrapper(_valued("-n -I -P -L -d -a -s -E --max-args --max-procs")),
}
_LONGEST_KEY: Final = max(map(len, WRAPPERS))
_GLOBAL_VALUED: Final = _valued(
    "-f --file -p --project-name --profile -n --namespace --context --filter -F -C --dir --cwd"
)
_PYTHON_VALUED: Final = frozenset({"-X", "-W"})
_MOST_LAYERS: Final = 8


def program(word: str) -> str:
    """Return a program's plain name: without its path, its version and ".exe"."""
    name = word.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
    plain = _VERSION.sub("", name)
    if plain in _VERSIONED:
        name = plain
    return _ALIASES.get(name, name)


def unwrapped(words: list[str]) -> list[str]:
    """Return the command that is run in the end, its program's plain name first."""
    for _ in range(_MOST_LAYERS):
        words = without_assignments(words)
        if not words:
            return []
        inner = _inside(words)
        if not inner or _is_script(words, inner):
            return [program(words[0]), *words[1:]]
        words = inner
    return [program(words[0]), *words[1:]]


def _is_script(words: list[str], inner: list[str]) -> bool:
    """Return whether a runner's argument is a script of the project, not a program."""
    return words[1:2] == ["run"] and (inner[0] == "test" or ":" in inner[0])


def without_assignments(words: list[str]) -> list[str]:
    """Return a command without the variables that are set in front of it."""
    first = 0
    while first < len(words) and _ASSIGNMENT.match(words[first]):
        first += 1
    return words[first:]


def operands_from(words: list[str], valued: frozenset[str]) -> int:
    """Return where options end and operands begin; behind "--" everything is an operand."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in valued else 1
    return at


def _inside(words: list[str]) -> list[str]:
    name = program(words[0])
    if name == "python" or (words[0].startswith("$") and words[1:2] == ["-m"]):
        return _module(words[1:])
    key, rest = _wrapper([name, *words[1:]])
    if not key:
        return []
    if key in (("coverage", "run"), ("uv", "run")) and (module := _module(rest)):
        return module
    return _behind(WRAPPERS[key], rest)


def _wrapper(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Find the longest wrapper at the beginning of the words; options may come in between."""
    known = ((words[0],), words[1:]) if (words[0],) in WRAPPERS else ((), [])
    if words[0] not in _FIRST_WORDS:
        return known
    key, at = [words[0]], 1
    while len(key) < _LONGEST_KEY:
        at += operands_from(words[at:], _GLOBAL_VALUED)
        if at >= len(words):
            break
        key.append(words[at])
        at += 1
        if tuple(key) in WRAPPERS and words[at:]:
            return tuple(key), words[at:]
    return known


_FIRST_WORDS: Final = frozenset(key[0] for key in WRAPPERS if len(key) > 1)


def _behind(wrapper: Wrapper, rest: list[str]) -> list[str]:
    if wrapper.dashes:
        return rest[rest.index("--") + 1 :] if "--" in rest else []
    rest = rest[operands_from(rest, wrapper.valued) :]
    rest = without_assignments(rest)[wrapper.operands :]
    return rest[1:] if rest[:1] == ["--"] else rest


def _module(words: list[str]) -> list[str]:
    """Return the module after "-m", if only options come before it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m":
            return words[at + 1 :]
        if words[at] == "-c":
            return []
        at += 2 if words[at] in _PYTHON_VALUED else 1
    return []
