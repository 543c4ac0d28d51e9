"""Listens for an agent by the official Python MCP client: launch, approve, result.

usage: notices.py BINARY MODE CLAUDE LOG ; MODE is legacy or auto, CLAUDE the
program that plays the agent. It only ever waits for notices, never asks again by
itself, and prints one JSON object."""

import asyncio
import json
import os
import sys
import time
import warnings

from mcp import Client, MCPError, StdioServerParameters

warnings.simplefilter("ignore")  # subscribe_resource is of the older era
binary, mode, claude, log = sys.argv[1:]
patience = 60


async def main():
    heard = asyncio.Queue()
    kinds = []

    async def listen(message):
        method = getattr(getattr(message, "root", message), "method", "")
        if method.startswith("notifications/resources/"):
            kinds.append(method.rpartition("/")[2])
            heard.put_nowait(time.monotonic())

    server = StdioServerParameters(command=binary, args=["serve"], env=dict(os.environ))
    async with Client(server, mode=mode, message_handler=listen) as client:
        async def call(tool, **args):
            result = await client.call_tool(tool, args)
            if result.is_error:
                raise SystemExit(f"{tool}: {result.content}")
            return result.structured_content

        async def read(uri):
            result = await client.read_resource(uri)
            return json.loads(result.contents[0].text)

        async def until(uri, found):
            """Reads after every notice, and at first: what changes later is told."""
            while True:
                seen = found(await read(uri))
                if seen:
                    return seen
                await asyncio.wait_for(heard.get(), patience)

        assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode], client.protocol_version
        everything = "termpilot://agents"
        assert client.server_capabilities.resources.subscribe, client.server_capabilities
        assert [str(r.uri) for r in (await client.list_resources()).resources] == [everything]
        listening = None
        if mode == "legacy":
            await client.subscribe_resource(everything)
        else:
            listening = client.listen(resources_list_changed=True, resource_subscriptions=[everything])
            await listening.__aenter__()
        try:
            if mode == "legacy":
                await client.subscribe_resource("termpilot://agents/nobody")
            else:
                async with client.listen(resource_subscriptions=["termpilot://agents/nobody"]):
                    pass
            refused = None
        except MCPError as e:
            refused = {"number": e.error.code, **e.error.data}

        launched = await call("claude_agent", prompt="RUN:touch x\nSAY:the answer", env={"TERMPILOT_CLAUDE_BIN": claude, "STANDIN_LOG": log})
        session = launched["session_id"]
        mine = everything + "/" + session

        def state(word):
            return lambda all: next((a for a in all["agents"] if a["session_id"] == session and a["state"] == word), None)

        asks = await until(everything, state("waiting_approval"))
        question = await call("agent_approval", session_id=session, action="inspect")
        await call("agent_approval", session_id=session, action="respond", digest=question["digest"], choice="yes")
        done = await until(everything, state("idle"))
        result = await call("agent_turn", session_id=session, action="result")
        listed = [str(r.uri) for r in (await client.list_resources()).resources]
        await call("close_session", session_id=session, force=True)
        gone = await until(mine, lambda one: one if one["state"] == "ended" else None)
        if listening:
            await listening.__aexit__(None, None, None)
        print(json.dumps({
            "refused": refused, "asks": asks, "asked": question["asks"], "done": done, "text": result["text"],
            "listed": mine in listed, "gone": gone, "kinds": sorted(set(kinds)), "notices": len(kinds),
        }))


asyncio.run(main())
