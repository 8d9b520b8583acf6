"""Writes the reference parts of settings.md and commands.md from the code: run it after a change.

`python docs/reference.py` rewrites what stands between the two marks of each page; a test says when
that was forgotten.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

import click

from trackrecord.resources.declaration.docstrings import read_docstring
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.setting_sources import ENV_PREFIX
from trackrecord.settings.setting_values import Annotation, bounds_of, settings_of
from trackrecord_cli.main import cli

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DOCS = Path(__file__).parent
BEGIN = "<!-- written by docs/reference.py -->"
END = "<!-- end -->"

_WHOLE_SENTENCE = 1000
# Defaults that depend on the machine, and those that another setting makes up for.
_DEFAULTS = {"home": "the user's data folder, `~/.local/share/trackrecord` on Linux"}
_RULES = {
    "scoring": "Scoring",
    "decay": "Decay",
    "maturity": "Maturity of patterns",
    "antipatterns": "Anti-patterns",
    "criteria": "Criteria",
    "competence": "Competence records",
    "errors": "Errors of tasks in flight",
    "texts": "Texts for a prompt",
    "lessons": "Lessons from tool calls",
    "embeddings": "Embeddings",
    "memories": "Memories and past tasks",
    "context": "Candidates of a prompt",
    "artifacts": "Artifacts",
    "benchmark": "Benchmark and gate",
    "http": "HTTP",
    "hooks": "Hooks of coding agents",
}
_MEANINGS = read_docstring(AgentSettings).names | read_docstring(DaemonSettings).names


def settings_reference() -> str:
    """The tables of settings.md."""
    declared = settings_of(DaemonSettings)
    usual = {field.name: field.default for field in fields(DaemonSettings)}
    rows = [_row(name, each, usual[name]) for name, each in declared.items() if not each.rules]
    parts = [_table(("variable", "default", "allowed", "meaning"), rows)]
    for name, each in declared.items():
        if each.rules:
            parts += [f"### {_RULES.get(name, name.capitalize())}", _rules_table(name, usual[name])]
    return "\n\n".join(parts)


def _row(name: str, setting: Annotation, default: object) -> tuple[str, ...]:
    shown = _DEFAULTS.get(name) or _code(default)
    return f"`{ENV_PREFIX}{name.upper()}`", shown, _allowed(setting), _MEANINGS[name]


def _code(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, tuple):
        return f"`{json.dumps(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(setting: Annotation) -> str:
    if get_origin(setting.kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(setting.kind))
    if setting.bounds.pattern:
        return f"`{setting.bounds.pattern}`"
    return bounds_of(setting)


def _rules_table(name: str, rules: "DataclassInstance") -> str:
    meanings = read_docstring(type(rules)).names
    rows = [
        (
            f"`{ENV_PREFIX}{name.upper()}__{number.name.upper()}`",
            _code(getattr(rules, number.name)),
            meanings.get(number.name, ""),
        )
        for number in fields(rules)
        if number.name in settings_of(type(rules))
    ]
    return _table(("variable", "default", "meaning"), rows)


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def commands_reference() -> str:
    """The table of commands.md: each command, and the first sentence of its help."""
    return _table(
        ("command", "for"),
        [
            (f"`{path}`", command.get_short_help_str(_WHOLE_SENTENCE))
            for path, command, _ in leaves()
        ],
    )


def leaves() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield every command that can be called, with its full name and a context."""
    yield from _leaves(cli, click.Context(cli, info_name="trackrecord"))


def _leaves(
    command: click.Command, ctx: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    if not isinstance(command, click.Group):
        yield ctx.command_path, command, ctx
        return
    for name in command.list_commands(ctx):
        child = command.get_command(ctx, name)
        if child is not None:
            yield from _leaves(child, click.Context(child, info_name=name, parent=ctx))


PAGES = {"settings.md": settings_reference, "commands.md": commands_reference}


def rewritten(page: str) -> str:
    """A page with its reference part as the code has it now."""
    before, rest = (DOCS / page).read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{PAGES[page]()}\n\n{END}{after}"


def main() -> None:
    """Rewrite both pages."""
    for page in PAGES:
        text = rewritten(page)
        (DOCS / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
