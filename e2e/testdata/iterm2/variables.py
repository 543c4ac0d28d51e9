"""Variables: what there is in each scope, what can be set, and what is told of changes."""

import asyncio
import os
import socket

import iterm2
import iterm2.api_pb2 as pb
from iterm2 import VariableMonitor, VariableScopes

from suite import check, fails, get, holds, ready, run, send, soon, until


async def main(connection):
    app = await iterm2.async_get_app(connection)
    window = await iterm2.Window.async_create(connection, profile="bash")
    tab, session = window.current_tab, window.current_tab.current_session
    await ready(connection, session)

    # Of a session.
    value = session.async_get_variable
    for name, want in {
        "id": session.session_id, "name": "bash", "autoName": "bash", "presentationName": "bash", "profileName": "bash",
        "path": os.path.expanduser("~"), "hostname": socket.gethostname(), "columns": 80, "rows": 24, "jobName": "bash", "deepestJob": "bash",
        "processTitle": "bash", "showingAlternateScreen": 0, "homeDirectory": os.path.expanduser("~"), "lastCommand": None, "badge": None,
        "bellCount": 0, "mouseReportingMode": -1, "applicationKeypad": 0, "isBroadcastSource": 0, "selection": None, "selectionLength": 0,
        "tmuxRole": None, "sshIntegrationLevel": 0, "isLocalhost": 1, "parentSession": None, "nosuch": None, "user.nosuch": None,
        "tab.id": tab.tab_id, "tab.window.id": window.window_id, "iterm2.localhostName": socket.gethostname(), "session.columns": 80,
    }.items():
        check(f"session {name}", await value(name), want)
    tty, pid, shell = await value("tty"), await value("pid"), await value("shell")
    holds("a tty that exists", os.path.exists(tty))
    holds("a process that lives", os.path.exists(f"/proc/{pid}") or not os.path.exists("/proc"))
    check("the job is the shell", await value("jobPid"), pid)
    check("the shell", os.path.basename(shell), "bash")
    check("its place and id", await value("termid"), f"w0t0p0.{session.session_id}")
    everything = await value("*")
    check("all of them, as text", (everything["columns"], everything["id"]), ("80", session.session_id))
    holds("and the application's", "iterm2.localhostName" in everything)
    await session.async_send_text("sleep 7\r")
    await soon("the job", lambda: value("jobName"), "sleep")
    check("its command line", await value("commandLine"), "sleep 7")
    holds("it is another process", await value("jobPid") != pid)
    await session.async_send_text("\x03")
    await ready(connection, session)
    await session.async_send_text("printf '\\033]0;a title\\007\\033[?1000h\\033=\\a'; cd /tmp\r")
    await soon("the folder", lambda: value("path"), "/tmp")
    check("the title", await value("terminalWindowName"), "a title")
    check("the mouse", await value("mouseReportingMode"), 0)
    check("the keypad", await value("applicationKeypad"), 1)
    check("the bell", await value("bellCount"), 1)
    check("the last command", (await value("lastCommand")).split("; ")[-1], "cd /tmp")

    # Of a tab, a window, the application.
    for name, want in {"id": tab.tab_id, "title": "bash", "titleOverride": None, "titleOverrideFormat": None, "currentSession.path": "/tmp", "window.id": window.window_id}.items():
        check(f"tab {name}", await tab.async_get_variable(name), want)
    for name, want in {
        "id": window.window_id, "title": "bash", "titleOverride": None, "titleOverrideFormat": None, "number": 0, "style": "normal", "isHotkeyWindow": 0,
        "currentTab.currentSession.jobName": "bash",
    }.items():
        check(f"window {name}", await window.async_get_variable(name), want)
    check("window frame", len(await window.async_get_variable("frame")), 4)
    holds("the application's process", await app.async_get_variable("pid") > 1)
    check("the machine", await app.async_get_variable("localhostName"), socket.gethostname())
    check("the theme", await app.async_get_theme(), ["dark"])
    check("no bundle", await app.async_get_variable("appBundlePath"), None)
    for what, thing in {"session": session, "tab": tab, "window": window, "application": app}.items():
        for given in ["text", 5, [1, None, {"a": True}], None]:
            await thing.async_set_variable("user.mine", given)
            check(f"a {what}'s own", await thing.async_get_variable("user.mine"), given)
        await fails(f"a {what}'s name", thing.async_set_variable("name", "x"), "INVALID_NAME")
        await fails(f"a {what}'s nested one", thing.async_set_variable("user.a.b", 1), "INVALID_NAME")
        holds(f"all of a {what}", isinstance(await thing.async_get_variable("*"), dict))
    await session.async_send_text("printf '\\033]1337;SetUserVar=told=%s\\007' $(printf by-the-shell | base64)\r")
    await soon("set by a program", lambda: value("user.told"), "by-the-shell")
    check("many at once", (await ask(connection, session_id=session.session_id, get=["columns", "nosuch", "rows"])).values, ["80", "null", "24"])
    for what, want, request in [
        ("no scope", "MISSING_SCOPE", {}), ("no session", "SESSION_NOT_FOUND", {"session_id": "x"}), ("no tab", "TAB_NOT_FOUND", {"tab_id": "99"}),
        ("no window", "WINDOW_NOT_FOUND", {"window_id": "x"}), ("of all at once", "MULTI_GET_DISALLOWED", {"session_id": "all"}),
    ]:
        answer = await ask(connection, get=["name"], **request)
        check(what, pb.VariableResponse.Status.Name(answer.status), want)
    await changes(connection, app, window, tab, session)


async def ask(connection, get, **scope):
    request = pb.ClientOriginatedMessage()
    request.variable_request.get.extend(get)
    for name, value in scope.items():
        setattr(request.variable_request, name, value)
    return (await send(connection, request)).variable_response


async def changes(connection, app, window, tab, session):
    async with VariableMonitor(connection, VariableScopes.SESSION, "jobName", session.session_id) as jobs:
        await session.async_send_text("sleep 0.5\r")
        check("another job", await get(jobs), "sleep")
        check("and the shell again", await get(jobs), "bash")
    async with VariableMonitor(connection, VariableScopes.SESSION, "path", "all") as paths:
        await session.async_send_text("cd /\r")
        check("another folder", await get(paths), "/")
    async with VariableMonitor(connection, VariableScopes.SESSION, "user.x", session.session_id) as own:
        await session.async_set_variable("user.x", {"y": 1})
        check("a variable of its own", await get(own), {"y": 1})
    async with VariableMonitor(connection, VariableScopes.TAB, "title", tab.tab_id) as titles:
        await tab.async_set_title("tab title")
        await until("the tab's title", titles, lambda v: v == "tab title")
    async with VariableMonitor(connection, VariableScopes.WINDOW, "titleOverride", "all") as titles:
        await window.async_set_title("window title")
        await until("the window's title", titles, lambda v: v == "window title")
    async with VariableMonitor(connection, VariableScopes.APP, "user.mood", None) as moods:
        await app.async_set_variable("user.mood", "good")
        check("the application's", await get(moods), "good")
        await app.async_set_variable("user.mood", "good")
        await app.async_set_variable("user.mood", "better")
        check("changes alone", await get(moods), "better")
    monitor = VariableMonitor(connection, VariableScopes.TAB, "title", "99")
    await fails("a tab that is not there", monitor.__aenter__(), "INVALID_IDENTIFIER")


run(main)
