"""Windows, tabs and panes: making, moving, naming, sizing, closing them, and what is told of it."""

import asyncio

import iterm2
import iterm2.api_pb2 as pb
from iterm2 import BroadcastDomain, FocusMonitor, LayoutChangeMonitor, MainMenu, NavigationDirection, NewSessionMonitor, SessionTerminationMonitor, Size

from suite import check, fails, get, holds, ready, run, screen, shows, soon, until


async def main(connection):
    app = await iterm2.async_get_app(connection)
    window = await making(connection, app)
    await splitting(connection, app, window)
    await focus(connection, app, window)
    await moving(connection, app, window)
    await looks(connection, app, window)
    await input_of_many(connection, app, window)
    await kept(connection, app, window)
    await ending(connection, app)


async def making(connection, app):
    async with NewSessionMonitor(connection) as born, LayoutChangeMonitor(connection) as layouts:
        window = await iterm2.Window.async_create(connection, profile="sh")
        check("a new session", await get(born), window.current_tab.current_session.session_id)
        await get(layouts)
    check("its window", [w.window_id for w in app.windows], [window.window_id])
    check("which is current", app.current_terminal_window.window_id, window.window_id)
    tab = await window.async_create_tab(command="/bin/sh -c 'echo in a tab; exec sleep 74'")
    await shows(tab.current_session, "in a tab")
    check("tabs", [t.tab_id for t in window.tabs][-1], tab.tab_id)
    check("the new one is selected", window.current_tab.tab_id, tab.tab_id)
    first = await window.async_create_tab(profile="sh", index=0)
    check("at a place", window.tabs[0].tab_id, first.tab_id)
    quiet = await iterm2.rpc.async_create_tab(connection, "sh", window.window_id, select=False)
    await app.async_refresh()
    check("in the background", window.current_tab.tab_id, first.tab_id)
    made = quiet.create_tab_response
    check("its place is told", (made.window_id, app.get_session_by_id(made.session_id).tab.tab_id), (window.window_id, str(made.tab_id)))
    await app.get_tab_by_id(str(made.tab_id)).async_close(force=True)
    await fails("no such profile", iterm2.Window.async_create(connection, profile="nosuch"), "INVALID_PROFILE_NAME")
    answer = await iterm2.rpc.async_create_tab(connection, None, "pty-nosuch")
    check("no such window", pb.CreateTabResponse.Status.Name(answer.create_tab_response.status), "INVALID_WINDOW_ID")
    answer = await iterm2.rpc.async_create_tab(connection, "sh", window.window_id, index=40)
    check("no such place", pb.CreateTabResponse.Status.Name(answer.create_tab_response.status), "INVALID_TAB_INDEX")
    await app.async_refresh()
    check("made all the same", window.tabs[-1].current_session.session_id, answer.create_tab_response.session_id)
    await window.tabs[-1].async_close(force=True)
    return window


async def splitting(connection, app, window):
    tab = window.tabs[0]
    left = tab.current_session
    right = await left.async_split_pane(vertical=True, profile="sh")
    below = await right.async_split_pane(vertical=False, profile="sh")
    above = await left.async_split_pane(vertical=False, before=True, profile="sh")
    check("panes", [s.session_id for s in tab.sessions], [s.session_id for s in (above, left, right, below)])
    check("side by side", tab.root.vertical, True)
    check("rows of panes", [child.vertical for child in tab.root.children], [False, False])
    check("together they are as wide", left.grid_size.width + right.grid_size.width + 1, 80)
    check("and as high", right.grid_size.height + below.grid_size.height + 1, 24)
    check("the last is active", tab.current_session.session_id, above.session_id)
    check("each knows its tab", {s.tab.tab_id for s in tab.sessions}, {tab.tab_id})
    check("and its window", left.window.window_id, window.window_id)
    answer = await iterm2.rpc.async_split_pane(connection, left.session_id, True, False, "nosuch")
    check("no such profile", pb.SplitPaneResponse.Status.Name(answer.split_pane_response.status), "INVALID_PROFILE_NAME")

    wide = Size(50, left.grid_size.height)
    left.preferred_size, above.preferred_size = wide, Size(50, above.grid_size.height)
    right.preferred_size, below.preferred_size = Size(29, right.grid_size.height), Size(29, below.grid_size.height)
    await tab.async_update_layout()
    await app.async_refresh()
    check("a divider that moved", (left.grid_size.width, right.grid_size.width), (50, 29))
    check("the program knows", await left.async_get_variable("columns"), 50)
    await window.tabs[1].current_session.async_set_grid_size(Size(100, 30))
    await app.async_refresh()
    check("another size", (window.tabs[1].current_session.grid_size.width, window.tabs[1].current_session.grid_size.height), (100, 30))
    check("a pane to the right", await tab.async_select_pane_in_direction(NavigationDirection.RIGHT), right.session_id)
    check("one below", await tab.async_select_pane_in_direction(NavigationDirection.BELOW), below.session_id)
    check("none below that", await tab.async_select_pane_in_direction(NavigationDirection.BELOW), None)
    await below.async_close(force=True)
    await app.async_refresh()
    check("its neighbour has its place", right.grid_size.height, 24)


async def focus(connection, app, window):
    one, other = window.tabs[0], window.tabs[1]
    async with FocusMonitor(connection) as monitor:
        monitor.async_get = monitor.async_get_next_update
        await other.async_activate()
        await until("another tab", monitor, lambda u: u.selected_tab_changed and u.selected_tab_changed.tab_id == other.tab_id)
        session = next(s for s in one.sessions if s.session_id != one.current_session.session_id)
        await session.async_activate()
        await until("another session", monitor, lambda u: u.active_session_changed and u.active_session_changed.session_id == session.session_id)
        second = await iterm2.Window.async_create(connection, profile="sh")
        await until("another window", monitor, lambda u: u.window_changed and u.window_changed.window_id == second.window_id)
        await window.async_activate()
        await until("the first again", monitor, lambda u: u.window_changed and u.window_changed.window_id == window.window_id)
    await app.async_refresh_focus()
    check("as it is read", app.current_terminal_window.current_tab.current_session.session_id, session.session_id)
    await app.async_activate()
    holds("the application is in front", app.app_active)
    answer = await iterm2.rpc.async_activate(connection, True, False, False, window_id=window.window_id)
    check("a session of a window", pb.ActivateResponse.Status.Name(answer.activate_response.status), "INVALID_OPTION")
    answer = await iterm2.rpc.async_activate(connection, True, False, False, session_id="nobody")
    check("no such session", pb.ActivateResponse.Status.Name(answer.activate_response.status), "BAD_IDENTIFIER")


async def moving(connection, app, window):
    second = next(w for w in app.windows if w.window_id != window.window_id)
    one, other = window.tabs[0], window.tabs[1]
    await window.async_set_tabs([other, one])
    await app.async_refresh()
    check("in another order", [t.tab_id for t in window.tabs][:2], [other.tab_id, one.tab_id])
    await second.async_set_tabs([*second.tabs, other])
    await app.async_refresh()
    check("in another window", [t.tab_id for t in second.tabs][-1], other.tab_id)
    session, destination = one.sessions[0], second.tabs[0].sessions[0]
    await app.async_move_session(session, destination, True, True)
    await app.async_refresh()
    check("a pane beside another", [s.session_id for s in second.tabs[0].sessions], [session.session_id, destination.session_id])
    await session.async_move_to_new_tab()
    await app.async_refresh()
    session = app.get_session_by_id(session.session_id)
    check("in a tab of its own", [s.session_id for s in session.tab.sessions], [session.session_id])
    await session.async_move_to_new_window()
    await app.async_refresh()
    session = app.get_session_by_id(session.session_id)
    check("in a window of its own", len(session.window.tabs), 1)
    holds("which is a third", session.window.window_id not in (window.window_id, second.window_id))
    await other.async_move_to_window()
    await app.async_refresh()
    check("a tab in a window of its own", [t.tab_id for t in app.get_window_for_tab(other.tab_id).tabs], [other.tab_id])


async def looks(connection, app, window):
    tab = window.tabs[0]
    session = tab.current_session
    await session.async_set_name("named")
    check("a session's name", await session.async_get_variable("name"), "named")
    await app.async_refresh()
    check("as it is listed", session.name, "named")
    await tab.async_set_title("a tab")
    check("a tab's title", await tab.async_get_variable("title"), "a tab")
    await window.async_set_title("a window")
    check("a window's title", await window.async_get_variable("title"), "a window")
    frame = await window.async_get_frame()
    frame.origin.x, frame.size.width = 30, 648
    await window.async_set_frame(frame)
    got = await window.async_get_frame()
    check("a window's frame", (got.origin.x, got.size.width), (30, 648))
    check("not the whole screen", await window.async_get_fullscreen(), False)


async def input_of_many(connection, app, window):
    one = window.tabs[0].sessions[0]
    two = await one.async_split_pane(profile="sh")
    domain = BroadcastDomain()
    domain.add_session(one)
    domain.add_session(two)
    told = asyncio.Queue()

    async def changed(_connection, notification):
        await told.put([list(d.session_ids) for d in notification.broadcast_domains_changed.broadcast_domains])

    token = await iterm2.notifications.async_subscribe_to_broadcast_domains_change_notification(connection, changed)
    await iterm2.async_set_broadcast_domains(connection, [domain])
    check("broadcasting is told", await asyncio.wait_for(told.get(), 20), [[one.session_id, two.session_id]])
    await app.async_refresh_broadcast_domains()
    check("and read", [[s.session_id for s in d.sessions] for d in app.broadcast_domains], [[one.session_id, two.session_id]])
    check("a source", await one.async_get_variable("isBroadcastSource"), 1)
    await one.async_send_text("echo to-both\r")
    await shows(two, "to-both")
    await one.async_send_text("echo to-one\r", suppress_broadcast=True)
    await shows(one, "to-one")
    check("kept from the other", any("to-one" in line for line in await screen(two)), False)
    await fails("a session twice", iterm2.async_set_broadcast_domains(connection, [domain, domain]), "BROADCAST_DOMAINS_NOT_DISJOINT")
    await iterm2.async_set_broadcast_domains(connection, [])
    check("no more", await asyncio.wait_for(told.get(), 20), [])
    await two.async_close(force=True)


async def kept(connection, app, window):
    session = window.tabs[0].sessions[0]
    other = await window.async_create_tab(profile="sh")
    await session.async_set_buried(True)
    await app.async_refresh()
    check("buried", [s.session_id for s in app.buried_sessions], [session.session_id])
    check("it lives", (await session.async_get_line_info()).mutable_area_height > 0, True)
    await session.async_set_buried(False)
    await app.async_refresh()
    check("no more", app.buried_sessions, [])

    session = app.get_session_by_id(session.session_id)
    pid = await session.async_get_variable("pid")
    await fails("while it runs", session.async_restart(only_if_exited=True), "SESSION_NOT_RESTARTABLE")
    await session.async_restart()
    holds("another process", await session.async_get_variable("pid") != pid)
    await app.async_refresh()
    check("of the same session", app.get_session_by_id(session.session_id) is not None, True)

    await app.current_terminal_window.async_save_window_as_arrangement("of a window")
    await iterm2.Arrangement.async_save(connection, "whole")
    check("arrangements", sorted(await iterm2.Arrangement.async_list(connection)), ["of a window", "whole"])
    before = len(app.windows)
    await iterm2.Arrangement.async_restore(connection, "of a window")
    await app.async_refresh()
    check("a window more", len(app.windows), before + 1)
    await fails("no such arrangement", iterm2.Arrangement.async_restore(connection, "nosuch"), "ARRANGEMENT_NOT_FOUND")

    state = await MainMenu.async_get_menu_item_state(connection, "New Tab")
    check("a menu item", state.enabled, True)
    tabs = sum(len(w.tabs) for w in app.windows)
    await MainMenu.async_select_menu_item(connection, "New Tab")
    await app.async_refresh()
    check("chosen", sum(len(w.tabs) for w in app.windows), tabs + 1)
    await fails("no such item", MainMenu.async_select_menu_item(connection, "nosuch"), "BAD_IDENTIFIER")

    async with iterm2.Transaction(connection):
        info = await other.current_session.async_get_line_info()
        lines = await other.current_session.async_get_contents(info.scrollback_buffer_height, info.mutable_area_height)
    check("a whole picture", len(lines), info.mutable_area_height)
    await fails("an end without a beginning", ended(connection), "NO_TRANSACTION")


async def ended(connection):
    answer = await iterm2.rpc.async_end_transaction(connection)
    raise RuntimeError(pb.TransactionResponse.Status.Name(answer.transaction_response.status))


async def ending(connection, app):
    session = (await iterm2.Window.async_create(connection, profile="sh")).current_tab.current_session
    async with SessionTerminationMonitor(connection) as ends:
        await session.async_send_text("exit\r")
        await until("the end of a program", ends, lambda ended: ended == session.session_id)
        other = app.windows[-1].tabs[-1].sessions[-1]
        await other.async_close(force=True)
        await until("a closed session", ends, lambda ended: ended == other.session_id)
        await app.async_refresh()
        check("is gone", app.get_session_by_id(other.session_id), None)
        await fails("closed again", other.async_close(force=True), "NOT_FOUND")
        for window in list(app.windows):
            await window.async_close(force=True)
    await app.async_refresh()
    check("nothing is left", (app.windows, app.buried_sessions), ([], []))
    seen = []

    async def each(session_id):
        seen.append(session_id)

    watching = asyncio.ensure_future(iterm2.EachSessionOnceMonitor.async_foreach_session_create_task(app, each))
    made = [(await iterm2.Window.async_create(connection, profile="sh")).current_tab.current_session.session_id for _ in range(3)]

    async def met():
        return sorted(set(seen))  # the package may meet one twice: among those that are there, and as a new one

    await soon("each session", met, sorted(made))
    watching.cancel()


run(main)
