"""The rules of capturing agents: the parts of a run that are stored, and its project."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from trackrecord.learning.text.project_names import MAX_CHARS, checked_project

from .setting_values import SettingCheck


def mapped_project(folder: str, mapping: Mapping[str, str]) -> str:
    """Return the project that a person's map gives to a folder; "" without a match.

    Args:
        folder: an absolute path.
        mapping: projects by folders; the innermost folder counts.
    """
    best, project = -1, ""
    for path, name in mapping.items():
        root = str(Path(path).expanduser()).rstrip("/\\")
        if len(root) > best and (folder == root or folder.startswith((root + "/", root + "\\"))):
            best, project = len(root), name
    return project


def leaves_out(folder: str, excluded: Collection[str]) -> bool:
    """Return whether a folder is left out of capture: by a setting, or by a file in it or above it.

    Args:
        folder: an absolute path; of one that is gone, only the setting is known.
        excluded: folders, and names of projects, which do not matter here.
    """
    if mapped_project(folder, {each: "left out" for each in excluded if _is_path(each)}):
        return True
    path = Path(folder)
    with suppress(OSError, ValueError):
        folders = (path, *path.parents)[:_MOST_PARENTS] if path.is_absolute() else ()
        return any(os.path.exists(f"{each}/{IGNORE_FILE}") for each in folders)  # noqa: PTH110 - fast
    return False


def _is_path(text: str) -> bool:
    return text.startswith(("/", "~", "\\")) or text[1:2] == ":"


def _absolute(path: str) -> str:
    if not _is_path(path):
        message = "must be the absolute path of a folder"
        raise ValueError(message)
    return path


def _at_most(most: int, longest: int) -> SettingCheck:
    def check(lines: tuple[str, ...]) -> tuple[str, ...]:
        if len(lines) > most or not all(0 < len(line) <= longest for line in lines):
            message = f"must be at most {most} lines of 1 to {longest} characters"
            raise ValueError(message)
        return lines

    return SettingCheck(check)


# In a folder, it leaves out of capture whatever happens in it or below it.
IGNORE_FILE: Final = ".trackrecordignore"
_MOST_PARENTS: Final = 64


@dataclass(frozen=True, kw_only=True)
class FolderProject:
    """One folder whose runs belong to a project of its own.

    Attributes:
        folder: the folder's absolute path; folders below it belong to it.
        project: the project's name.
    """

    folder: Annotated[str, SettingCheck(_absolute)]
    project: Annotated[str, Meta(min_length=1, max_length=MAX_CHARS), SettingCheck(checked_project)]


@dataclass(frozen=True, kw_only=True)
class CaptureRules:
    """The rules for storing an agent's run.

    Attributes:
        prompts: whether the text of a person's prompts is kept, with secrets replaced.
        programs: whether runs count that a program started and no person, as `claude -p` does.
        projects: folders whose runs belong to a project other than their repository: a JSON array
            of objects with `folder` and `project`. The innermost folder counts.
        checks: beginnings of command lines that verify, beside those that are known: a JSON array,
            as `["./dev verify", "lint: ./dev tidy"]`. In front may stand test, type check, lint,
            build or check.
        exclude: folders, with all below them, and projects that are left out: a JSON array of
            absolute paths and names.
    """

    prompts: bool = True
    programs: bool = True
    projects: tuple[FolderProject, ...] = ()
    checks: Annotated[tuple[str, ...], _at_most(50, 200)] = ()
    exclude: Annotated[tuple[str, ...], _at_most(1000, 4096)] = ()

    @property
    def project_of_folder(self) -> Mapping[str, str]:
        """The projects by their folders."""
        return {one.folder: one.project for one in self.projects}
