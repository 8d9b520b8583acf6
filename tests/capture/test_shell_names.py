"""What shell calls do, and their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord_capture.call_fields import main_step, tool_name
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.command_line import commands_of
from trackrecord_capture.shell.names import step_name
from trackrecord_capture.shell.purposes import purpose_of

NAMES = [
    ("pytest -q 2>&1 | tail -20; echo done", "shell:pytest"),
    ("sudo -u bob env A=1 nice -n 5 timeout 30 python3.11 -m pytest", "shell:pytest"),
    ("uv run --with x python -m unittest", "shell:unittest"), ("$PYTHON -m pytest", "shell:pytest"),
    ("bash -lc 'cd /x && cargo test'", "shell:cargo test"),
    ("docker exec -it c bash -lc 'go test ./...'", "shell:go test"),
    ("kubectl exec -it pod -- pytest", "shell:pytest"),
    ("npm run -s test -- --watch", "shell:npm test"), ("python3 -c 'print(1)'", "shell:python"),
    ("yarn workspace web test", "shell:yarn test"),
    ("pnpm --filter web exec vitest run", "shell:vitest"), ("uvx ruff check .", "shell:ruff check"),
    ("make -j4 X", "shell:make X"), ("make clean test", "shell:make test"),
    ("python manage.py test", "shell:manage.py test"), ("bash scripts/test.sh", "shell:test.sh"),
    ("git -C /x commit -m 'fix: a && b'", "shell:git commit"),
    ('git add -A && git commit -m "$(cat <<\'E\'\nit\'s "x" && (y\nE\n)"', "shell:git commit"),
    ("cat > a.py <<'E'\nimport pytest; pytest\nE\nls", "shell:ls"),
    ("for f in *; do pytest $f; done", "shell:pytest"),
    ("(cd a; cargo build) | tee log", "shell:cargo build"), ("[ -f x ] && test -d y", "shell:["),
    ("apply_patch <<'EOF'\n*** Begin Patch\n+pytest\n*** End Patch\nEOF", "apply_patch"),
    ("cd x && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n", "apply_patch"),
    ("apply_patch <<'EOF'\n+x\nEOF\npytest -q", "shell:pytest"), ("", "shell"),
    ("'unclosed", "shell:unclosed"), ('"$(', "shell"), ("bun test", "shell:bun test"),
    ("rtk bun --cwd a run test", "shell:bun run test"), ("deno task test", "shell:deno task test"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "name"), NAMES)
def test_a_line_is_named_by_the_command_it_is_about(line: str, name: str):
    """Wrappers are looked through, and a check gives the name before anything else."""
    assert tool_name(line) == name


ACTIONS = [
    ("cd x && FOO=1 timeout 30 uv run pytest -q tests/a.py", "uv run", "pytest", "test"),
    ("rtk bun run test", "rtk", "bun test", "test"),
    ("mise run test", "", "mise test", "test"),
    ("npx jest src/a.test.ts", "npx", "jest", "test"),
    ("pnpm exec tsc --noEmit", "pnpm exec", "tsc", "type check"),
    ("poetry run python -m mypy .", "poetry run, python -m", "mypy", "type check"),
    ("docker compose exec -T web python -m pytest", "docker compose exec, python -m", "pytest",
     "test"),
    (". ~/.nvm/nvm.sh && npm test", "", "npm test", "test"),
    ("/home/u/shop/.venv/bin/pytest", ".venv/bin", "pytest", "test"),
    ("./gradlew :app:test", ".", "gradle app:test", "test"),
    ("ssh host 'cd a && bin/rspec'", "ssh, bin", "rspec", "test"),
    ("out=$(cargo test 2>&1); echo \"$out\" | tail -3", "", "cargo test", "test"),
    ("go run honnef.co/go/tools/cmd/staticcheck@latest ./...", "go run", "staticcheck", "lint"),
    ("npm ci && npm run build", "", "npm build", "build"),
    ("npm ci", "", "npm ci", "install"),
    ("ruff format .", "", "ruff format", "format"),
    ("python app.py", "", "python", "run"),
    ("rg foo src | head", "", "rg", "search"),
    ("sed -n 1,9p a.py", "", "sed", "read"),
    ("git commit -m 'run tests'", "", "git commit", "other"),
    ("", "", "", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "launchers", "name", "purpose"), ACTIONS)
def test_what_a_line_does(line: str, launchers: str, name: str, purpose: str):
    """What starts a program is told from the program, and what only times it is left out."""
    step = main_step(line)
    assert (step is not None) is bool(name)
    if step is not None:
        assert (", ".join(step.launchers), step_name(step)) == (launchers, name)
        assert purpose_of(step) == purpose


def test_what_a_check_runs_on():
    """Its scope is what the line names, seen from the folder that it changes to."""
    (check,) = checks_of("cd web && npx vitest run src/a.test.ts")
    assert (check.scope.targets, check.scope.is_whole) == ({"web/src/a.test.ts"}, False)
    (check,) = checks_of("ssh host 'cd a && bin/rspec spec/b.rb'")
    assert check.scope.targets == {"a/spec/b.rb"}
    (check,) = checks_of("rtk pytest -q")
    assert check.scope.is_whole


@given(st.text(alphabet="ab &|;()<>'\"\\`$#{}\n=-1Eé", max_size=80))
def test_any_text_has_a_bounded_name(line: str):
    """No text is refused, and a name holds no blank but the one before what is asked for."""
    name = tool_name(line)
    assert name == "shell" or name.startswith("shell:")
    assert len(name) <= 128
    assert name.isprintable()


@given(st.text(alphabet="ab x", min_size=1, max_size=20))
def test_quoted_text_is_no_command(text: str):
    """What stands in quotes is a word, whatever operators are in it."""
    for quoted in (f"'{text}; pytest && x'", f'"{text}; pytest && x"'):
        (command,) = commands_of(f"echo {quoted}")
        assert command.words[0] == "echo"
        assert len(command.words) == 2


@given(st.text(alphabet="a $'", max_size=9))
def test_double_quotes_end_at_their_own_mark(text: str):
    """Neither a dollar in front of it nor a single quote begins other quotes within them."""
    first, second = commands_of(f'echo "{text}$"; pytest')
    assert (first.words, second.words) == (["echo", f"{text}$"], ["pytest"])


@pytest.mark.parametrize(
    ("line", "piped"),
    [
        ("a | b", [True, False]), ("(a && b) | c", [True, True, False]),
        ("{ a; b; } | c", [True, True, False]), ("a && b", [False, False]),
        ("a |& b", [True, False]),
    ],
)  # fmt: skip
def test_a_group_is_piped_as_a_whole(line: str, piped: list[bool]):
    """What is piped is known for each command of a group."""
    assert [command.piped for command in commands_of(line)] == piped


def test_redirections_are_no_words():
    """Files that are written are known, and descriptors are no files."""
    (command,) = commands_of("pytest -q 2>&1 >out.txt 2>>/dev/null </dev/stdin")
    assert command.words == ["pytest", "-q"]
    assert command.writes == ["out.txt", "/dev/null"]
