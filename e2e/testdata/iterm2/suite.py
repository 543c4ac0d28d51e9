"""What the scripts beside this file share: checks that are counted, waiting, and a record of what was asked of the host.

Each script is a program that a user could have written. It finds the host by its environment alone."""

import asyncio
import collections
import json
import sys

import iterm2
import iterm2.connection

PATIENCE = 20

checks = 0
requests = collections.Counter()  # by the request's name on the wire
told = collections.Counter()  # notifications, by theirs


def check(what, got, want):
    global checks
    checks += 1
    if got != want:
        raise SystemExit(f"{what}: got {got!r}, want {want!r}")


def holds(what, truth):
    check(what, bool(truth), True)


async def fails(what, coroutine, want):
    """The call must raise, and say so."""
    try:
        await coroutine
    except Exception as e:  # the package has no common base of its exceptions
        holds(f"{what}: {want!r} in {type(e).__name__} {e}", want in f"{type(e).__name__} {e}")
        return
    raise SystemExit(f"{what}: it did not fail")


async def soon(what, look, want):
    """Waits until look() returns want: for what no event tells."""
    got = None
    for _ in range(PATIENCE * 50):
        got = await look()
        if got == want:
            break
        await asyncio.sleep(0.02)
    check(what, got, want)


async def get(monitor):
    return await asyncio.wait_for(monitor.async_get(), PATIENCE)


async def until(what, monitor, want):
    """Waits for an event that satisfies want, and returns it."""
    global checks
    seen = []
    try:
        while True:
            event = await get(monitor)
            if want(event):
                checks += 1
                return event
            seen.append(event)
    except asyncio.TimeoutError:
        raise SystemExit(f"{what}: it was not told; told were {seen!r}")


async def screen(session):
    contents = await session.async_get_screen_contents()
    return [contents.line(i).string.replace("\0", " ").rstrip() for i in range(contents.number_of_lines)]


async def shows(session, text):
    async def look():
        return any(text in line for line in await screen(session))

    await soon(f"{text!r} on the screen", look, True)


async def ready(connection, session):
    """Waits for an empty prompt."""

    async def look():
        prompt = await iterm2.async_get_last_prompt(connection, session.session_id)
        return prompt is not None and prompt.state == iterm2.PromptState.EDITING

    await soon("a prompt", look, True)


async def send(connection, request):
    """Sends a request that the package has no function for, and returns the answer."""
    request.id = 1_000_000 + sum(requests.values())
    future = asyncio.get_running_loop().create_future()
    connection._Connection__receivers.append((lambda m: m.id == request.id, future))
    await connection.async_send_message(request)
    return await asyncio.wait_for(future, PATIENCE)


def record():
    outgoing = iterm2.connection.Connection.async_send_message

    async def async_send_message(self, message):
        requests[message.WhichOneof("submessage") or "none"] += 1
        await outgoing(self, message)

    async def helper(_connection, message):
        told[message.notification.ListFields()[0][0].name] += 1
        return False

    iterm2.connection.Connection.async_send_message = async_send_message
    iterm2.connection.Connection.register_helper(helper)


def run(main):
    record()

    async def within(connection):
        await asyncio.wait_for(main(connection), 120)

    iterm2.run_until_complete(within)
    json.dump({"checks": checks, "requests": requests, "told": told}, sys.stdout)
