"""Our MCP server in a JSON file of an agent's servers: `{"mcpServers": {"trackrecord": {…}}}`.

The agent rewrites such a file itself, so ours is found by its name and by what it starts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .draft import Draft, DraftRefused, Receipt, is_undone
from .hook_entries import add_to, apply_to, root_of
from .json_text import Edit, Node, removed

NAME: Final = "trackrecord"
_SERVERS: Final = "mcpServers"
_COMMAND: Final = "command"


def add_server(draft: Draft, server: Mapping[str, Any]) -> list[str]:
    """Add our server to a file, once; return the names of the entries that were created.

    Raises:
        DraftRefused: the file is not what it should be, or names a server of somebody else so.
    """
    made: list[str] = []
    if draft.text is None:
        draft.apply([Edit(0, 0, "{}\n")])
    held = _held(draft)
    if held == dict(server):
        draft.had_ours = True
        return made
    if held is not None:
        if not _is_ours(held, server):
            message = f"{draft.path} has an MCP server {NAME!r} of yours, which stays"
            raise DraftRefused(message)
        remove_server(draft, server, ())
        draft.had_ours = True
    if root_of(draft).get(_SERVERS) is None:
        add_to(draft, root_of(draft), {}, _SERVERS)
        made.append(_SERVERS)
    servers = _servers(draft)
    assert servers is not None  # noqa: S101 - it was made if it was not there
    add_to(draft, servers, dict(server), NAME)
    return made


def remove_server(draft: Draft, server: Mapping[str, Any], made: Sequence[str]) -> None:
    """Remove our server, and the entries made for it if these are empty now.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    held = None if draft.text is None else _held(draft)
    servers = None if held is None else _servers(draft)
    if servers is None or not _is_ours(held, server):
        return
    places = [at for at, name in enumerate(servers.names) if name == NAME]
    apply_to(draft, removed(servers, places))
    root = root_of(draft)
    at = root.names.index(_SERVERS)
    if _SERVERS in made and root.items[at].value == {}:
        apply_to(draft, removed(root, [at]))


def restore_servers(draft: Draft, server: Mapping[str, Any], receipt: Receipt | None) -> bool:
    """Undo a registration; return True if the file is ours and now empty, so it can be deleted.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    if draft.text is None:
        return False
    if receipt is not None and is_undone(draft, receipt):
        return receipt.is_ours
    remove_server(draft, server, () if receipt is None else receipt.made)
    return receipt is not None and receipt.is_ours and root_of(draft).value == {}


def has_server(draft: Draft, server: Mapping[str, Any]) -> bool:
    """Return whether a file names our server.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    return draft.text is not None and _held(draft) == dict(server)


def _is_ours(held: object, server: Mapping[str, Any]) -> bool:
    return isinstance(held, dict) and held.get(_COMMAND) == server[_COMMAND]


def _held(draft: Draft) -> Any:  # noqa: ANN401 - any JSON
    servers = _servers(draft)
    found = None if servers is None else servers.get(NAME)
    return None if found is None else found.value


def _servers(draft: Draft) -> Node | None:
    node = root_of(draft).get(_SERVERS)
    if node is not None and not isinstance(node.value, dict):
        message = f'{draft.path} does not hold "{_SERVERS}" as an object: left alone'
        raise DraftRefused(message)
    return node
