"""What the official iterm2 package does with a host: list, read, type, follow prompts, name, split, close."""
import asyncio
import sys
from unittest import mock

import iterm2
import iterm2.connection


def check(what, got, want):
    if got != want:
        raise SystemExit(f"{what}: got {got!r}, want {want!r}")


async def main(connection):
    app = await iterm2.async_get_app(connection)
    check("windows of an empty host", app.windows, [])

    window = await iterm2.Window.async_create(connection, profile="bash")
    session = window.current_tab.current_session
    async with iterm2.PromptMonitor(connection, session.session_id, modes=[
            iterm2.PromptMonitor.Mode.PROMPT,
            iterm2.PromptMonitor.Mode.COMMAND_START,
            iterm2.PromptMonitor.Mode.COMMAND_END]) as monitor:
        while True:
            prompt = await iterm2.async_get_last_prompt(connection, session.session_id)
            if prompt and prompt.state == iterm2.PromptState.EDITING:
                break
            await monitor.async_get()
        await session.async_send_text("echo from python; sh -c 'exit 5'\r", suppress_broadcast=True)
        events = []
        ended = None
        while len(events) < 3 or events[-1] != iterm2.PromptMonitor.Mode.PROMPT:
            mode, value = await asyncio.wait_for(monitor.async_get(include_id=False), 10)
            if mode == iterm2.PromptMonitor.Mode.COMMAND_START:
                check("the command", value, "echo from python; sh -c 'exit 5'")
            if mode == iterm2.PromptMonitor.Mode.COMMAND_END:
                check("the status", value, 5)
            if mode != iterm2.PromptMonitor.Mode.PROMPT or events:
                events.append(mode)

    ids = await iterm2.async_list_prompts(connection, session.session_id)
    ended = await iterm2.async_get_prompt_by_id(connection, session.session_id, ids[-2])
    check("the state", ended.state, iterm2.PromptState.FINISHED)
    output = ended.output_range
    lines = await session.async_get_contents(output.start.y, output.end.y - output.start.y)
    check("the output", [line.string for line in lines], ["from python"])

    contents = await session.async_get_screen_contents()
    check("rows", contents.number_of_lines, 24)
    info = await session.async_get_line_info()
    check("line info", (info.mutable_area_height, info.overflow), (24, 0))
    check("a variable", await session.async_get_variable("columns"), 80)
    await session.async_set_variable("user.mine", {"a": [1, None]})
    check("a variable of ours", await session.async_get_variable("user.mine"), {"a": [1, None]})
    check("no such variable", await session.async_get_variable("nosuch"), None)

    await session.async_set_name("builder")
    check("the name", await session.async_get_variable("name"), "builder")
    other = await session.async_split_pane(vertical=True, profile="sh")
    check("panes", len(window.current_tab.sessions), 2)
    tab = await window.async_create_tab(command="/bin/sh -c 'echo in a tab; exec sleep 74'")
    check("tabs", len(window.tabs), 2)
    async with tab.current_session.get_screen_streamer() as streamer:
        while "in a tab" not in (await tab.current_session.async_get_screen_contents()).line(0).string:
            await asyncio.wait_for(streamer.async_get(), 10)
    await session.async_activate()
    await app.async_refresh_focus()
    check("the focus", app.current_window.current_tab.current_session.session_id, session.session_id)
    profiles = await iterm2.PartialProfile.async_query(connection)
    check("the first profile", profiles[0].name, "Default")
    await session.async_set_grid_size(iterm2.Size(60, 20))
    async with iterm2.Transaction(connection):
        await session.async_get_line_info()
    await other.async_close(force=True)
    await tab.async_close(force=True)
    async with iterm2.SessionTerminationMonitor(connection) as monitor:
        await session.async_send_text("exit\r")
        # The ends of the two closed just now may still be on their way.
        while await asyncio.wait_for(monitor.async_get(), 10) != session.session_id:
            pass
    await app.async_refresh()
    check("windows at the end", app.windows, [])
    print("all is well")


# The package finds the socket by a fixed path below HOME: this host's own is given here.
with mock.patch.object(iterm2.connection.Connection, "_unix_domain_socket_path", lambda self: sys.argv[1], create=True):
    iterm2.run_until_complete(main)
