"""A server of one tool, as the MCP SDK's own documentation shows it."""

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
def recall(task: str) -> str:
    """Return the records that match a task."""
    return task


if __name__ == "__main__":
    server.run("stdio")
