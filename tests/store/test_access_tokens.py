"""Access tokens on record: in both databases, with their project, and in no export."""

import pytest
from sqlalchemy import text

from trackrecord.errors import UnknownId
from trackrecord.resources.operation.tokens import (
    create_token,
    list_tokens,
    note_token_used,
    revoke_token,
)
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.forget_project import forget_project
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.access_tokens import Permission, digest_of_token, id_of_token, is_token_of

READ = Permission.READ


def listed(store, **wanted):
    """The tokens on record, in the order in which they were made."""
    with reading(store) as connection:
        return list_tokens(connection, **wanted)[::-1]


def test_a_token_is_told_by_its_digest(store):
    """The token is not on record; any other one with the same id is not taken for it."""
    made = create_token(store, project="web", permission=Permission.WRITE, name="build")
    (known,) = listed(store)
    assert made.to_document() == {"token": made.token, **known.to_document()}
    assert known.id == id_of_token(made.token)
    assert known.digest == digest_of_token(made.token)
    assert is_token_of(made.token, known.digest)
    changed = made.token[:-1] + ("0" if made.token[-1] != "0" else "1")
    assert id_of_token(changed) == known.id
    assert not is_token_of(changed, known.digest)
    assert made.token not in repr(made)
    assert known.digest not in repr(made) + str(made.to_document())
    with reading(store) as connection:
        (row,) = connection.execute(text("SELECT * FROM access_tokens")).all()
    assert made.token.rpartition("_")[2] not in str(row)


def test_what_is_not_a_token_has_no_id():
    """Whatever is longer, shorter or of other characters."""
    form = f"trk_{'0' * 12}_{'a' * 48}"
    assert id_of_token(form) == "0" * 12
    for wrong in ("", "trk_", form[:-1], form + "a", form + "\n", form.upper(), form[:-1] + "é"):
        assert id_of_token(wrong) is None


def test_the_life_of_a_token(store):
    """Used, revoked once, and on the list ever after."""
    made = create_token(store, project=None, permission=READ)
    note_token_used(store, made.id)
    (used,) = listed(store)
    assert used.last_used_at >= used.created_at
    assert revoke_token(store, used.id[:6]).is_new
    again = revoke_token(store, used.id)
    assert (again.is_new, again.is_valid) == (False, False)
    (known,) = listed(store)
    assert again.to_document() == {**known.to_document(), "is_new": False}
    with pytest.raises(UnknownId, match="token list"):
        revoke_token(store, "%%%%")


def test_a_forgotten_project_loses_its_tokens(store):
    """Those of other projects, and of all projects, stay."""
    with writing(store) as connection:
        row = ensure_projects(connection, ["web"])["web"]
    for project in ("web", "webb", None):
        create_token(store, project=project, permission=READ)
    with writing(store) as connection:
        forget_project(connection, "web", row, now=1.0)
    assert [token.project for token in listed(store)] == ["webb", None]
    assert listed(store, project="web") == []
