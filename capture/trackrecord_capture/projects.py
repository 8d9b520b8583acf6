"""The project of a run: from a person's map, else from its repository or folder."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from trackrecord.learning.text.project_names import DEFAULT_PROJECT, MAX_CHARS
from trackrecord.learning.text.redaction import redacted
from trackrecord.settings.capture_rules import CaptureRules, leaves_out, mapped_project
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.settings.projects.repositories import (
    Repository,
    last_part,
    parents,
    repository_of,
    valid_name,
)

_LONGEST_PATH: Final = 4096
_MOST_ANSWERS: Final = 10_000

# The projects of folders, each with a repository and whether git had it.
Answers = dict[tuple[str, str, bool], str]


class RunProjects:
    """Names the projects of runs, live and imported alike.

    Args:
        mapping: the projects of folders, as a person set them; the innermost folder counts.
        claims: which repository each name belongs to; without them, every repository of a name
            has the same project.
        on_record: returns the project in which an outcome is on record; "" if it is in none.
        excluded: the folders and projects that are left out of capture.
        fixed: the project of all runs that are not left out; "" if that is not known.
    """

    def __init__(
        self,
        mapping: Mapping[str, str] | None = None,
        claims: ProjectClaims | None = None,
        on_record: Callable[[str], str] = lambda _outcome_id: "",
        excluded: Collection[str] = (),
        fixed: str = "",
    ) -> None:
        self._fixed = fixed
        self._mapping = mapping or {}
        self._excluded = excluded
        self._claims = claims
        self._on_record = on_record
        self._answers: Answers = {}

    def of(
        self, folder: str, repository: str = "", *, has_git: bool = False, outcome_id: str = ""
    ) -> str:
        """Return the project of work in a folder, or "" if it is left out of capture.

        Args:
            folder: the path that was worked in; "" if unknown. It need not exist any more.
            repository: the address or the name of the repository, if the source says so.
            has_git: whether the source says that git had the folder then.
            outcome_id: the run's; where nothing else is known, its project on record counts.

        Returns:
            A name that any project can have: what the map says; else the name of the git
            repository's remote, or of its main working tree; else that of `repository`; else what
            the folder belonged to when it was there; else its own name; "default" if nothing is
            known. A name that belongs to another repository gets a suffix.

        Raises:
            StoreUnfit: the claims cannot be read or written.
        """
        folder = folder[:_LONGEST_PATH].replace("\0", "")
        found = repository_of(folder, redacted(repository))
        # What is above a folder leaves it out as well.
        main = "" if found is None or f"{folder}/".startswith(f"{found.folder}/") else found.folder
        if leaves_out(folder, self._excluded) or (main and leaves_out(main, self._excluded)):
            return ""
        if self._fixed:
            return self._fixed
        project = self._named(folder, repository, found, has_git=has_git, outcome_id=outcome_id)
        # Without claims, the project of that name may be another repository's.
        is_known = self._claims is not None
        return "" if is_known and project in self._excluded else project

    def _named(
        self,
        folder: str,
        repository: str,
        found: Repository | None,
        *,
        has_git: bool,
        outcome_id: str,
    ) -> str:
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
        known = self._claims.claimed(found) or self._recorded(folder, outcome_id)
        asked = folder, repository, has_git
        if not known or asked not in self._answers:
            known = self._claims.gone(found, known, has_git=has_git)
        if len(self._answers) < _MOST_ANSWERS:
            self._answers[asked] = known
        return known

    def _recorded(self, folder: str, outcome_id: str) -> str:
        """Return the project in which a run is on record, if that tells more than its folder."""
        recorded = self._on_record(outcome_id) if outcome_id else ""
        names = {last_part(each) for each in parents(folder)}
        return "" if names & {recorded, recorded.rpartition("-")[0]} else recorded

    def take_answers(self) -> Answers:
        """Return what was answered since the last time of folders that git does not have now."""
        taken, self._answers = self._answers, {}
        return taken

    def are_outdated(self, answers: Answers) -> bool:
        """Return whether any of them would be another one now."""
        return any(
            self.of(folder, repository, has_git=has_git) != project
            for (folder, repository, has_git), project in answers.items()
        )

    def named(self, project: str) -> str:
        """Return a project that a program names, which no repository gets; "" if left out."""
        if self._fixed or project in self._excluded:
            return self._fixed
        if self._claims is not None:
            self._claims.reserve(project)
        return project


def run_projects(
    rules: CaptureRules,
    home: Path,
    on_record: Callable[[str], str] = lambda _outcome_id: "",
    fixed: str = "",
) -> RunProjects:
    """Return what names the projects of runs, by a person's map and the claims in a home."""
    claims = ProjectClaims(home)
    return RunProjects(rules.project_of_folder, claims, on_record, rules.exclude, fixed)
