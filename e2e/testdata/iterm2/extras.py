"""Profiles, preferences, functions that a program offers, what programs and people say to it, and what a host without windows refuses."""

import asyncio
import json
import os
import pty

import iterm2
import iterm2.api_pb2 as pb

from suite import check, fails, get, holds, ready, run, send, shows, soon, until


async def main(connection):
    app = await iterm2.async_get_app(connection)
    window = await iterm2.Window.async_create(connection, profile="bash")
    session = window.current_tab.current_session
    await ready(connection, session)
    await profiles(connection, window, session)
    await preferences(connection)
    await functions(connection, app, window, session)
    await sequences(connection, session)
    await keys(connection, session)
    await absent(connection, session)


async def profiles(connection, window, session):
    partial = await iterm2.PartialProfile.async_query(connection)
    check("the first profile", partial[0].name, "Default")
    holds("bash has one", any(p.name == "bash" for p in partial))
    check("each has an id of its own", len({p.guid for p in partial}), len(partial))
    default = await iterm2.Profile.async_get_default(connection)
    check("the default one", (default.name, default.guid), ("Default", partial[0].guid))
    bash = next(p for p in partial if p.name == "bash")
    full = await bash.async_get_full_profile()
    check("whole", (full.guid, full.name, full.use_custom_command), (bash.guid, "bash", "Custom Shell"))
    check("its scrollback", (full.unlimited_scrollback, full.scrollback_lines), (False, 100_000))
    check("its colours", (full.background_color.red, full.foreground_color.red, full.ansi_1_color.red), (0, 238, 205))
    check("one by its id", [p.name for p in await iterm2.Profile.async_get(connection, [bash.guid])], ["bash"])

    own = await session.async_get_profile()
    check("a session's", own.guid, bash.guid)
    changes = iterm2.LocalWriteOnlyProfile()
    changes.set_badge_text("a badge")
    changes.set_name("renamed")
    await session.async_set_profile_properties(changes)
    check("a property of the session's", (await session.async_get_profile()).badge_text, "a badge")
    check("its badge", await session.async_get_variable("badge"), "a badge")
    check("its name", await session.async_get_variable("name"), "renamed")
    check("not the profile's", (await bash.async_get_full_profile()).badge_text, "")
    await own.async_set_badge_text("another")
    check("by its own profile", (await session.async_get_profile()).badge_text, "another")
    await session.async_set_profile(full)
    check("another profile's", (await session.async_get_profile()).name, "bash")

    told = asyncio.Queue()

    async def changed(_connection, notification):
        await told.put(notification.profile_changed_notification.guid)

    token = await iterm2.notifications.async_subscribe_to_profile_change_notification(connection, changed, bash.guid)
    await full.async_set_scrollback_lines(77)
    check("a changed profile", await asyncio.wait_for(told.get(), 20), bash.guid)
    check("as it is listed", (await bash.async_get_full_profile()).scrollback_lines, 77)
    await iterm2.notifications.async_unsubscribe(connection, token)
    await fails("a profile that is not there", refused(connection), "BAD_GUID")
    tab = await window.async_create_tab(profile="bash", profile_customizations=changes)
    check("made with properties", await tab.current_session.async_get_variable("name"), "renamed")
    await tab.async_close(force=True)


async def refused(connection):
    answer = await iterm2.rpc.async_set_profile_property(connection, None, "Rows", 3, ["nobody"])
    raise RuntimeError(pb.SetProfilePropertyResponse.Status.Name(answer.set_profile_property_response.status))


async def preferences(connection):
    key = iterm2.PreferenceKey.THEME
    check("a preference that nobody set", await iterm2.async_get_preference(connection, key), None)
    await iterm2.preferences.async_set_preference(connection, key, 3)
    check("once it is set", await iterm2.async_get_preference(connection, key), 3)
    await iterm2.preferences.async_set_preference(connection, key, None)
    check("and taken away", await iterm2.async_get_preference(connection, key), None)


async def functions(connection, app, window, session):
    @iterm2.RPC
    async def suite_add(a, b=2, where=iterm2.Reference("id?")):
        if a == "raise":
            raise ValueError("no sums today")
        if a == "wait":
            await asyncio.sleep(30)
        return {"sum": a + b, "where": where}

    await suite_add.async_register(connection, timeout=1)
    call = lambda thing, text, **how: thing.async_invoke_function(text, **how)  # noqa: E731
    check("of a session", await call(session, "suite_add(a: 1, b: 3)"), {"sum": 4, "where": session.session_id})
    check("of a tab", await call(window.current_tab, "suite_add(a: 1, b: 3)"), {"sum": 4, "where": window.current_tab.tab_id})
    check("of a window", await call(window, "suite_add(a: 1, b: 3, where: null)"), {"sum": 4, "where": None})
    check("of the application", await iterm2.async_invoke_function(connection, "suite_add(a: 5, b: 5)"), {"sum": 10, "where": None})
    await session.async_set_variable("user.n", 40)
    check("with a variable", (await call(session, "suite_add(a: user.n, b: 2)"))["sum"], 42)
    await fails("an exception", call(session, 'suite_add(a: "raise", b: 1)'), "no sums today")
    await fails("too slow", call(session, 'suite_add(a: "wait", b: 1)'), "Timeout")
    await fails("too slow for the caller", call(session, 'suite_add(a: "wait", b: 1)', timeout=0.1), "Timeout")
    await fails("no such function", call(session, "suite_nosuch()"), "FAILED")
    await fails("no such variable", call(session, "suite_add(a: user.nosuch, b: 1)"), "user.nosuch is undefined")
    await fails("not a call", call(session, "suite_add"), "REQUEST_MALFORMED")
    await fails("twice the same", suite_add.async_register(connection), "DUPLICATE_SERVER_ORIGINATED_RPC")

    @iterm2.TitleProviderRPC
    async def suite_title(name=iterm2.Reference("autoName?")):
        return name

    await suite_title.async_register(connection, "A title", "suite.title")
    check("a title provider can be called", await call(session, "suite_title()"), "bash")


async def sequences(connection, session):
    async with iterm2.CustomControlSequenceMonitor(connection, "secret", r"^create (\w+)$", session.session_id) as monitor:
        await session.async_inject(b"\x1b]1337;Custom=id=other:create no\x07\x1b]1337;Custom=id=secret:create yes\x07")
        check("a program's word", (await get(monitor)).group(1), "yes")


async def keys(connection, session):
    """A person types in an attached terminal."""
    person, terminal = pty.openpty()
    attached = await asyncio.create_subprocess_exec("termpilot", "attach", session.session_id, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    asyncio.get_running_loop().add_reader(person, drain, person)
    await soon("somebody is attached", lambda: size(session), (80, 24))
    no = iterm2.KeystrokePattern()
    no.required_modifiers = [iterm2.Modifier.CONTROL]
    no.keycodes = [iterm2.Keycode.ANSI_G]
    async with iterm2.KeystrokeMonitor(connection, session.session_id) as monitor:
        async with iterm2.KeystrokeFilter(connection, [no], session.session_id):
            os.write(person, b"e\x07\x1b[A")
            key = await until("a key", monitor, lambda k: k.characters == "e")
            check("its code", (key.keycode, key.modifiers, key.action), (iterm2.Keycode.ANSI_E, [], iterm2.Keystroke.Action.KEY_DOWN))
            key = await get(monitor)
            check("with control", (key.keycode, key.modifiers, key.characters_ignoring_modifiers), (iterm2.Keycode.ANSI_G, [iterm2.Modifier.CONTROL], "g"))
            check("an arrow", (await get(monitor)).keycode, iterm2.Keycode.UP_ARROW)
    os.write(person, b"\x15\x1c")  # clears the line, then detaches
    await asyncio.wait_for(attached.wait(), 20)
    asyncio.get_running_loop().remove_reader(person)
    os.close(person)


def drain(terminal):
    try:
        os.read(terminal, 65536)
    except OSError:  # nobody holds the other side any more
        asyncio.get_running_loop().remove_reader(terminal)


async def size(session):
    return (await session.async_get_variable("columns"), await session.async_get_variable("rows"))


async def absent(connection, session):
    check("colour presets", await iterm2.ColorPreset.async_get_list(connection), [])
    await fails("a colour preset", iterm2.ColorPreset.async_get(connection, "Solarized"), "PRESET_NOT_FOUND")
    check("tmux", await iterm2.async_get_tmux_connections(connection), [])
    await fails("a tmux command", session.async_run_tmux_command("ls"), "FAILED")
    await fails("a tool", iterm2.tool.async_register_web_view_tool(connection, "a tool", "suite.tool", False, "http://localhost/"), "PERMISSION_DENIED")
    await fails("a picture", session.async_screenshot(), "INTERNAL_ERROR")
    popover = await iterm2.rpc.async_open_status_bar_component_popover(connection, "suite.component", session.session_id, "<p>", iterm2.Size(1, 1))
    check("a popover", pb.StatusBarComponentResponse.Status.Name(popover.status_bar_component_response.status), "INVALID_IDENTIFIER")
    await fails("an alert", iterm2.Alert("a", "b").async_run(connection), "FAILED")
    await fails("a coprocess", session.async_run_coprocess("cat"), "FAILED")


run(main)
