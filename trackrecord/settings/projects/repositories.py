"""The git repository of a folder: its name, and its identity among others of that name.

Git itself is not started, and what a repository says of itself is checked as far as that is
possible: a `.git` file may name any other repository on the machine. What its own configuration
says of its remote cannot be checked.
"""

import os
import re
import stat
from pathlib import Path, PurePath, PureWindowsPath
from typing import Final, NamedTuple

from trackrecord.learning.text.project_names import MAX_CHARS, checked_project

_MOST_PARENTS: Final = 64
_MOST_CLONES: Final = 4
_LONGEST_FILE: Final = 64 * 1024
_LONGEST_PATH: Final = 4096
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
# Folders that hold worktrees: "shop.worktrees" beside a repository, ".worktrees" in it.
_WORKTREES: Final = re.compile(
    r"(.*?)[._-]?(?:git-)?worktrees?|\.(?:trees|conductor)", re.IGNORECASE
)
_WORKSPACES: Final = ("conductor", "workspaces")
_HOME: Final = re.compile(r"(?:[A-Z]:)?[/\\](?:root|(?:home|Users)[/\\][^/\\]+)", re.IGNORECASE)
# What some clients put between their folder of worktrees and a repository's name.
_NUMBER: Final = re.compile(r"[0-9a-f]{4,40}")


class Repository(NamedTuple):
    """A repository, or a folder that is in none.

    Attributes:
        name: its name, which others may have as well; a valid project's name, "" if there is none.
        identity: the address of its remote, without user and protocol; without a remote the path of
            its main working tree. "" if a source says no more than the name.
        folder: the main working tree; of all worktrees the same one. "" if unknown.
        tree: the working tree itself, if git has it now; else "".
        mark: what stays the same in it when it is moved or its remote changes; "" if unknown.
    """

    name: str
    identity: str
    folder: str
    tree: str = ""
    mark: str = ""

    @property
    def is_remote(self) -> bool:
        """Return whether it is known by the address of its remote."""
        return self.identity.startswith("remote:")


class GitFolders(NamedTuple):
    """The folder in which git keeps its record of a working tree.

    Attributes:
        tree: the main working tree; of all worktrees the same one.
        own: the folder of git's files for the very working tree, with the moves of its HEAD.
    """

    tree: Path
    own: Path


def repository_of(folder: str, address: str = "") -> Repository | None:
    """Return the repository of work in a folder; None if nothing is known.

    Args:
        folder: the path that was worked in; "" if unknown. It need not exist any more: of worktrees
            that are gone, the path often says whose they were.
        address: the address or the name of the repository, if the source says so; counts where the
            folder is in none, and may be the path of a working tree.
    """
    folder = folder[:_LONGEST_PATH].replace("\0", "")
    if found := _in_git(folder) or _in_git(address):
        return found
    if name := repository_name(address):
        return Repository(name, _identity_of(address) or _path_in(address), folder)
    main, name = _owner_of(folder)
    if main:
        return repository_of(main)
    if name := valid_name(name):
        return Repository(name, "", "")
    if not folder or not (name := last_part(folder)):
        return None
    return Repository(name, f"folder:{_real(folder)}", folder)


def parents(folder: str) -> list[str]:
    """Return a path and those of the folders that it is in, up to a person's home or the root."""
    found: list[str] = []
    while folder and len(found) < _MOST_PARENTS and not _is_home(folder):
        found.append(folder)
        folder = folder[: max(folder.rfind("/"), folder.rfind("\\"), 0)]
    return found


def _owner_of(folder: str) -> tuple[str, str]:
    """Return the main working tree that a worktree's path names, or else its repository's name."""
    parts = re.split(r"([/\\])", folder)
    for place in range(2, len(parts) - 2, 2):
        holder, below = "".join(parts[: place - 1]), parts[place + 2 :: 2]
        if tuple(parts[place - 2 : place + 1 : 2]) == _WORKSPACES:
            return "", below[0]
        if not (found := _WORKTREES.fullmatch(parts[place])):
            continue
        if found[1]:
            return holder + parts[place - 1] + found[1], ""
        within = parents(holder)
        # A client's own folder in a person's home holds worktrees of every repository.
        if not within or re.search(r"[/\\]\.[^/\\]+\Z", within[-1]):
            return "", next((each for each in below[:-1] if not _NUMBER.fullmatch(each)), below[-1])
        is_clients = parts[place - 2].startswith(".")
        return "".join(parts[: place - 3]) if is_clients else holder, ""
    return "", ""


def _is_home(folder: str) -> bool:
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
    return folder == home or _HOME.fullmatch(folder) is not None


def git_folders_of(folder: str) -> GitFolders | None:
    """Return where git keeps what it knows of a folder's working tree; None outside of any.

    A `.git` that leads to a repository which does not know of the working tree counts as none.
    """
    path = Path(folder[:_LONGEST_PATH].replace("\0", ""))
    if not path.is_absolute():
        return None
    try:
        top = _top(path)
        if top is None or (top / ".git").is_symlink():
            return None
        main, common = _main_tree(top, top / ".git")
        if common is None:
            return None
        is_folder = (top / ".git").is_dir()
        return GitFolders(main, top / ".git" if is_folder else _target(top / ".git"))
    except (OSError, ValueError, RuntimeError):
        return None


def repository_name(address: str) -> str:
    """Return the name of a repository from its address: "trackrecord" of ".../trackrecord.git"."""
    last = re.split(r"[/:\\]", address.strip().rstrip("/\\")[-_LONGEST_PATH:])[-1]
    return valid_name(last.removesuffix(".git"))


def valid_name(name: str) -> str:
    """Return a name cut to a valid project name; "" if nothing of it is left."""
    name = "".join(c for c in name if c.isprintable()).strip()[:MAX_CHARS]
    try:
        return checked_project(name)
    except ValueError:
        return ""


def _in_git(folder: str) -> Repository | None:
    path = Path(folder)
    if not path.is_absolute():
        return None
    try:
        top = _top(path)
        return None if top is None else _at(top, clones=0)
    except (OSError, ValueError, RuntimeError):
        return None


def _top(path: Path) -> Path | None:
    """Return the working tree that a path is in; None if it is in none."""
    home = Path.home()
    for top in (path, *path.parents)[:_MOST_PARENTS]:
        # Some keep their home under git; what lies in it belongs to other repositories.
        if os.path.exists(f"{top}/.git") and (top != home or path == home):  # noqa: PTH110 - fast
            return top
    return None


def _at(top: Path, *, clones: int) -> Repository:
    main, common = _main_tree(top, top / ".git")
    address = "" if common is None else _remote(common)
    name, identity = repository_name(address), _identity_of(address)
    if address and not identity:  # cloned from this machine
        origin = (main / Path(address.removeprefix("file://")).expanduser()).resolve()
        identity = f"folder:{_plain(origin)}"
        if (origin / ".git").exists() and origin != main.resolve() and clones < _MOST_CLONES:
            name, identity, *_ = _at(origin, clones=clones + 1)
    own = valid_name(main.name.removesuffix(".git"))
    identity = identity or f"folder:{_plain(main.resolve())}"
    return Repository(name or own, identity, str(main), str(top), _mark(common))


def _mark(common: Path | None) -> str:
    """Return when git made a repository's files: it writes this one once, and never again."""
    try:
        made = (common / "description").stat().st_mtime_ns if common else 0
    except OSError:
        return ""
    # A whole second comes from an archive, and may be anyone's.
    return str(made) if made % 1_000_000_000 else ""


def _main_tree(top: Path, marker: Path) -> tuple[Path, Path | None]:
    """Return the main working tree, and the folder of git's own files if it belongs to it."""
    if marker.is_dir():
        return top, marker
    target = _target(marker)
    shared = target / "commondir"
    if shared.is_file():
        common = (target / _text(shared).strip()).resolve()
        # Git writes into the repository where each of its worktrees is.
        listed = (target / _text(target / "gitdir").strip()).resolve()
        if target.parent == common / "worktrees" and listed == marker.resolve():
            return (common.parent if common.name == ".git" else common), common
        return top, None
    submodule = _settings(target).get("core.worktree", "")
    is_its = bool(submodule) and (target / submodule).resolve() == top.resolve()
    return top, target if is_its else None


def _target(marker: Path) -> Path:
    """Return the folder that a `.git` file leads to."""
    return (marker.parent / _text(marker).strip().removeprefix("gitdir:").strip()).resolve()


def _plain(path: Path) -> str:
    """Return a repository's path: git finds "shop.git" and "shop/.git" by the name "shop"."""
    return str(path).removesuffix("/.git").removesuffix(".git")


def _identity_of(address: str) -> str:
    """Return what all spellings of a remote's address have in common; "" of a path or a name."""
    address = address.strip()[:_LONGEST_PATH]
    if address.lower().startswith("file:"):
        return ""
    if scheme := _SCHEME.match(address):
        host, _, path = address[scheme.end() :].partition("/")
    else:  # as "git@example.com:team/shop"
        host, separator, path = address.partition(":")
        if not separator or "/" in host or "\\" in host or len(host) < 2:
            return ""
    host = host.rpartition("@")[2].partition(":")[0]
    path = path.strip("/").removesuffix(".git")
    return f"remote:{host}/{path}".lower() if host and path else ""


def _path_in(address: str) -> str:
    path = address.strip().removeprefix("file://")[:_LONGEST_PATH]
    return (
        f"folder:{_real(path.removesuffix('/.git').removesuffix('.git'))}"
        if path.startswith("/")
        else ""
    )


def _remote(common: Path) -> str:
    """Return the address of the remote `origin`, or of the first one; "" if there is none."""
    addresses = {
        name: value
        for name, value in _settings(common).items()
        if name.startswith("remote ") and name.endswith(".url")
    }
    return addresses.get('remote "origin".url') or next(iter(addresses.values()), "")


def _settings(common: Path) -> dict[str, str]:
    """Return the settings in a repository's own configuration, each under its section's name."""
    found: dict[str, str] = {}
    section = ""
    for line in map(str.strip, _text(common / "config").splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        else:
            name, _, value = line.partition("=")
            found.setdefault(f"{section}.{name.strip().lower()}", value.strip().strip('"'))
    return found


def _text(path: Path) -> str:
    """Return the beginning of a file; "" if it cannot be read or is not a file, as a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return file.read(_LONGEST_FILE).decode(errors="replace")


def _real(folder: str) -> str:
    try:
        return os.path.realpath(folder) if Path(folder).is_absolute() else folder
    except (OSError, ValueError):
        return folder


def last_part(folder: str) -> str:
    """Return the name of a folder as a project's; "" if it has none."""
    is_windows = "\\" in folder and "/" not in folder
    path: PurePath = PureWindowsPath(folder) if is_windows else PurePath(folder)
    return valid_name(path.name)
