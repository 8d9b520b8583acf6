"""Finer names of shell calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord_capture.shell.command_line import commands_of
from trackrecord_capture.shell.names import tool_name

NAMES = [
    ("cd x && FOO=1 uv run pytest -q tests/a.py", "shell:pytest"),
    ("pytest -q 2>&1 | tail -20; echo done", "shell:pytest"),
    ("sudo -u bob env A=1 nice -n 5 timeout 30 python3.11 -m pytest", "shell:pytest"),
    ("time poetry run pytest", "shell:pytest"),
    ("pipenv run pytest", "shell:pytest"),
    ("uv run --with x python -m unittest", "shell:unittest"),
    ("coverage run -m pytest", "shell:pytest"),
    ("$PYTHON -m pytest", "shell:pytest"),
    (".venv/bin/python -m mypy .", "shell:mypy"),
    ("bash -lc 'cd /x && cargo test'", "shell:cargo test"),
    ("docker compose -f x.yml exec -T web pytest", "shell:pytest"),
    ("docker exec -it c bash -lc 'go test ./...'", "shell:go test"),
    ("kubectl exec -it pod -- pytest", "shell:pytest"),
    ("ssh -p 22 host 'cd a && pytest'", "shell:pytest"),
    ("npm test", "shell:npm test"),
    ("npm run -s test -- --watch", "shell:npm test"),
    ("npm run build", "shell:npm build"),
    ("yarn workspace web test", "shell:yarn test"),
    ("pnpm --filter web exec vitest run", "shell:vitest"),
    ("npx --yes eslint .", "shell:eslint"),
    ("bunx tsc --noEmit", "shell:tsc"),
    ("uvx ruff check .", "shell:ruff check"),
    ("make -j4 X", "shell:make X"),
    ("make clean test", "shell:make test"),
    ("./gradlew :app:test", "shell:gradle app:test"),
    ("python manage.py test", "shell:manage.py test"),
    ("bash scripts/test.sh", "shell:test.sh"),
    ("git -C /x commit -m 'fix: a && b'", "shell:git commit"),
    ('git add -A && git commit -m "$(cat <<\'E\'\nit\'s "x" && (y\nE\n)"', "shell:git commit"),
    ("cat > a.py <<'E'\nimport pytest; pytest\nE\nls", "shell:ls"),
    ("for f in *; do pytest $f; done", "shell:pytest"),
    ("(cd a; cargo build) | tee log", "shell:cargo build"),
    ("ls | grep x", "shell:ls"),
    ("cd x && ls", "shell:ls"),
    ("cd x", "shell:cd"),
    ("echo hi", "shell:echo"),
    ("[ -f x ] && test -d y", "shell:["),
    ("python3 -c 'print(1)'", "shell:python"),
    ("apply_patch <<'EOF'\n*** Begin Patch\n+pytest\n*** End Patch\nEOF", "apply_patch"),
    ("cd x && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n", "apply_patch"),
    ("apply_patch <<'EOF'\n+x\nEOF\npytest -q", "shell:pytest"),
    ("npx", "shell:npx"),
    ("", "shell"),
    ("FOO=1", "shell"),
    ("'unclosed", "shell:unclosed"),
    ('"$(', "shell"),
]


@pytest.mark.parametrize(("line", "name"), NAMES)
def test_a_line_is_named_by_the_command_it_is_about(line: str, name: str):
    """Wrappers are looked through, and a check gives the name before anything else."""
    assert tool_name(line) == name


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


@pytest.mark.parametrize(
    ("line", "piped"),
    [
        ("a | b", [True, False]),
        ("(a && b) | c", [True, True, False]),
        ("{ a; b; } | c", [True, True, False]),
        ("a && b", [False, False]),
        ("a |& b", [True, False]),
    ],
)
def test_a_group_is_piped_as_a_whole(line: str, piped: list[bool]):
    """What is piped is known for each command of a group."""
    assert [command.piped for command in commands_of(line)] == piped


def test_redirections_are_no_words():
    """Files that are written are known, and descriptors are no files."""
    (command,) = commands_of("pytest -q 2>&1 >out.txt 2>>/dev/null </dev/stdin")
    assert command.words == ["pytest", "-q"]
    assert command.writes == ["out.txt", "/dev/null"]
