"""Secrets are replaced wherever they stand."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.secret_texts import HARMLESS, PARTS, SECRET_TEXTS
from trackrecord.learning.text.redaction import redacted, redacted_beginning, redacted_value

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def _of(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    # Marked, so that no word of the text around it is taken for it.
    drawn = st.text(alphabet=alphabet, min_size=least - 3, max_size=(most or least) - 3)
    return drawn.map(lambda text: ("777" if alphabet in (string.digits, _HEX) else "ZQ7") + text)


# Each kind: the text that holds the secret, and the part that must be gone.
SECRETS: dict[str, st.SearchStrategy[tuple[str, str]]] = {
    "a key of OpenAI": _of(_ALNUM, 40).map(lambda x: (f"sk-proj-{x}", x)),
    "a key of Anthropic": _of(_ALNUM, 60).map(lambda x: (f"sk-ant-api03-{x}-AA", x)),
    "a token of GitHub": _of(_ALNUM, 36).map(lambda x: (f"ghp_{x}", x)),
    "a fine-grained token": _of(_ALNUM, 50).map(lambda x: (f"github_pat_{x}", x)),
    "a token of GitLab": _of(_ALNUM, 20).map(lambda x: (f"glpat-{x}", x)),
    "a token of Slack": _of(string.digits, 12).map(lambda x: (f"xoxb-{x}-{x}-abcDEF", x)),
    "a key of AWS": _of(string.ascii_uppercase + string.digits, 16).map(lambda x: ("AKIA" + x, x)),
    "a key of Google": _of(_ALNUM, 35).map(lambda x: (f"AIza{x}", x)),
    "a token of npm": _of(_ALNUM, 36).map(lambda x: (f"npm_{x}", x)),
    "a token of PyPI": _of(_ALNUM, 60).map(lambda x: (f"pypi-{x}", x)),
    "a token of Hugging Face": _of(_ALNUM, 34).map(lambda x: (f"hf_{x}", x)),
    "a key of Stripe": _of(_ALNUM, 24).map(lambda x: (f"sk_live_{x}", x)),
    "a token of trackrecord": _of(_HEX, 48, 48).map(lambda x: (f"trk_0123456789ab_{x}", x)),
    "a web token": _of(_ALNUM, 30).map(lambda x: (f"eyJ{x}.eyJ{x}.{x}", x)),
    "an authorization": _of(_ALNUM, 12).map(lambda x: (f"Authorization: Bearer {x}", x)),
    "a basic authorization": _of(_ALNUM, 12).map(lambda x: (f"'authorization': 'Basic {x}=='", x)),
    "a cookie": _of(_ALNUM, 12).map(lambda x: (f"Cookie: sid={x}", x)),
    "a variable": _of(_ALNUM, 12).map(lambda x: (f"export DB_PASSWORD={x} ", x)),
    "a quoted variable": _of(_ALNUM, 8).map(lambda x: (f'API_TOKEN="{x} {x}" ', x)),
    "an option": _of(_ALNUM, 8).map(lambda x: (f" --password {x} ", x)),
    "an option with a sign": _of(_ALNUM, 8).map(lambda x: (f" --api-key='{x}' ", x)),
    "a member": _of(_ALNUM, 8).map(lambda x: (f'{{"client_secret": "{x}"}}', x)),
    "a member within a text": _of(_ALNUM, 8).map(lambda x: (f'{{\\"password\\": \\"{x}\\"}}', x)),
    "a password in YAML": _of(_ALNUM, 8).map(lambda x: (f"password: {x}\n", x)),
    "a password in Chinese": _of(_ALNUM, 8).map(lambda x: (f"密码：{x} ", x)),
    "a password in words": _of(_ALNUM, 8).map(lambda x: (f"the password is {x} ", x)),
    "a comparison": _of(_ALNUM, 8).map(lambda x: (f"password == '{x}' ", x)),
    "an entry": _of(_ALNUM, 8).map(lambda x: (f"os.environ[\"SECRET_KEY\"] = '{x}' ", x)),
    "a URL": _of(_ALNUM, 8).map(lambda x: (f"https://bob:{x}@example.com/x", x)),
    "a database": _of(_ALNUM, 8).map(lambda x: (f"postgresql://app:{x}@db:5432/app", x)),
    "a connection": _of(_ALNUM, 8).map(lambda x: (f"Server=db;User=sa;Password={x};", x)),
    "a query": _of(_ALNUM, 12).map(lambda x: (f"https://e.com/?access_token={x}&b=1", x)),
    "a user of curl": _of(_ALNUM, 8).map(lambda x: (f"curl -u bob:{x} https://e.com ", x)),
    "mysql": _of(_ALNUM, 8).map(lambda x: (f"mysql -uroot -p{x} db ", x)),
    "a private key": _of(_ALNUM, 64).map(
        lambda x: (f"-----BEGIN RSA PRIVATE KEY-----\n{x}\n-----END RSA PRIVATE KEY-----\n", x)
    ),
    "the beginning of a private key": _of(_ALNUM, 64).map(
        lambda x: (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{x}\n", x)
    ),
}
AROUND = st.text(alphabet="ab \n.,é中'\"", max_size=30)


@pytest.mark.parametrize("kind", SECRETS)
@settings(max_examples=30)
@given(data=st.data(), before=AROUND, after=AROUND)
def test_no_secret_is_left(kind: str, data: st.DataObject, before: str, after: str):
    """Whatever stands around it, no part of a secret that is longer than a few letters remains."""
    text, secret = data.draw(SECRETS[kind])
    assert secret not in redacted(f"{before} {text} {after}")


@pytest.mark.parametrize("kind", SECRETS)
@settings(max_examples=30)
@given(data=st.data(), most=st.integers(1, 80))
def test_a_cut_leaves_no_part_of_a_secret(kind: str, data: st.DataObject, most: int):
    """A text is cut only after its secrets are gone: half a key is no way around the table."""
    text, secret = data.draw(SECRETS[kind])
    kept = redacted_beginning(f"run it {text} now", most)
    assert len(kept) <= most
    assert secret[:6] not in kept


@given(st.text(alphabet=_ALNUM + " -_=", min_size=1, max_size=20))
def test_a_member_with_a_telling_name_loses_its_value(secret: str):
    """Also in nested arguments, and whatever the value looks like."""
    value = {"a": [{"api_key": secret, "Password": 1234567}], "auth": secret}
    kept = redacted_value(value, 300)
    assert kept == {"a": [{"api_key": "<secret>", "Password": "<secret>"}], "auth": "<secret>"}


@pytest.mark.parametrize(
    "text",
    [
        "cd /src && uv run pytest -q tests/test_tokens.py::test_x | tail -5",
        "max_tokens=100, 3 tokens, tokenizer=x, author: Bob, keyboard: x, path=/a/b",
        "TOKEN=$TOKEN PASSWORD=${DB_PASSWORD} KEY=$(cat key)",
        "commit 3f2a9c1b8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a",
        "test_a_function_with_a_very_long_name_that_says_what_it_is_about_in_2_words",
        "src/components/UserProfileSettingsPage/UserProfileSettingsPage.test.tsx",
        "https://example.com/a/b?page=1",
        "git clone git@github.com:org/name.git",
    ],
)
def test_what_is_no_secret_stays(text: str):
    """Tests, hashes, paths and names of variables are what is learnt from."""
    assert redacted(text) == text


@pytest.mark.parametrize("before", ["", "run it: ", "a\n"])
@pytest.mark.parametrize("kind", SECRET_TEXTS)
def test_nothing_is_left_of_a_kind_of_secret(kind: str, before: str):
    """Of 109 kinds: options of programs, files, headers, phrases in ten languages, keys."""
    if before == "run it: " and kind in ("pgpass", "netrc"):
        before = ""  # lines of files
    left = redacted(f"{before}{SECRET_TEXTS[kind]}\nnow")
    assert not [part for part in PARTS if part[:6] in left]
    assert redacted(left) == left


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str):
    """Ports, folders, options of other programs, and sentences about passwords."""
    assert redacted(text) == text


def test_twice_is_once():
    """A text without secrets is not changed again."""
    once = redacted("PASSWORD=abc --token xyz https://a:b@c/ Bearer abcdefghijkl")
    assert redacted(once) == once
