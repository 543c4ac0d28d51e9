"""Reading: the screen, the history, cells, styles, the cursor; what changes it; what is selected in it."""

import asyncio

import iterm2
import iterm2.api_pb2 as pb
from iterm2 import CoordRange, Point, Selection, SelectionMode, SubSelection, WindowedCoordRange

from suite import check, fails, get, holds, ready, run, screen, send, shows, soon


async def main(connection):
    app = await iterm2.async_get_app(connection)
    window = await iterm2.Window.async_create(connection, profile="bash")
    session = window.current_tab.current_session
    await ready(connection, session)

    # Text goes to the program as it is, and comes back as rows.
    await session.async_send_text("PS1='> '; clear\r")
    await soon("the first row", lambda: row(session, 0), ">")
    await session.async_send_text("seq -f line-%g 100")
    await shows(session, "> seq -f line-%g 100")
    await session.async_send_text("\r", suppress_broadcast=True)
    await shows(session, "line-100")
    await soon("the last row", lambda: row(session, 23), ">")
    contents = await session.async_get_screen_contents()
    check("rows", contents.number_of_lines, 24)
    check("a row", contents.line(22).string, "line-100")
    check("it ends there", contents.line(22).hard_eol, True)
    check("the cursor", (contents.cursor_coord.x, contents.cursor_coord.y - contents.windowed_coord_range.start.y), (2, 23))
    info = await session.async_get_line_info()
    check("rows of the screen", info.mutable_area_height, 24)
    check("rows lost", info.overflow, 0)
    check("where the screen begins", contents.windowed_coord_range.start.y, info.scrollback_buffer_height)
    check("what is shown first", info.first_visible_line_number, info.scrollback_buffer_height)
    old = await session.async_get_contents(1, 3)
    check("history", [line.string for line in old], ["line-1", "line-2", "line-3"])
    check("past the end", len(await session.async_get_contents(info.scrollback_buffer_height + 20, 100)), 4)
    check("nowhere", await session.async_get_contents(100_000, 5), [])

    await ranges(connection, session)
    await cells(connection, session)
    await styles(connection, session)
    await updates(connection, session)
    await selections(session)
    await session.async_close(force=True)
    await app.async_refresh()
    check("no session after its end", app.get_session_by_id(session.session_id), None)


async def row(session, n):
    return (await screen(session))[n]


async def buffer(connection, session, **line_range):
    request = pb.ClientOriginatedMessage()
    request.get_buffer_request.session = session.session_id
    for name, value in line_range.items():
        if name == "window":
            x1, y1, x2, y2, left, width = value
            w = request.get_buffer_request.line_range.windowed_coord_range
            w.coord_range.start.x, w.coord_range.start.y, w.coord_range.end.x, w.coord_range.end.y = x1, y1, x2, y2
            w.columns.location, w.columns.length = left, width
        else:
            setattr(request.get_buffer_request.line_range, name, value)
    return await send(connection, request)


async def ranges(connection, session):
    """Every form of a range."""

    async def texts(**line_range):
        return [c.text for c in (await buffer(connection, session, **line_range)).get_buffer_response.contents]

    check("trailing rows", await texts(trailing_lines=3), ["line-99", "line-100", "> "])
    check("presence counts, not truth", len(await texts(screen_contents_only=False)), 24)
    check("whole rows", await texts(window=(0, 1, 0, 3, 0, 0)), ["line-1", "line-2"])
    check("from a column to a column", await texts(window=(5, 1, 4, 2, 0, 0)), ["1", "line"])
    check("columns of rows", await texts(window=(0, 1, 6, 2, 1, 3)), ["ine", "ine"])
    check("columns from within", await texts(window=(2, 1, 6, 2, 1, 3)), ["ne", "ine"])
    echoed = (await buffer(connection, session, window=(0, 1, 0, 3, 0, 0))).get_buffer_response.windowed_coord_range
    check("the range is echoed", (echoed.coord_range.start.y, echoed.coord_range.end.y, echoed.coord_range.end.x), (1, 3, 0))
    for name, bad in {
        "no range": {}, "two forms": {"screen_contents_only": True, "trailing_lines": 1}, "left of the screen": {"window": (-1, 0, 0, 1, 0, 0)},
        "columns of nowhere": {"window": (0, 0, 0, 1, -1, 5)},
    }.items():
        check(f"{name}: an id and nothing else", (await buffer(connection, session, **bad)).WhichOneof("submessage"), None)


async def cells(connection, session):
    """Wide characters, combined ones, cells that were never written, wrapped rows."""
    await session.async_inject(b"\x1b[2J\x1b[H" + "a漢字é e\u0301\r\n".encode() + b"\x1b[5Cgap\r\n" + b"x" * 85 + b"\r\n")
    contents = await session.async_get_screen_contents()
    first, second, third, fourth = (contents.line(i) for i in range(4))
    check("wide characters", first.string, "a漢字é e\u0301")
    check("their cells", [first.string_at(i) for i in range(8)], ["a", "漢", "", "字", "", "é", " ", "e\u0301"])
    check("cells never written", second.string, "\0\0\0\0\0gap")
    check("a row that goes on", (len(third.string), third.hard_eol), (80, False))
    check("its rest", (fourth.string, fourth.hard_eol), ("xxxxx", True))
    check("a row of nothing", (contents.line(9).string, contents.line(9).hard_eol), ("", True))
    raw = (await buffer(connection, session, screen_contents_only=True)).get_buffer_response.contents[0]
    check("units of cells", [(c.num_code_points, c.repeats) for c in raw.code_points_per_cell][:4], [(1, 2), (0, 1), (1, 1), (0, 1)])
    await session.async_inject("\x1b[2J\x1b[H😀x".encode())
    raw = (await buffer(connection, session, screen_contents_only=True)).get_buffer_response.contents[0]
    check("beyond the basic plane", [(c.num_code_points, c.repeats) for c in raw.code_points_per_cell], [(2, 1), (0, 1), (1, 1)])


async def styles(connection, session):
    await session.async_inject(
        b"\x1b[2J\x1b[H\x1b[1;3;4;9mab\x1b[0m\x1b[31mc\x1b[48;5;200md\x1b[38;2;1;2;3me\x1b[0;2;5;7;8mf\x1b[0mg"
        b"\x1b]8;;http://a/\x07h\x1b]8;;\x07"
    )
    line = (await session.async_get_contents((await session.async_get_line_info()).scrollback_buffer_height, 1))[0]
    check("the text", line.string, "abcdefgh")
    a, c, d, e, f, g, h = (line.style_at(i) for i in (0, 2, 3, 4, 5, 6, 7))
    check("bold, italic, underlined, struck", (a.bold, a.italic, a.underline, a.strikethrough), (True, True, True, True))
    check("and not more", (a.faint, a.blink, a.inverse, a.invisible), (False, False, False, False))
    check("as default colours", (a.fg_color.is_alternate, a.bg_color.is_alternate), (True, True))
    check("red", (c.fg_color.is_standard, c.fg_color.standard), (True, 1))
    check("of 256", d.bg_color.standard, 200)
    check("a true colour", (e.fg_color.is_rgb, e.fg_color.rgb.red, e.fg_color.rgb.green, e.fg_color.rgb.blue), (True, 1, 2, 3))
    check("faint, blinking, inverse, hidden", (f.faint, f.blink, f.inverse, f.invisible), (True, True, True, True))
    check("plain again", (g.bold, g.faint, g.url), (False, False, None))
    check("a link", h.url.url if h.url else None, "http://a/")


async def updates(connection, session):
    async with session.get_screen_streamer(want_contents=True) as streamer:
        contents = await update(session, streamer, b"\r\nan update")
        check("a streamed screen", contents.number_of_lines, 24)
        holds("it shows the update", any("an update" in contents.line(i).string for i in range(24)))
    async with session.get_screen_streamer(want_contents=False) as streamer:
        check("an update without a screen", await update(session, streamer, b"\r\nanother"), None)
    await session.async_send_text("\x03clear; printf '\\033[?1049hfull''screen'; read x; printf '\\033[?1049l'\r")
    await shows(session, "fullscreen")
    check("the alternate screen", await session.async_get_variable("showingAlternateScreen"), 1)
    await session.async_send_text("\r")
    await soon("the screen before", lambda: session.async_get_variable("showingAlternateScreen"), 0)


async def update(session, streamer, output):
    """The package loses updates for which nobody waits yet: so the waiting begins first."""
    waiting = asyncio.ensure_future(streamer.async_get())
    await asyncio.sleep(0)
    await session.async_inject(output)
    return await asyncio.wait_for(waiting, 20)


async def selections(session):
    await session.async_inject(b"\x1b[2J\x1b[Halpha beta\r\ngamma delta\r\n" + b"y" * 82)
    top = (await session.async_get_line_info()).scrollback_buffer_height
    check("nothing is selected", (await session.async_get_selection()).sub_selections, [])

    def part(x1, y1, x2, y2, mode=SelectionMode.CHARACTER, columns=None):
        area = CoordRange(Point(x1, top + y1), Point(x2, top + y2))
        return SubSelection(WindowedCoordRange(area, columns) if columns else WindowedCoordRange(area), mode, False)

    for name, parts, want in [
        ("a word", [part(6, 0, 10, 0)], "beta"),
        ("a smart word", [part(0, 1, 5, 1, SelectionMode.SMART)], "gamma"),
        ("two rows", [part(6, 0, 5, 1)], "beta\ngamma"),
        ("a row", [part(0, 0, 80, 0, SelectionMode.LINE)], "alpha beta\n"),
        ("a wrapped line", [part(0, 2, 2, 3, SelectionMode.WHOLE_LINE)], "y" * 82),
        ("a box", [part(1, 0, 4, 1, SelectionMode.BOX, iterm2.Range(1, 3))], "lphamm"),  # the server calls a full column wrapped
        ("two words", [part(0, 0, 5, 0), part(0, 1, 5, 1)], "alpha\ngamma"),
    ]:
        await session.async_set_selection(Selection(parts))
        back = await session.async_get_selection()
        check(f"{name}: parts", len(back.sub_selections), len(parts))
        check(f"{name}: its mode", back.sub_selections[0].mode, parts[0].mode)
        check(f"{name}: where", str(back.sub_selections[0].windowed_coord_range.coordRange), str(parts[0].windowed_coord_range.coordRange))
        check(f"{name}: the text", await session.async_get_selection_text(back), want)
    check("as a variable", await session.async_get_variable("selection"), "alpha\ngamma")
    await fails("rows that are not there", session.async_set_selection(Selection([part(0, 500, 1, 501)])), "INVALID_RANGE")
    await session.async_set_selection(Selection([]))
    check("nothing again", await session.async_get_selection_text(await session.async_get_selection()), "")


run(main)
