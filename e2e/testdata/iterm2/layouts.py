"""Layouts as a whole: what fits together after it was divided, moved, buried, restarted, restored and applied."""

import asyncio

import iterm2

from suite import check, fails, run


async def until(what, ready):
    """Waits for what a notification brings."""
    for _ in range(1500):
        if ready():
            return
        await asyncio.sleep(0.01)
    raise SystemExit(f"waited in vain: {what}")


def ids(sessions):
    return [session.session_id for session in sessions]


def size(session):
    return session.grid_size.width, session.grid_size.height


async def shows(session, line):
    while True:
        contents = await session.async_get_screen_contents()
        # Behind a prompt, when the line was typed before the shell was ready.
        if any(contents.line(i).string.endswith(line) for i in range(contents.number_of_lines)):
            return
        await asyncio.sleep(0.01)


async def panes(app, window):
    """Splits, sizes and the focus."""
    a = window.current_tab.current_session
    b = await a.async_split_pane(vertical=True, profile="sh")
    c = await b.async_split_pane(vertical=False, before=True, profile="sh")
    tab = window.current_tab
    check("the panes", ids(tab.sessions), ids([a, c, b]))
    check("the active pane", tab.active_session_id, c.session_id)
    check("sizes", [size(a), size(b), size(c)], [(40, 24), (39, 11), (39, 12)])
    for session in (a, b, c):  # the package keeps the sizes of their first moment here
        session.preferred_size = iterm2.Size(*size(session))
    a.preferred_size = iterm2.Size(50, 24)
    await tab.async_update_layout()
    await app.async_refresh()
    check("a wider pane", [size(a), size(b), size(c)], [(50, 24), (39, 11), (39, 12)])
    await window.async_set_frame(iterm2.Frame(iterm2.Point(5, 6), iterm2.Size(1000, 700)))
    frame = await window.async_get_frame()
    check("the frame", (frame.origin.x, frame.origin.y, frame.size.width, frame.size.height), (5, 6, 1000, 700))
    await app.async_refresh()
    check("sizes in the frame", [size(a)[0] + 1 + size(b)[0], size(a)[1]], [125, 43])
    await window.async_set_fullscreen(True)
    check("fullscreen", await window.async_get_fullscreen(), True)
    await window.async_set_fullscreen(False)
    await a.async_activate()
    await app.async_refresh_focus()
    check("the focus", app.current_window.current_tab.active_session_id, a.session_id)
    check("right of it", await tab.async_select_pane_in_direction(iterm2.NavigationDirection.RIGHT) in ids([b, c]), True)
    return tab, a, b, c


async def moves(app, window, tab, a, b, c):
    """Tabs and sessions that go elsewhere, and come back."""
    custom = iterm2.LocalWriteOnlyProfile()
    custom.set_name("custom")
    custom.set_use_custom_command("Yes")
    custom.set_command("/bin/cat")
    other = await window.async_create_tab(profile_customizations=custom, index=0, select=False)
    check("a tab in front", [t.tab_id for t in window.tabs], [other.tab_id, tab.tab_id])
    check("its name", other.current_session.name, "custom")
    check("the selected tab", window.selected_tab_id, tab.tab_id)
    await window.async_set_tabs([tab, other])
    await app.async_refresh()
    check("the order", [t.tab_id for t in window.tabs], [tab.tab_id, other.tab_id])
    await tab.async_set_title("a tab")
    await window.async_set_title("a window")
    check("titles", [await tab.async_get_variable("titleOverride"), await window.async_get_variable("title")], ["a tab", "a window"])

    await b.async_set_buried(True)
    await until("it is buried", lambda: ids(app.buried_sessions) == [b.session_id])
    await b.async_set_buried(False)
    await until("it is back", lambda: ids(app.get_tab_by_id(tab.tab_id).sessions) == ids([a, c, b]))

    fresh = await b.async_move_to_new_tab(tab_index=0)
    await app.async_refresh()
    check("a tab of its own", app.get_window_and_tab_for_session(app.get_session_by_id(b.session_id))[1].tab_id, fresh)
    fresh = await c.async_move_to_new_window()
    await app.async_refresh()
    check("a window of its own", app.get_window_and_tab_for_session(app.get_session_by_id(c.session_id))[0].window_id, fresh)
    await app.async_move_session(app.get_session_by_id(c.session_id), app.get_session_by_id(a.session_id), True, True)
    await app.async_refresh()
    check("beside another", ids(app.get_tab_by_id(tab.tab_id).sessions), ids([c, a]))
    second = await app.get_tab_by_id(tab.tab_id).async_move_to_window()
    check("the tab's window", [len(app.windows), ids(second.tabs[0].sessions)], [2, ids([c, a])])
    await fails("moving the only tab", second.tabs[0].async_move_to_window(), "alone in its window")
    return second


async def broadcast(app, connection, a, b, c):
    domain = iterm2.BroadcastDomain()
    domain.add_session(app.get_session_by_id(a.session_id))
    domain.add_session(app.get_session_by_id(c.session_id))
    await iterm2.async_set_broadcast_domains(connection, [domain])
    await until("the domains are told", lambda: [ids(d.sessions) for d in app.broadcast_domains] == [ids([a, c])])
    await app.get_session_by_id(a.session_id).async_send_text("echo co''pied\r")
    for session in (a, c):
        await shows(app.get_session_by_id(session.session_id), "copied")
    domain.add_session(app.get_session_by_id(b.session_id))
    await fails("another window", iterm2.async_set_broadcast_domains(connection, [domain]), "SESSIONS_NOT_IN_SAME_WINDOW")
    await iterm2.async_set_broadcast_domains(connection, [])
    await until("no domains", lambda: app.broadcast_domains == [])


async def lives(app, connection, window, a):
    """Restarts, arrangements, transactions and the menu."""
    pid = await a.async_get_variable("pid")
    async with iterm2.NewSessionMonitor(connection) as monitor:
        await a.async_restart()
        check("the session that is new", await asyncio.wait_for(monitor.async_get(), 10), a.session_id)
    check("the same program", await a.async_get_variable("pid") == pid, False)
    await fails("one that lives", a.async_restart(only_if_exited=True), "SESSION_NOT_RESTARTABLE")
    async with iterm2.Transaction(connection):
        info = await a.async_get_line_info()
        check("rows", len(await a.async_get_contents(info.overflow, 3)), 3)

    await iterm2.Arrangement.async_save(connection, "everything")
    await window.async_save_window_as_arrangement("one window")
    check("arrangements", list(await iterm2.Arrangement.async_list(connection)), ["everything", "one window"])
    await iterm2.Arrangement.async_restore(connection, "everything")
    await app.async_refresh()
    check("windows", len(app.windows), 4)
    tabs = len(window.tabs)
    await window.async_restore_window_arrangement("one window")
    await app.async_refresh()
    check("tabs", len(app.get_window_by_id(window.window_id).tabs), 2 * tabs)
    await fails("no such arrangement", iterm2.Arrangement.async_restore(connection, "none"), "ARRANGEMENT_NOT_FOUND")

    state = await iterm2.MainMenu.async_get_menu_item_state(connection, "Toggle Full Screen")
    check("a menu item", (state.checked, state.enabled), (False, True))
    await iterm2.MainMenu.async_select_menu_item(connection, "New Window")
    await app.async_refresh()
    check("windows after the menu", len(app.windows), 5)
    await fails("the end of the host", iterm2.MainMenu.async_select_menu_item(connection, "Quit iTerm2"), "BAD_IDENTIFIER")

    tab = app.get_session_by_id(a.session_id) and app.get_window_and_tab_for_session(app.get_session_by_id(a.session_id))[1]
    guid = (await a.async_get_profile()).guid
    await app.async_apply_layout({
        "tabs": [{"tab_id": tab.tab_id, "root": {"vertical": False, "children": [
            {"new_session": {"profile": guid, "command": "echo applied; exec cat"}}, {"session_id": a.session_id}]}}],
        "close_sessions": [session.session_id for session in tab.sessions if session.session_id != a.session_id],
    })
    await app.async_refresh()
    top, bottom = app.get_tab_by_id(tab.tab_id).sessions
    check("the applied layout", bottom.session_id, a.session_id)
    await shows(top, "applied")


async def main(connection):
    app = await iterm2.async_get_app(connection)
    window = await iterm2.Window.async_create(connection, profile="sh")
    tab, a, b, c = await panes(app, window)
    second = await moves(app, window, tab, a, b, c)
    await broadcast(app, connection, a, b, c)
    await lives(app, connection, second, app.get_session_by_id(a.session_id))
    for each in list(app.windows):
        await each.async_close(force=True)
    await app.async_refresh()
    check("windows at the end", app.windows, [])


run(main)
