"""The request for a page: project, sorting and filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from starlette.requests import Request

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.project_names import checked_project
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.access.redis_server import redis_explained
from trackrecord.resources.declaration.checks import text_of
from trackrecord_door.protocol.callers import Caller, caller_of
from trackrecord_door.query_service import QueryService

from ..table import permission_of

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Connection

_LONGEST: Final = 4096
# What every link keeps.
_KEPT: Final = "project"


@dataclass(frozen=True)
class PageRequest:
    """The request for a page.

    Attributes:
        service: where the answer comes from.
        caller: who asks.
        path: of the page.
        query: the parameters behind it; of those that are repeated, the last.
        named: the parts of the path that have a name, for example an id.
        project: the project that is shown.
    """

    service: QueryService
    caller: Caller
    path: str
    query: Mapping[str, str]
    named: Mapping[str, str]
    project: str

    def text(self, name: str) -> str | None:
        """Return a parameter of the query; None if it is missing or blank.

        Raises:
            InvalidRequest: it is too long, or holds what no database can store.
        """
        given = self.query.get(name, "")
        return text_of(name, given, most=_LONGEST).strip() if given.strip() else None

    def can(self, path: str) -> bool:
        """Return whether the caller may post to a path."""
        return self.caller.permission >= permission_of(path)

    @property
    def sees_all(self) -> bool:
        """Return whether the caller may see all projects."""
        return self.caller.project is None

    @property
    def names_project(self) -> bool:
        """Return whether the project was chosen, out of several."""
        return self.sees_all and bool(self.query.get("project"))

    def link(self, path: str, **query: object) -> str:
        """Return a link to another page of the same project.

        Args:
            path: of the page, without unusual characters; see `link_to` for ids.
            query: further parameters; those that are None are left out.
        """
        kept = {_KEPT: self.query[_KEPT]} if self.query.get(_KEPT) else {}
        given = {name: str(value) for name, value in query.items() if value is not None}
        parameters = urlencode({**kept, **given})
        return f"{path}?{parameters}" if parameters else path

    def link_to(self, path: str, some_id: str, **query: object) -> str:
        """Return a link to the page of one entry, by its id; see `link`."""
        return self.link(f"{path}/{quote(some_id, safe='')}", **query)

    def link_with(self, **changes: object) -> str:
        """Return a link to this page, with some parameters changed; None removes one."""
        query = {name: value for name, value in self.query.items() if name != _KEPT}
        return self.link(self.address, **{**query, **changes})

    @property
    def filtered(self) -> bool:
        """Return whether a filter is in use."""
        return self.filters_but()

    def filters_but(self, *names: str) -> bool:
        """Return whether a filter other than those named is in use."""
        return any(
            self.query[name] for name in self.query.keys() - {_KEPT, "sort", "cursor", *names}
        )

    @property
    def address(self) -> str:
        """The path of this page as links and forms hold it: an id in it may have any letters."""
        return quote(self.path, safe="/")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a reading transaction.

        Raises:
            ServerUnavailable: the database cannot be reached.
        """
        from trackrecord.store.database.engine import reading

        with reading(self.service.engine) as connection:
            yield connection

    def task_texts(self, outcome_ids: Iterable[str | None]) -> Mapping[str, str]:
        """Return the texts of tasks, each in one line, by the ids of their outcomes, where known.

        Raises:
            UnknownProject: nothing is on record for the project.
            ServerUnavailable: the database cannot be reached.
        """
        from trackrecord.resources.reports.runs import task_texts

        ids = [each for each in outcome_ids if each]
        with self.reading() as connection:
            row = project_row(connection, self.project)
            found = task_texts(connection, row, ids)
        return {each: " ".join(text[:_LONGEST].split()) for each, text in found.items()}

    @contextmanager
    def redis(self) -> Iterator[redis.Redis]:
        """Use Redis.

        Raises:
            ServerUnavailable: it cannot be reached, or goes away meanwhile.
        """
        with redis_explained(self.service.settings):
            yield self.service.client


def read_page_request(request: Request, service: QueryService) -> PageRequest:
    """Return the parsed request.

    Raises:
        InvalidRequest: no project can have the name that is given.
        ServerUnavailable: the database cannot be reached.
    """
    caller = caller_of(request)
    query = dict(request.query_params)
    return PageRequest(
        service=service,
        caller=caller,
        # As it was decoded: Starlette's URL holds a question mark in an id as "%3F".
        path=request.scope["path"],
        query=query,
        named=request.path_params,
        project=_project(query.get("project", ""), caller, service),
    )


def _project(given: str, caller: Caller, service: QueryService) -> str:
    if given:
        try:
            return checked_project(given)
        except ValueError as error:
            raise InvalidRequest(str(error)) from None
    if caller.project is not None:
        return caller.project
    usual = service.settings.project
    known = _known_projects(service)
    return usual if usual in known or not known else known[0]


def _known_projects(service: QueryService) -> list[str]:
    from trackrecord.store.database.engine import reading
    from trackrecord.store.outcomes.projects import project_names

    with reading(service.engine) as connection:
        return project_names(connection)


def visible_projects(asked: PageRequest) -> list[str]:
    """Return the names of the projects that the caller may see.

    Raises:
        ServerUnavailable: the database cannot be reached.
    """
    return _known_projects(asked.service) if asked.sees_all else [asked.project]
