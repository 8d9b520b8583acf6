"""The project of a run: its repository, or else its folder. Git itself is not started."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePath, PureWindowsPath
from typing import Final

from trackrecord.project_names import DEFAULT_PROJECT, MAX_CHARS, checked_project

_MOST_PARENTS: Final = 64
_LONGEST_FILE: Final = 64 * 1024
_LONGEST_PATH: Final = 4096
_REMOTE: Final = re.compile(r"^[ \t]*\[remote \"([^\"\n]{1,200})\"\][ \t]*$", re.MULTILINE)
_URL: Final = re.compile(r"^[ \t]*url[ \t]*=[ \t]*(\S{1,1000})[ \t]*$", re.MULTILINE)
_SECTION: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)


def project_of(folder: str, repository: str = "", mapping: Mapping[str, str] | None = None) -> str:
    """Return the project of work in a folder, a name that any project can have.

    Args:
        folder: the absolute path that was worked in; "" if unknown. It need not exist any more.
        repository: the address or the name of the repository, if the source says so.
        mapping: the projects of folders, as a person set them; the innermost folder counts.

    Returns:
        What the mapping says; else the name of git's top level folder (of a worktree, that of the
        repository it belongs to), or of its remote; else the repository's name as the source says
        it; else the folder's own name; "default" if nothing is known.
    """
    folder = folder[:_LONGEST_PATH].replace("\0", "")
    if mapped := _mapped(folder, mapping or {}):
        return mapped
    names = (_git_name(folder), repository_name(repository), _last_part(folder))
    return next((name for name in names if name), DEFAULT_PROJECT)


def repository_name(address: str) -> str:
    """Return the name of a repository from its address: "trackrecord" of ".../trackrecord.git"."""
    last = re.split(r"[/:\\]", address.strip().rstrip("/\\")[-_LONGEST_PATH:])[-1]
    return _checked(last.removesuffix(".git"))


def _mapped(folder: str, mapping: Mapping[str, str]) -> str:
    best, project = -1, ""
    for path, name in mapping.items():
        root = str(Path(path).expanduser()).rstrip("/\\")
        if len(root) > best and (folder == root or folder.startswith((root + "/", root + "\\"))):
            best, project = len(root), _checked(name)
    return project


def _git_name(folder: str) -> str:
    path = Path(folder)
    if not path.is_absolute():
        return ""
    try:
        return _name_above(path)
    except (OSError, ValueError, RuntimeError):
        return ""


def _name_above(path: Path) -> str:
    home = Path.home()
    for top in (path, *path.parents)[:_MOST_PARENTS]:
        marker = top / ".git"
        # Some keep their home under git; what lies in it belongs to other repositories.
        if marker.exists() and (top != home or path == home):
            common = _common(marker)
            return _top_name(top, common) or _remote_name(common)
    return ""


def _common(marker: Path) -> Path:
    """Return the folder of the repository itself: a worktree's ".git" is a file that names it."""
    if marker.is_dir():
        return marker
    said = _text(marker).strip().removeprefix("gitdir:").strip()
    folder = (marker.parent / said).resolve()
    shared = folder / "commondir"
    if not shared.is_file():
        return folder
    return (folder / _text(shared).strip()).resolve()


def _top_name(top: Path, common: Path) -> str:
    if common.name == ".git":
        return _checked(common.parent.name)
    if common.parent.name == "modules" or "modules" in common.parts:  # a submodule
        return _checked(top.name)
    return _checked(common.name.removesuffix(".git")) or _checked(top.name)


def _remote_name(common: Path) -> str:
    text = _text(common / "config")
    addresses: dict[str, str] = {}
    for remote in _REMOTE.finditer(text):
        after = _SECTION.search(text, remote.end())
        url = _URL.search(text, remote.end(), after.start() if after else len(text))
        if url:
            addresses[remote[1]] = url[1]
    address = addresses.get("origin") or next(iter(addresses.values()), "")
    return repository_name(address)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_FILE)
    except OSError:
        return ""


def _last_part(folder: str) -> str:
    is_windows = "\\" in folder and "/" not in folder
    path: PurePath = PureWindowsPath(folder) if is_windows else PurePath(folder)
    return _checked(path.name)


def _checked(name: str) -> str:
    """Return a name cut to what a project can have; "" if nothing of it is left."""
    name = "".join(c for c in name if c.isprintable()).strip()[:MAX_CHARS]
    try:
        return checked_project(name)
    except ValueError:
        return ""
