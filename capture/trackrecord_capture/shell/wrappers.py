"""Wrappers: commands that run another command, and how to find it among their words."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w{0,127}(?:\[[^\]]{0,64}\])?\+?=")
_VERSION: Final = re.compile(r"(?<=[a-z])-?\d[\d.]*\Z")
_VERSIONED: Final = frozenset({"python", "pythonw", "pip", "pypy", "node", "ruby", "php", "lua"})
_ALIASES: Final = {
    "gradlew": "gradle", "mvnw": "mvn", "nodejs": "node", "py": "python", "pypy": "python",
    "gmake": "make", "bazelisk": "bazel", "go-task": "task", "inv": "invoke",
    "gtimeout": "timeout", "pythonw": "python", "test": "[", "[[": "[", "bmake": "make",
    "mvnd": "mvn", "cross": "cargo", "clj": "clojure", "plz": "please",
    "podman-compose": "docker-compose",
}  # fmt: skip


class Wrapper(msgspec.Struct, frozen=True):
    """The syntax of a wrapper, for looking through it.

    Attributes:
        valued: its options whose value is a word of its own.
        operands: how many of its own operands stand before the command.
        dashes: whether the command only begins behind "--".
        behind: the option or the word that the command stands behind; "" if there is none.
        is_neutral: whether a command that starts without it starts with it, too, and the other way
            round: it only times, limits or repeats the command.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    dashes: bool = False
    behind: frozenset[str] = frozenset()
    is_neutral: bool = False


def _valued(options: str) -> frozenset[str]:
    return frozenset(options.split())


_PACKAGE: Final = Wrapper(_valued("-p --package --from --with --python -c --call"))
_UV_RUN: Final = Wrapper(
    _valued(
        "--with --with-requirements --with-editable -p --python --extra --no-extra --group"
        " --no-group --only-group --project --directory --package --env-file --index"
        " --default-index --index-url --cache-dir --config-file --color"
    )
)
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
# Each syntax with the wrappers that have it.
_SHARED: Final = (
    (Wrapper(), """
        poetry run | pipenv run | rye run | hatch run | bundle exec | rtk | rtk test | rtk err
        | rtk summary | rtk proxy | asdf exec | pyenv exec | rbenv exec | ddev | lando | sail
        | corepack | appraisal | dotenv run | vault-env | dbus-run-session | unshare | go tool
        | slipcover | with-contenv
    """),
    (Wrapper(dashes=True), """
        kubectl exec | mise exec | mise x | opam exec | doppler run | dotenvx run | op run
        | guix shell | devenv shell | flox activate | chruby-exec | aws-vault exec | chamber exec
        | teller run
    """),
    (_PACKAGE, """
        uv tool run | npm exec | npm x | pnpm exec | pnpm dlx | yarn exec | yarn dlx | bun x | uvx
        | npx | pnpx | bunx
    """),
    (Wrapper(is_neutral=True), """
        cross-env | cross-env-shell | systemd-inhibit | entr | nohup | setsid | unbuffer | chronic
        | caffeinate | command | builtin
    """),
    (_EXEC, """
        docker compose exec | docker-compose exec | podman compose exec | docker exec | podman exec
        | nerdctl exec | nerdctl compose exec
    """),
    (_RUN, """
        docker compose run | docker-compose run | docker run | podman run | nerdctl run
        | nerdctl compose run | podman compose run
    """),
    (Wrapper(operands=1), "direnv exec | nvm exec | nvm run | rvm-exec | gosu | su-exec"),
    (Wrapper(_valued("-n --name -p --prefix --cwd")), "conda run | mamba run | micromamba run"),
    (Wrapper(operands=1, is_neutral=True), "faketime | chrt | taskset"),
    (Wrapper(behind=_valued("-c --command")), "nix shell | vagrant ssh"),
)  # fmt: skip
# By the wrapper's own words.
WRAPPERS: Final = {
    tuple(name.split()): wrapper for wrapper, names in _SHARED for name in names.split("|")
} | {
    ("uv", "run"): _UV_RUN,
    ("pdm", "run"): Wrapper(_valued("-p --project")),
    ("pixi", "run"): Wrapper(_valued("-e --environment --manifest-path")),
    ("pipx", "run"): Wrapper(_valued("--spec --python --pip-args")),
    ("coverage", "run"): Wrapper(_valued("--source --rcfile --omit --include --context")),
    ("devbox", "run"): Wrapper(_valued("-c --config -e --env --env-file")),
    ("nix", "develop"): Wrapper(behind=frozenset({"-c", "--command", "--"})),
    ("nix-shell",): Wrapper(behind=frozenset({"--run", "--command"})),
    ("devcontainer", "exec"): Wrapper(_valued("--workspace-folder --container-id --config")),
    ("ddev", "exec"): Wrapper(_valued("-s --service -d --dir")),
    ("volta", "run"): Wrapper(_valued("--node --npm --yarn --pnpm")),
    ("fnm", "exec"): Wrapper(_valued("--using")),
    ("rvm",): Wrapper(behind=frozenset({"do"})),
    ("dotenv",): Wrapper(_valued("-e -f --file -v -p")),
    ("env-cmd",): Wrapper(_valued("-f --file -e --environments")),
    ("infisical", "run"): Wrapper(_valued("--env --path"), dashes=True),
    ("script",): Wrapper(
        behind=frozenset({"-c", "-qc", "-qec", "-ec", "-eqc", "-qefc", "-efqc"}), is_neutral=True
    ),
    ("systemd-run",): Wrapper(_valued("-p --property -u --unit --uid --gid -E --setenv")),
    ("firebase", "emulators:exec"): Wrapper(_valued("--only --project --import --config -P")),
    ("runuser",): Wrapper(_valued("-u --user")),
    ("parallel",): Wrapper(_valued("-j --jobs -n -N -a --delay --joblog"), is_neutral=True),
    ("retry",): Wrapper(_valued("-t -d --times --delay --until"), is_neutral=True),
    ("watchexec",): Wrapper(_valued("-e --exts -w --watch -i --ignore"), is_neutral=True),
    ("hyperfine",): Wrapper(_valued("-w --warmup -r --runs -m -M"), is_neutral=True),
    ("xcrun",): Wrapper(_valued("--sdk -sdk --toolchain")),
    ("sudo",): Wrapper(_valued("-u --user -g --group -h -p -C -D -R -T -U -r -t")),
    ("doas",): Wrapper(_valued("-u -C")),
    ("env",): Wrapper(_valued("-u --unset -C --chdir"), is_neutral=True),
    ("time",): Wrapper(_valued("-o -f"), is_neutral=True),
    ("nice",): Wrapper(_valued("-n --adjustment"), is_neutral=True),
    ("ionice",): Wrapper(_valued("-c -n"), is_neutral=True),
    ("exec",): Wrapper(_valued("-a"), is_neutral=True),
    ("stdbuf",): Wrapper(_valued("-i -o -e"), is_neutral=True),
    ("timeout",): Wrapper(_valued("-s --signal -k --kill-after"), operands=1, is_neutral=True),
    ("flock",): Wrapper(_valued("-w --timeout -E"), operands=1, is_neutral=True),
    ("watch",): Wrapper(_valued("-n --interval"), is_neutral=True),
    ("strace",): Wrapper(_valued("-e -o -p -s"), is_neutral=True),
    ("xvfb-run",): Wrapper(_valued("-s -n -e")),
    ("xargs",): Wrapper(_valued("-n -I -P -L -d -a -s -E --max-args --max-procs"), is_neutral=True),
}
_LONGEST_KEY: Final = max(map(len, WRAPPERS))
_GLOBAL_VALUED: Final = _valued(
    "-f --file -p --project-name --profile -n --namespace --context --filter -F -C --dir --cwd"
    " --directory --project -e --env --env-file"
)
_PYTHON_VALUED: Final = frozenset({"-X", "-W"})
_MOST_LAYERS: Final = 8


# The same few programs, asked for by every layer of a command.
@lru_cache(maxsize=1024)
def program(word: str) -> str:
    """Return a program's plain name: without its path, its version and ".exe"."""
    folder, _, name = word.replace("\\", "/").rstrip("/").rpartition("/")
    name = name.removesuffix(".exe")
    plain = _VERSION.sub("", name)
    if plain in _VERSIONED:
        name = plain
    if name == "test" and folder and folder not in _OF_SYSTEM:  # a script of the project's own
        return name
    return _ALIASES.get(name, name)


_OF_SYSTEM: Final = frozenset({"/bin", "/usr/bin"})


class Unwrapped(NamedTuple):
    """A command without what is wrapped around it.

    Attributes:
        words: the command that is run in the end, its program's plain name first.
        launchers: what starts it, from the outside in: "uv run", "python -m", ".venv/bin".
    """

    words: list[str]
    launchers: tuple[str, ...] = ()


def unwrapped(words: list[str]) -> Unwrapped:
    """Return the command that is run in the end, and the wrappers around it."""
    launchers: list[str] = []
    for _ in range(_MOST_LAYERS):
        words = without_assignments(words)
        if not words:
            return Unwrapped([], tuple(launchers))
        launcher, inner = _inside(words)
        if not inner or _is_script(words, inner):
            break
        if launcher:
            launchers += [*_folder_of(words[0]), launcher]
        words = inner
    return Unwrapped([program(words[0]), *words[1:]], (*launchers, *_folder_of(words[0])))


def _folder_of(word: str) -> list[str]:
    """Return the folder that a program is started from; none if it is found on the PATH."""
    folder = word.replace("\\", "/").rpartition("/")[0]
    if not folder or folder in _OF_SYSTEM or len(folder) > _LONGEST_FOLDER:
        return []
    # What lies above it differs from one machine to the next.
    return ["/".join(folder.split("/")[-2:]) if folder.startswith(("/", "~", "$")) else folder]


_LONGEST_FOLDER: Final = 128


def _is_script(words: list[str], inner: list[str]) -> bool:
    """Return whether a runner's argument is a script of the project, not a program."""
    if inner[0] == "test" and words[0].rpartition("/")[2] in _WITH_TESTS:
        return True
    first = next((word for word in inner if not word.startswith("+")), "")
    return words[1:2] == ["run"] and (first == "test" or ":" in first)


# "test" is a command of their own.
_WITH_TESTS: Final = frozenset({"ddev", "lando", "sail"})


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


def _inside(words: list[str]) -> tuple[str, list[str]]:
    """Return the outermost wrapper, "" if it changes nothing, and the command in it, [] if none."""
    name = program(words[0])
    if name == "python" or (words[0].startswith("$") and words[1:2] == ["-m"]):
        return "python -m", _module(words[1:])
    if name in _RUNS_PACKAGE and (package := _package(name, words[1:])):
        return f"{name} run", package
    key, rest = _wrapper([name, *words[1:]])
    if not key or (name in _ASKS and rest[:1] and rest[0] in _ASKS[name]):
        return "", []
    wrapper, launcher = WRAPPERS[key], " ".join(key)
    if key in _RUNS_MODULE and (module := _module(rest)):
        return launcher, module
    return "" if wrapper.is_neutral else launcher, _behind(wrapper, rest)


_RUNS_MODULE: Final = frozenset({("coverage", "run"), ("uv", "run"), ("slipcover",)})
# With these options a wrapper only says what a program is.
_ASKS: Final = {"command": frozenset({"-v", "-V", "-pv"})}
_RUNS_PACKAGE: Final = frozenset({"go", "deno"})
_PACKAGE_NAME: Final = re.compile(
    r"(?:npm:)?(?:[\w.@-]+/)*?([\w.-]{2,64})(?:/v\d+)?(?:@[\w.^~-]+)?\Z"
)


def _package(name: str, words: list[str]) -> list[str]:
    """Return the program of a package that `go run` or `deno run` fetches: `go run x/y/z@v1`."""
    if words[:1] != ["run"]:
        return []
    at = 1 + operands_from(words[1:], frozenset())
    address = words[at] if at < len(words) else ""
    is_package = address.startswith("npm:") if name == "deno" else "@" in address
    found = _PACKAGE_NAME.match(address) if is_package else None
    return [found[1], *words[at + 1 :]] if found else []


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
    if wrapper.behind:
        place = next((at for at, word in enumerate(rest) if word in wrapper.behind), len(rest))
        return rest[place + 1 :]
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
