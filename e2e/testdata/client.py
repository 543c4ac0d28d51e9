"""Drives termpilot by the official Python MCP client: open, run, read, wait.

usage: client.py BINARY SHELL... ; prints one JSON object per shell."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def walk(session, shell):
    async def call(tool, **args):
        result = await session.call_tool(tool, args)
        content = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
        failed = getattr(result, "is_error", None) or getattr(result, "isError", None)
        if failed:
            raise SystemExit(f"{tool}: {result.content}")
        return content

    opened = await call("create_window", profile=shell)
    sid = opened["session_id"]
    ran = await call("run_command", session_id=sid, command="echo hello; sh -c 'exit 3'")
    read = await call("read_terminal", session_id=sid)
    started = await call("run_command", session_id=sid, command="sleep 1; echo late", wait_for_completion=False)
    waited = await call("wait_session", run_id=started["run_id"], timeout_seconds=20)
    listed = await call("list_sessions")
    return {
        "shell": shell,
        "exit": ran["exit_code"],
        "output": ran["output"],
        "screen": "hello" in read["content"],
        "submitted": started["status"],
        "late": waited["run"]["output"],
        "listed": any(s["session_id"] == sid for s in listed["sessions"]),
    }


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["serve"], env=dict(os.environ))
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            assert len(tools.tools) >= 9, tools
            for shell in sys.argv[2:]:
                print(json.dumps(await walk(session, shell)), flush=True)


asyncio.run(main())
