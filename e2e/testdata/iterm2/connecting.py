"""How a program gets in, what it is told of the server, and what the server does with what makes no sense."""

import asyncio
import os

import iterm2
import iterm2.api_pb2 as pb

from suite import check, fails, holds, run, send

cookie, key = os.environ["ITERM2_COOKIE"], os.environ["ITERM2_KEY"]


async def main(connection):
    check("the protocol", connection.iterm2_protocol_version, (1, 17))
    app = await iterm2.async_get_app(connection)
    check("windows of an empty host", app.windows, [])
    check("buried ones", app.buried_sessions, [])
    check("the current window", app.current_terminal_window, None)
    holds("the application is active", app.app_active)
    check("broadcast domains", app.broadcast_domains, [])
    check("the application again", await iterm2.async_get_app(connection), app)

    # The same cookie lets one in as often as it is shown; a wrong one never.
    for _ in range(2):
        os.environ["ITERM2_COOKIE"], os.environ["ITERM2_KEY"] = cookie, key
        other = await iterm2.Connection.async_create()
        check("another connection's protocol", other.iterm2_protocol_version, (1, 17))
        listed = await iterm2.rpc.async_list_sessions(other)
        check("it lists", len(listed.list_sessions_response.windows), 0)
        other._Connection__dispatch_forever_future.cancel()
        await other.websocket.close()
    os.environ["ITERM2_COOKIE"] = cookie[::-1]
    await fails("a wrong cookie", iterm2.Connection.async_create(), "osascript")  # the package asks AppleScript for another

    # Answers carry the ids of their requests, in any order.
    answers = await asyncio.gather(*(send(connection, focus()) for _ in range(50)))
    check("fifty answers", [a.WhichOneof("submessage") for a in answers], ["focus_response"] * 50)
    check("an unknown request", (await send(connection, pb.ClientOriginatedMessage())).WhichOneof("submessage"), "error")
    await fails("its error", iterm2.rpc._async_call(connection, pb.ClientOriginatedMessage(id=77)), "RPCException")

    # What is not there has a status of its own, and nothing hangs.
    for name, field, want in [
        ("get_buffer", "session", 1), ("get_prompt", "session", 1), ("list_prompts", "session", 1),
        ("get_profile_property", "session", 1), ("send_text", "session", 1), ("restart_session", "session_id", 1),
        ("split_pane", "session", 1), ("screenshot", "session", 1),
    ]:
        request = pb.ClientOriginatedMessage()
        setattr(getattr(request, name + "_request"), field, "nobody")
        answer = getattr(await send(connection, request), name + "_response")
        check(f"{name} of nobody", answer.status, want)
    for form in ["", "one two", "*", "w0t0p0"]:
        answer = await iterm2.rpc.async_send_text(connection, form, "x", True)
        check(f"text for the session {form!r}", answer.send_text_response.status, pb.SendTextResponse.Status.Value("SESSION_NOT_FOUND"))


def focus():
    request = pb.ClientOriginatedMessage()
    request.focus_request.SetInParent()
    return request


run(main)
