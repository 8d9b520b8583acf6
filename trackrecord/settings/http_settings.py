"""The settings of the HTTP server."""

from dataclasses import dataclass, field

from trackrecord.learning.numbers.checks import require

_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class HttpSettings:
    """The address of the HTTP server, and who may use it.

    Attributes:
        host: address to listen on. For an address that other machines can reach, a token must be
            made first: `token`, or one that `trackrecord token create` made.
        port: port to listen on; 0 for any free port.
        token: the server's own token, for everything in every project, in place of the one that
            it makes for itself; at least 16 characters. Requests carry it, or a token that
            `trackrecord token create` made, as `Authorization: Bearer …` or as the password of
            basic authentication.
        open_to_local_users: let every user and every program of this machine read and decide
            everything without a token. Only for an address that other machines cannot reach, and
            for a machine with one user.
        names: with `open_to_local_users`, further host names under which the server may be
            addressed without a token, for example `["host.docker.internal"]`. Any other name than
            this machine's own is refused, because a web page could stand behind it.
    """

    host: str = "127.0.0.1"
    port: int = 4318
    token: str | None = field(default=None, repr=False)
    open_to_local_users: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.host.strip()), "host must not be blank")
        require(0 <= self.port <= 65_535, "port must lie in 0..65535")
        require(
            self.token is None or len(self.token.strip()) >= _SHORTEST_TOKEN,
            f"token must have at least {_SHORTEST_TOKEN} characters",
        )
        require(
            self.token is None or not self.open_to_local_users,
            "open_to_local_users contradicts token: unset one of them",
        )
