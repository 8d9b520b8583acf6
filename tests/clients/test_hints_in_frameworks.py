"""The adapters of the page of Python calls, each with its real framework and a model that plays."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.clients.real_agents import CLIENTS, ROOT
from tests.producers.test_after_failure import ERROR, remember, tried
from trackrecord.settings.settings import load_settings

_PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
_PROGRAMS = Path(__file__).with_name("programs")
_FRAMEWORKS = {
    "pydantic-ai": "pydantic-ai",
    "openai-agents": "openai-agents",
    "LangChain": "langchain",
}
_PYTHONS = {
    name: CLIENTS / "frameworks" / each / "bin" / "python" for name, each in _FRAMEWORKS.items()
}
_COMMAND = "rtk bun run test"

if missing := [name for name, python in _PYTHONS.items() if not python.exists()]:
    pytest.skip(f"{', '.join(missing)}: `make clients` fetches them", allow_module_level=True)

pytestmark = pytest.mark.timeout(300)


def adapter(name):
    """The lines that the page gives for a framework."""
    return re.search(rf"^\*\*{name}\*\*.*?```python\n(.*?)```", _PAGE, re.DOTALL | re.MULTILINE)[1]


@pytest.mark.parametrize("name", sorted(_FRAMEWORKS))
def test_the_model_reads_the_hint_behind_the_error(name, client, home, tmp_path):
    """Marked, once, and behind what the tool said."""
    settings = load_settings(home=home)
    remember(client, settings, [tried(_COMMAND, "not started"), tried("bun run test")])
    # Behind the framework's own packages, so that these stay as they are.
    ours = [
        str(ROOT),
        *(str(ROOT / each) for each in ("producers",)),
        sysconfig.get_path("purelib"),
    ]
    head = f"import sys\nsys.path += {ours!r}\nimport trackrecord\n"
    given = f"COMMAND, ERROR = {_COMMAND!r}, {ERROR!r}\n"
    play = (_PROGRAMS / f"{_FRAMEWORKS[name].replace('-', '_')}_hint.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(head + given + adapter(name) + play)
    done = subprocess.run(
        [_PYTHONS[name], program],
        env={**settings.as_environment(), "TRACKRECORD_PROJECT": "shop", "PATH": "/usr/bin"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"\w[^\n]*\n[^\n]*trackrecord: ", done.stdout), done.stdout
    assert done.stdout.count("`bun run test` then ran in 3.") == 1
