"""Our entries in a file of hooks of the shape that Claude Code has given them, and Codex took over.

`{"hooks": {"Stop": [{"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}]}}`: ours are
recognised by what their commands begin with, and stand behind everybody else's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .draft import Draft, DraftRefused, Receipt, is_undone, without_bom
from .json_text import Edit, Node, NotJson, added, parsed, removed

Groups = Mapping[str, dict[str, Any]]
HOOKS: Final = "hooks"


def add_entries(draft: Draft, wanted: Groups, prefix: str) -> list[str]:
    """Make a file hold these groups of hooks, once; those of an older version are replaced.

    Returns:
        The names of what had to be made to hold them.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    made: list[str] = []
    if draft.text is None:
        draft.apply([Edit(0, 0, "{}\n")])
    held = _counted(draft, prefix)
    draft.had_ours = bool(held)
    if held == {event: [group] for event, group in wanted.items()}:
        return []
    remove_entries(draft, prefix, ())
    if root_of(draft).get(HOOKS) is None:
        add_to(draft, root_of(draft), {}, HOOKS)
        made.append(HOOKS)
    for event, group in wanted.items():
        if _hooks(draft).get(event) is None:
            add_to(draft, _hooks(draft), [], event)
            made.append(event)
        add_to(draft, _groups(draft, event), group)
    return made


def remove_entries(draft: Draft, prefix: str, made: Sequence[str]) -> None:
    """Remove our hooks, and the groups made for them if these are empty now.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    if draft.text is None or root_of(draft).get(HOOKS) is None:
        return
    for event in _hooks(draft).names:
        _remove_from(draft, event, prefix)
    hooks = _hooks(draft)
    empty = [
        at for at, name in enumerate(hooks.names) if name in made and hooks.items[at].value == []
    ]
    if empty:
        apply_to(draft, removed(hooks, empty))
    root = root_of(draft)
    at = root.names.index(HOOKS)
    if HOOKS in made and root.items[at].value == {}:
        apply_to(draft, removed(root, [at]))


def restore(draft: Draft, receipt: Receipt | None, prefix: str) -> bool:
    """Undo an installation; return True if the file is ours and now empty, so it can be deleted.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    if draft.text is None:
        return False
    if receipt is not None and is_undone(draft, receipt):
        return receipt.is_ours
    held = [event for event, groups in _counted(draft, prefix).items() if groups]
    made = (HOOKS, *held) if receipt is None else receipt.made
    remove_entries(draft, prefix, made)
    return receipt is not None and receipt.is_ours and root_of(draft).value == {}


def has_entries(draft: Draft, wanted: Groups, prefix: str) -> bool:
    """Return whether a file holds these groups.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    if draft.text is None:
        return False
    return _counted(draft, prefix) == {event: [group] for event, group in wanted.items()}


def our_places(draft: Draft, prefix: str) -> list[tuple[str, int, int]]:
    """Return the places of our hooks: event, index of the group, and index in the group.

    Raises:
        DraftRefused: the file is not what it should be.
    """
    if draft.text is None or root_of(draft).get(HOOKS) is None:
        return []
    return [
        (event, at, place)
        for event in dict.fromkeys(_hooks(draft).names)
        for at, group in enumerate(_groups(draft, event).items)
        for place in _ours(group, prefix)
    ]


def settings_in(draft: Draft) -> Mapping[str, Any]:
    """Return the settings of a file; none if it is missing or blank.

    Raises:
        DraftRefused: it is not valid JSON, or does not hold an object.
    """
    if not _text(draft).strip():
        return {}
    settings: Mapping[str, Any] = root_of(draft).value
    return settings


def _counted(draft: Draft, prefix: str) -> dict[str, list[Any]]:
    """Return the groups that hold a hook of ours, by event."""
    if root_of(draft).get(HOOKS) is None:
        return {}
    found: dict[str, list[Any]] = {}
    for event in dict.fromkeys(_hooks(draft).names):
        groups = [each.value for each in _groups(draft, event).items if _ours(each, prefix)]
        if groups:
            found[event] = groups
    return found


def _remove_from(draft: Draft, event: str, prefix: str) -> None:
    """Take our hooks out of one event: whole groups, or single hooks where others were added."""
    groups = _groups(draft, event)
    whole = [
        at
        for at, group in enumerate(groups.items)
        if (ours := _ours(group, prefix)) and len(ours) == len(_listed(group))
    ]
    edits = removed(groups, whole) if whole else []
    for at, group in enumerate(groups.items):
        ours = _ours(group, prefix)
        hooks = group.get(HOOKS)
        if ours and at not in whole and hooks is not None:
            edits += removed(hooks, ours)
    apply_to(draft, edits)


def _ours(group: Node, prefix: str) -> list[int]:
    """Return which hooks of a group are ours."""
    return [
        at
        for at, hook in enumerate(_listed(group))
        if isinstance(hook, dict) and str(hook.get("command", "")).startswith(prefix)
    ]


def _listed(group: Node) -> list[Any]:
    listed = group.value.get(HOOKS) if isinstance(group.value, dict) else None
    return listed if isinstance(listed, list) else []


def root_of(draft: Draft) -> Node:
    """Return the object that a file holds.

    Raises:
        DraftRefused: it is not valid JSON, or does not hold an object.
    """
    try:
        root = parsed(_text(draft))
    except NotJson as error:
        message = f"{draft.path} is not valid JSON ({error}): left alone"
        raise DraftRefused(message) from None
    return _checked(draft, root, dict, "an object")


def _hooks(draft: Draft) -> Node:
    return _checked(draft, root_of(draft).get(HOOKS), dict, '"hooks" as an object')


def _groups(draft: Draft, event: str) -> Node:
    return _checked(draft, _hooks(draft).get(event), list, f'"{event}" as an array')


def _checked(draft: Draft, node: Node | None, kind: type, what: str) -> Node:
    if node is None or not isinstance(node.value, kind):
        message = f"{draft.path} does not hold {what}: left alone"
        raise DraftRefused(message)
    return node


def _text(draft: Draft) -> str:
    return without_bom(draft.text or "")[1]


def add_to(draft: Draft, into: Node, value: object, name: str | None = None) -> None:
    """Add a value to an array or an object of a file."""
    apply_to(draft, [added(_text(draft), into, value, name=name)])


def apply_to(draft: Draft, edits: Sequence[Edit]) -> None:
    """Edit a file, by places in its text behind a byte order mark."""
    shift = len(without_bom(draft.text or "")[0])
    draft.apply(Edit(each.start + shift, each.end + shift, each.text) for each in edits)
