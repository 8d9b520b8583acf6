"""The project of a run: from a person's map, else from its repository or folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trackrecord.learning.text.project_names import DEFAULT_PROJECT, MAX_CHARS
from trackrecord.learning.text.redaction.redact import redacted
from trackrecord.settings.capture_rules import CaptureRules, mapped_project
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.settings.projects.repositories import repository_of, valid_name

_LONGEST_PATH: Final = 4096


class RunProjects:
    """Names the projects of runs, live and imported alike.

    Args:
        mapping: the projects of folders, as a person set them; the innermost folder counts.
        claims: which repository each name belongs to; without them, every repository of a name
            has the same project.
    """

    def __init__(
        self, mapping: Mapping[str, str] | None = None, claims: ProjectClaims | None = None
    ) -> None:
        self._mapping = mapping or {}
        self._claims = claims

    def of(self, folder: str, repository: str = "", *, has_git: bool = False) -> str:
        """Return the project of work in a folder, a name that any project can have.

        Args:
            folder: the path that was worked in; "" if unknown. It need not exist any more.
            repository: the address or the name of the repository, if the source says so.
            has_git: whether the source says that git had the folder then.

        Returns:
            What the map says; else the name of the git repository's remote, or of its main working
            tree; else that of `repository`; else what the folder belonged to when it was there;
            else the folder's own name; "default" if nothing is known. A name that belongs to
            another repository gets a suffix.

        Raises:
            StoreUnfit: the claims cannot be read or written.
        """
        folder = folder[:_LONGEST_PATH].replace("\0", "")
        found = repository_of(folder, redacted(repository))
        if mapped := valid_name(mapped_project(folder, self._mapping)):
            if self._claims is not None:
                self._claims.note_folder(mapped, found.folder if found else folder)
            return mapped
        if found is None:
            return DEFAULT_PROJECT
        name = valid_name(redacted(found.name)[:MAX_CHARS]) or DEFAULT_PROJECT
        found = found._replace(name=name)
        if self._claims is None:
            return name
        if found.tree:
            return self._claims.project(found)
        return self._claims.gone(found, has_git=has_git)

    def named(self, project: str) -> str:
        """Return a project that a program names; no repository of that name gets it."""
        if self._claims is not None:
            self._claims.reserve(project)
        return project


def run_projects(rules: CaptureRules, home: Path) -> RunProjects:
    """Return what names the projects of runs, by a person's map and the claims in a home."""
    return RunProjects(rules.project_of_folder, ProjectClaims(home))
