"""Help texts, messages and pages are plain English; a help text is a whole sentence."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from tests.docs.documentation import PACKAGE_FOLDERS, PAGE_NAMES, ROOT, prose_of
from trackrecord.resources.declaration.docstrings import read_docstring
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_cli.main import COMMANDS, cli

# Words of another language's grammar: what they stand for has a plain English form. "There is no
# setting" and "the answer is no" are plain, "it is no setting" is not.
_PHRASES = r"(?<!\bthere )(?<!\banswer )\bis no\b|\bis none\b|\bso many\b|\bto be had\b"
_FORBIDDEN_IN_PAGES = re.compile(_PHRASES, re.IGNORECASE)
_FORBIDDEN = re.compile(rf"{_PHRASES}|^(Only|Of|The signal of)\b", re.IGNORECASE)
_FEWEST_WORDS = 4
# Each help text begins with an imperative; these are all that are in use.
_VERBS = frozenset({
    "Add", "Amend", "Answer", "Apply", "Ask", "Compute", "Confirm", "Contest", "Count",
    "Create", "Delete", "Deprecate", "Describe", "Dismiss", "Do", "Draw", "Erase", "Explain",
    "Export", "Find", "Forget", "Give", "Import", "Include", "Judge", "Keep", "Let", "Limit",
    "List", "Lower", "Make", "Mark", "Measure", "Move", "Name", "Note", "Offer", "Open", "Print",
    "Publish", "Put", "Raise", "Rank", "Recall", "Record", "Register", "Remove", "Replace",
    "Retract", "Return", "Revoke", "Run", "Say", "Score", "Select", "Send", "Serve", "Set",
    "Show", "Start", "Stop", "Store", "Tag", "Take", "Turn", "Use", "Wait", "Weigh", "Write",
})  # fmt: skip


def _commands(command, path):
    yield path, command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            yield from _commands(command.get_command(ctx, name), f"{path} {name}")


EVERY_COMMAND = list(_commands(cli, "trackrecord"))
HELP_TEXTS = [
    (f"{path} {option.opts[0]}", option.help)
    for path, command in EVERY_COMMAND
    for option in command.params
    if isinstance(option, click.Option)
] + [(path, command.help) for path, command in EVERY_COMMAND]


def test_a_help_text_is_a_plain_sentence():
    """It begins with a verb, has at least four words, and none of the forbidden phrases."""
    for place, text in HELP_TEXTS:
        assert text, f"{place} has no help"
        sentence = text.split("\n\n")[0].split("  [")[0]
        words = sentence.split()
        assert words[0].rstrip(",") in _VERBS, f"{place}: {words[0]!r} is not one of the verbs"
        assert len(words) >= _FEWEST_WORDS, f"{place}: {sentence!r}"
        assert sentence.rstrip().endswith("."), f"{place}: {sentence!r}"
        assert not _FORBIDDEN.search(text), f"{place}: {text!r}"


def _messages():
    """Each text that is assigned to `message` or `reason`, which is what errors are raised with."""
    for folder in PACKAGE_FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and _names_a_message(node.targets):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", _text(node.value)


def _names_a_message(targets):
    return any(isinstance(each, ast.Name) and each.id in ("message", "reason") for each in targets)


def _text(node):
    constants = (each for each in ast.walk(node) if isinstance(each, ast.Constant))
    return " ".join(each.value for each in constants if isinstance(each.value, str))


def test_a_message_is_plain():
    """No message of an error has one of the forbidden phrases."""
    found = [(place, text) for place, text in _messages() if text]
    assert len(found) >= 100
    assert [each for each in found if _FORBIDDEN.search(each[1])] == []


# Texts that people write by hand, besides the pages.
FILES_WITH_COMMENTS = ["docker-compose.yml", "Dockerfile"]


def test_a_page_is_plain():
    """No page has one of the forbidden phrases, not even across the end of a line."""
    for name in PAGE_NAMES + FILES_WITH_COMMENTS:
        text = " ".join(prose_of(name).replace("#", "").split())
        assert not [text[max(found.start() - 40, 0) :][:80] for found in _phrases_in(text)], name


def _phrases_in(text):
    return _FORBIDDEN_IN_PAGES.finditer(text)


def test_a_settings_description_is_plain():
    """No description of a setting has one of the forbidden phrases."""
    described = read_docstring(AgentSettings).names | read_docstring(DaemonSettings).names
    assert [each for each in described.items() if _FORBIDDEN.search(each[1])] == []


def test_the_overview_has_each_commands_own_help():
    """`trackrecord --help` shows lines that it keeps itself; they are the commands' first ones."""
    ctx = click.Context(cli)
    own = {name: cli.get_command(ctx, name).help.split("\n\n")[0] for name in COMMANDS}
    assert {name: " ".join(text.split()) for name, text in own.items()} == COMMANDS


# A first line says what a thing is for: "Return …", or a noun. These beginnings and words do not.
_DIALECT = re.compile(
    r"^(What|Whether|How|Who|Whose|Whom|Where|Which|When|Why|Those|Whoever|Whatever)\b"
    r"|\b(anew|nobody|whoever|handed|lately|stands?|stood|to be told)\b"
    r"|(?<!\bthere )\b(is|are) none\b|(?<!\bthere )\bis no (?!longer\b)"
)
# Texts of surfaces, which the tests above and golden files keep: help, and descriptions of HTTP.
_TEXTS_OF_SURFACES = {
    "How a count is spread over outcomes.",
    "Why one entry is handed out, or is not.",
    "Return whether advice helps: tasks that were handed advice beside tasks without.",
} | {" ".join(text.split("\n\n")[0].split()) for _, text in HELP_TEXTS if text}
_RESOURCES = ROOT / "trackrecord" / "resources"


def _first_lines() -> Iterator[tuple[str, str]]:
    """Yield the place and the first line of each docstring, but not of those of single tests."""
    for folder in [*PACKAGE_FOLDERS, ROOT / "benchmarks", ROOT / "docs", ROOT / "tests"]:
        for path in sorted(folder.rglob("*.py")):
            if not path.is_relative_to(_RESOURCES):
                yield from _first_lines_in(path)


def _first_lines_in(path: Path) -> Iterator[tuple[str, str]]:
    is_test = path.name.startswith("test_")
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, documented):
            continue
        name = getattr(node, "name", "")
        text = ast.get_docstring(node)
        if text and not (is_test and (name.startswith("test_") or not name)):
            place = f"{path.relative_to(ROOT)}:{node.body[0].lineno}"
            yield place, " ".join(text.split("\n\n")[0].split())


def test_first_lines_of_docstrings_are_plain():
    """No first line of a docstring, in the product or a helper of tests, has a forbidden form."""
    lines = list(_first_lines())
    assert len(lines) > 5_000
    found = {place: text for place, text in lines if _DIALECT.search(text)}
    assert {place: text for place, text in found.items() if text not in _TEXTS_OF_SURFACES} == {}


# Adverbs, and participles instead of nouns: they leave open which thing is meant.
_NOT_NAMES = frozenset({
    "asked", "beside", "carrying", "deed", "given", "handed", "handing", "happening", "here",
    "kept", "lately", "posted", "shown", "stood", "taking", "then", "told", "wanted", "went",
})  # fmt: skip
# The names of HTTP's shapes, which are those of their classes.
_SHAPES = {"GivenFeedback", "GivenFeedbackAnswer", "HandedEntry", "HandedOut"}


def test_modules_and_classes_are_named_after_things():
    """No module of the product, and no class of its own, has a forbidden word in its name."""
    found, seen = set(), 0
    for folder in [*PACKAGE_FOLDERS, ROOT / "benchmarks"]:
        for path in folder.rglob("*.py"):
            names = [node.name for node in ast.parse(path.read_bytes()).body if _is_class(node)]
            seen += len(names)
            found |= {name for name in names if _NOT_NAMES & _humps(name)} - _SHAPES
            if _NOT_NAMES & set(path.stem.split("_")) - {"then"}:
                found.add(str(path.relative_to(ROOT)))
    assert seen > 700
    assert found == set()


def _is_class(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and not node.name.startswith("_")


def _humps(name: str) -> set[str]:
    return {hump.lower() for hump in re.findall("[A-Z][a-z0-9]*", name)}
