"""Endpoints: a call of `trackrecord`, and the method and the path under which HTTP offers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, Final, Literal, cast

from trackrecord.resources.declaration.paging import Sorting
from trackrecord.resources.declaration.resource import Operation, Resource, RestsOn

from ..protocol.callers import Permission
from .parameters import Parameter, parameters_of


def document_of(found: Any) -> Any:  # noqa: ANN401 - whatever a call returns
    """Return an object of `trackrecord` as the JSON that `--json` prints."""
    return found.to_document()


Scope = Literal["project", "all", "none"]

USUAL_LIMIT: Final = 100
MOST_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Paging:
    """Parameters of answering a list in pages.

    Attributes:
        sorting: the keys that its entries can be sorted by.
        by_call: whether the call itself goes on after an entry's cursor, so that not all is read.
        in_order: whether it does so in any order.
    """

    sorting: Sorting[Any] | None = None
    by_call: bool = False
    in_order: bool = False


@dataclass(frozen=True)
class Endpoint:
    """One method of one path.

    Attributes:
        method: of HTTP.
        path: below /api/v1, with the call's arguments in braces.
        call: a function of `trackrecord`, or one beside this module; its first argument may be
            `floor`. What it takes, and its docstring, is what is documented.
        answer: the class of the answer, or of each entry of a list.
        permission: what the caller needs.
        paging: how its list is answered; None if it is not a list, or a short one.
        is_list: whether it returns a list.
        scope: "project": the call is about one project, the settings' one when none is named;
            "all": about all projects that the caller may see when none is named; "none": neither.
        leaves_out: arguments of the call that HTTP does not offer.
        status: of an answer that is no error.
        volatile: fields that differ with each answer, and do not make it another one.
        needs_store: whether the call reads or changes the database.
        document: returns what the call returned as JSON.
        rests_on: what its answer rests on that retention may have removed.
    """

    method: Literal["GET", "POST"]
    path: str
    call: Callable[..., Any]
    answer: type
    permission: Permission = Permission.READ
    paging: Paging | None = None
    is_list: bool = False
    scope: Scope = "project"
    leaves_out: frozenset[str] = frozenset()
    status: int = 200
    volatile: tuple[str, ...] = ()
    needs_store: bool = True
    document: Callable[[Any], Any] = field(default=document_of)
    rests_on: tuple[RestsOn, ...] = ()

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.call.__name__

    @property
    def tag(self) -> str:
        """The subject of an endpoint in the documentation."""
        return self.path.split("/")[1]

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name, without the project, which every endpoint has."""
        found = parameters_of(self.call, self.path, self.method)
        left_out = self.leaves_out | {"service", "project", "caller"}
        if self.paging is not None:
            left_out |= {"after", "limit"}
        return {name: each for name, each in found.items() if name not in left_out}

    @property
    def names_given(self) -> list[str]:
        """The parameters of a query string."""
        names = [name for name, each in self.parameters.items() if each.place == "query"]
        if self.scope != "none":
            names.append("project")
        if self.paging is not None:
            names += ["limit", "after"]
            if self.paging.sorting is not None:
                names.append("sort")
        return names


def endpoints_of(resource: Resource) -> tuple[Endpoint, ...]:
    """Return the endpoints that the calls of a resource are noted with."""
    return tuple(
        _endpoint_of(each, each.route) for each in resource.operations if each.route is not None
    )


def _endpoint_of(operation: Operation, route: str) -> Endpoint:
    method, path = route.split()
    by_call = "after" in signature(operation.call).parameters
    paging = Paging(operation.sorting, by_call=by_call, in_order=operation.pages_in_order)
    return Endpoint(
        cast("Literal['GET', 'POST']", method),
        path,
        operation.call,
        operation.answer,
        permission=Permission[operation.permission.upper()],
        paging=paging if operation.in_pages else None,
        is_list=operation.is_list and not operation.in_pages,
        scope=operation.scope,
        leaves_out=frozenset({"sort"}),
        status=operation.status,
        needs_store=operation.needs_store,
        document=operation.document_of,
        rests_on=operation.rests_on,
    )
