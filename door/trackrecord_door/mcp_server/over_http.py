"""One request over HTTP. Imported with the first one, for it imports the SDK."""

from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from .mcp_scope import McpScope
from .sdk_server import create_server

_LARGEST_BODY: Final = 1024 * 1024


async def serve(agent_scope: McpScope, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, as JSON and not as a stream: every answer is one message.

    `Access` has checked the host, the origin and the token, by the settings of this server; the
    SDK's own check knows nothing of them, and stays off.
    """
    manager = StreamableHTTPSessionManager(
        create_server(agent_scope),
        json_response=True,
        stateless=True,
        max_request_body_size=_LARGEST_BODY,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
