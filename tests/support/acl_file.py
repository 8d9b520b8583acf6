"""Redis's users as they are shipped, from the rights of each role."""

from trackrecord.redis.roles import ADMIN_RULES, ROLES


def acl_file(prefix: str) -> str:
    """Return `deploy/redis/users.acl`.

    Redis refuses the file until a password stands in the place of each `#…_PASSWORD`.
    """
    # Nobody can be this user. It has every right, since Redis reads its append-only file as it.
    lines = ["user default reset off ~* &* +@all"]
    lines += [
        f"user {name} on #{name.upper()}_PASSWORD {role.rules(prefix)}"
        for name, role in ROLES.items()
    ]
    lines.append(f"user admin on #ADMIN_PASSWORD {ADMIN_RULES}")
    return "\n".join(lines) + "\n"
