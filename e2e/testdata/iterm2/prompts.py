"""Following a shell: prompts, commands, their output and status."""

import iterm2

from suite import check, fails, get, holds, ready, run, soon, until

Mode = iterm2.PromptMonitor.Mode


async def main(connection):
    await iterm2.async_get_app(connection)
    window = await iterm2.Window.async_create(connection, profile="bash")
    session = window.current_tab.current_session
    await ready(connection, session)
    last = lambda: iterm2.async_get_last_prompt(connection, session.session_id)  # noqa: E731
    check("the state at a prompt", (await last()).state, iterm2.PromptState.EDITING)
    check("nothing is typed", (await last()).command_range.start, (await last()).command_range.end)
    await session.async_send_text("echo typed")

    async def typed():
        return (await last()).command

    await soon("what is typed", typed, "echo typed")
    holds("has an extent", (await last()).command_range.end.x > (await last()).command_range.start.x)
    await session.async_send_text("\x15")
    await soon("erased again", typed, "")

    async with PromptMonitor(connection, session.session_id, modes=[Mode.PROMPT, Mode.COMMAND_START, Mode.COMMAND_END]) as monitor:
        mode, value, prompt = await one(session, monitor, "printf 'one\\ntwo\\n'; sh -c 'exit 5'\r", Mode.COMMAND_START)
        check("the command", value, "printf 'one\\ntwo\\n'; sh -c 'exit 5'")
        mode, status, ended = await until("the end", monitor, lambda e: e[0] == Mode.COMMAND_END)
        check("its status", status, 5)
        check("of the same prompt", ended, prompt)
        mode, shown, fresh = await until("the next prompt", monitor, lambda e: e[0] == Mode.PROMPT)
        holds("which is another", fresh != ended)
        check("is told with its state", shown.state, iterm2.PromptState.EDITING)
        check("and its id", shown.unique_id, fresh)

        done = await iterm2.async_get_prompt_by_id(connection, session.session_id, ended)
        check("the finished one", done.state, iterm2.PromptState.FINISHED)
        check("its exit status", exit_status(done), 5)
        check("its command", done.command, "printf 'one\\ntwo\\n'; sh -c 'exit 5'")
        check("its folder", done.working_directory, await session.async_get_variable("path"))
        area = done.output_range
        lines = await session.async_get_contents(area.start.y, area.end.y - area.start.y)
        check("its output", [line.string for line in lines], ["one", "two"])
        holds("behind its command", area.start.y > done.command_range.start.y)

        _, _, running = await one(session, monitor, "sleep 60\r", Mode.COMMAND_START)
        now = await iterm2.async_get_prompt_by_id(connection, session.session_id, running)
        check("while it runs", (now.state, now.command, exit_status(now)), (iterm2.PromptState.RUNNING, "sleep 60", None))
        await soon("what runs", lambda: session.async_get_variable("jobName"), "sleep")
        await session.async_send_text("\x03")
        _, status, _ = await until("its interruption", monitor, lambda e: e[0] == Mode.COMMAND_END and e[2] == running)
        check("the status of a signal", status, 130)
        await until("the prompt after it", monitor, lambda e: e[0] == Mode.PROMPT)

        async def goes_on():
            return "continuation" in str(await session.async_get_variable("termpilot.prompt"))

        await session.async_send_text("echo 'two\r")
        await soon("the line goes on", goes_on, True)  # what is typed before is echoed by the terminal, too
        await session.async_send_text("lines'\r")
        _, value, many = await until("a command of two lines", monitor, lambda e: e[0] == Mode.COMMAND_START)
        check("as it was typed", value, "echo 'two\nlines'")
        await until("its end", monitor, lambda e: e[0] == Mode.COMMAND_END and e[2] == many)
        area = (await iterm2.async_get_prompt_by_id(connection, session.session_id, many)).excluded_subranges
        check("without the shell's own", [(r.start.x, r.end.x) for r in area], [(0, 2)])
        await until("the last prompt", monitor, lambda e: e[0] == Mode.PROMPT)

    async def listed(**bounds):
        return list(await iterm2.async_list_prompts(connection, session.session_id, **bounds))

    ids = await listed()
    check("each is listed once", len(ids), len(set(ids)))
    check("from the oldest to the newest", ids[-1], (await last()).unique_id)
    holds("with those of before", ended in ids and running in ids)
    check("from one on", await listed(first=running), ids[ids.index(running):])
    check("up to one", await listed(last=ended), ids[: ids.index(ended) + 1])
    check("from an unknown one", await listed(first="nothing"), [])
    check("an unknown one", await iterm2.async_get_prompt_by_id(connection, session.session_id, "nothing"), None)
    check("the last command", await session.async_get_variable("lastCommand"), "echo 'two\nlines'")

    # A mode that nobody asked for is not told, and the first modes stay.
    async with PromptMonitor(connection, session.session_id, modes=[Mode.COMMAND_END]) as ends:
        await session.async_send_text("true\r")
        check("the end alone", (await get(ends))[0], Mode.COMMAND_END)
    plain = await window.async_create_tab(profile="sh")
    check("a shell without marks", await iterm2.async_get_last_prompt(connection, plain.current_session.session_id), None)
    check("has no prompts", list(await iterm2.async_list_prompts(connection, plain.current_session.session_id)), [])
    await fails("the prompt of nobody", iterm2.async_get_last_prompt(connection, "nobody"), "SESSION_NOT_FOUND")


def exit_status(prompt):
    """The package has it only in the message."""
    message = prompt._Prompt__proto
    return message.exit_status if message.HasField("exit_status") else None


class PromptMonitor(iterm2.PromptMonitor):
    """Tells the prompt's id with each event."""

    async def async_get(self):
        return await super().async_get(include_id=True)


async def one(session, monitor, text, mode):
    """Types text, and waits for an event of a mode."""
    await session.async_send_text(text, suppress_broadcast=True)
    return await until(f"{mode} of {text!r}", monitor, lambda e: e[0] == mode)


run(main)
