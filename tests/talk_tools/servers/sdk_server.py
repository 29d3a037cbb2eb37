"""A server as the protocol's own SDK makes them (tools/requirements-mcp.txt): sdk_server.py [http PORT]."""
import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("sdk", port=int(sys.argv[2]) if len(sys.argv) > 2 else 0)


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def greet(name: str = "you") -> str:
    """Says hello."""
    return f"Hello, {name}, grüß dich!"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("it is broken")


@server.tool()
async def slow(steps: int, context: Context) -> str:
    """Takes its time, and tells how far it is."""
    for step in range(steps):
        await context.report_progress(step + 1, steps)
        await asyncio.sleep(0.02)
    return "there"


@server.tool()
async def sleep(seconds: float) -> str:
    """Sleeps."""
    await asyncio.sleep(seconds)
    return "awake"


@server.tool()
async def grow(context: Context) -> str:
    """Brings another tool."""
    server.add_tool(lambda: "new", name="grown", description="Was not there.")
    await context.session.send_tool_list_changed()
    return "grown"


server.run("streamable-http" if "http" in sys.argv else "stdio")
