"""`trackrecord token`: made once, listed without its secret, revoked and still listed."""

import re
import stat

import pytest
from sqlalchemy import event

from trackrecord.errors import InvalidRequest
from trackrecord.resources.operation.tokens import create_token
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord.wire.access_tokens import Permission, id_of_token


def test_a_token_is_printed_once_and_is_nowhere(nothing_up, trackrecord):
    """Neither on the list nor in any file, whose owner alone may read them anyway."""
    made = trackrecord("token", "create", "--project", "web", "--write", "--name", "nightly build")
    assert (made.status, made.err) == (
        0, "may write in project 'web'; keep it: it is not shown again\n"
    )  # fmt: skip
    token = made.out.strip()
    assert re.fullmatch(r"trk_[0-9a-f]{12}_[0-9a-f]{48}", token)
    (listed,) = trackrecord("token", "list", "--json").json
    assert listed | {"created_at": None} == {
        "id": id_of_token(token), "name": "nightly build", "project": "web",
        "permission": "write", "created_at": None, "last_used_at": None, "revoked_at": None,
    }  # fmt: skip
    secret = token.rpartition("_")[2].encode()
    files = [path for path in nothing_up.rglob("*") if path.is_file()]
    assert any(path.name == "trackrecord.db" for path in files)
    assert [path for path in files if secret in path.read_bytes()] == []
    assert not stat.S_IMODE((nothing_up / "trackrecord.db").stat().st_mode) & 0o077


@pytest.mark.parametrize(
    ("options", "project", "permission"),
    [
        ((), "default", "read"),
        (("--read",), "default", "read"),
        (("--project", "web", "--admin"), "web", "admin"),
        (("--all-projects", "--write"), None, "write"),
    ],
)
def test_what_a_token_permits(nothing_up, trackrecord, options, project, permission):
    """One project, which need not be on record, or all of them; reading, unless more is said."""
    made = trackrecord("token", "create", *options, "--json").json
    assert (made["project"], made["permission"]) == (project, permission)
    assert id_of_token(made["token"]) == made["id"]


def test_revoked_tokens_stay_on_the_list(nothing_up, trackrecord):
    """Revoked by the beginning of the id or by the token itself; again, it changes nothing."""
    one, other = (
        trackrecord("token", "create", "--project", name, "--json").json for name in ("web", "shop")
    )
    ran = trackrecord("token", "revoke", one["id"][:8])
    assert (ran.status, ran.out) == (0, f"{one['id']}: revoked; it was for project 'web'\n")
    before = trackrecord("token", "list", "--json").json
    assert [each["revoked_at"] is not None for each in before] == [False, True]
    again = trackrecord("token", "revoke", one["token"], "--json")
    assert (again.json["is_new"], again.json["revoked_at"]) == (False, before[1]["revoked_at"])
    assert trackrecord("token", "list", "--json").json == before
    (of_shop,) = trackrecord("token", "list", "--project", "shop", "--json").json
    assert of_shop["id"] == other["id"]
    assert one["token"] not in ran.out + again.out


@pytest.mark.parametrize(
    ("project", "name"), [("", "x"), ("x\0", "x"), ("x", "\0"), ("x", "x" * 129)]
)
def test_what_a_caller_cannot_ask_for(home, project, name):
    """It is said before anything is written."""
    store = connect_store(f"sqlite:///{home / 'store.db'}")
    migrate(store)
    written: list[str] = []
    event.listen(store, "before_cursor_execute", lambda *given: written.append(given[2]))
    with pytest.raises(InvalidRequest):
        create_token(store, project=project, permission=Permission.READ, name=name)
    store.dispose()
    assert written == []
