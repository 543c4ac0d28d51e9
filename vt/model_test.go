package vt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termpilot/vt"
)

// model is a terminal written for clarity: a grid of bytes, where 0 was never
// written, and the rows that left its top.
type model struct {
	w, h        int
	grid        [][]byte
	gone        [][]byte
	x, y        int
	pending     bool
	top, bottom int
	insert      bool
}

func newModel(w, h int) *model {
	m := &model{w: w, h: h, bottom: h - 1}
	for range h {
		m.grid = append(m.grid, make([]byte, w))
	}
	return m
}

// up removes row top and puts an empty one at bottom.
func (m *model) up(top, bottom int, save bool) {
	if save && top == 0 {
		m.gone = append(m.gone, m.grid[0])
	}
	m.grid = slices.Delete(m.grid, top, top+1)
	m.grid = slices.Insert(m.grid, bottom, make([]byte, m.w))
}

func (m *model) down(top, bottom int) {
	m.grid = slices.Delete(m.grid, bottom, bottom+1)
	m.grid = slices.Insert(m.grid, top, make([]byte, m.w))
}

func (m *model) lineFeed() {
	m.pending = false
	if m.y == m.bottom {
		m.up(m.top, m.bottom, true)
	} else if m.y < m.h-1 {
		m.y++
	}
}

func (m *model) put(c byte) {
	if m.pending {
		m.x = 0
		m.lineFeed()
	}
	if m.insert {
		m.grid[m.y] = slices.Insert(m.grid[m.y], m.x, 0)[:m.w]
	}
	m.grid[m.y][m.x] = c
	if m.x == m.w-1 {
		m.pending = true
	} else {
		m.x++
	}
}

func (m *model) clear(y, from, to int) {
	for x := from; x < min(to, m.w); x++ {
		m.grid[y][x] = 0
	}
}

// column is the cursor's, counted behind the last one while a wrap is pending.
func (m *model) column() int {
	if m.pending {
		return m.w
	}
	return m.x
}

func (m *model) text() string {
	var b strings.Builder
	for _, r := range append(slices.Clone(m.gone), m.grid...) {
		b.WriteString(strings.ReplaceAll(strings.TrimRight(string(r), "\x00"), "\x00", " ") + "|")
	}
	return fmt.Sprintf("%s %d,%d", b.String(), m.y, m.column())
}

func TestScreenOperationsMatchAModel(t *testing.T) { // VT-21
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(2, 9).Draw(t, "columns"), rapid.IntRange(1, 6).Draw(t, "rows")
		term, m := vt.New(vt.Options{Columns: w, Rows: h}), newModel(w, h)
		count := rapid.IntRange(1, 7)
		send := func(format string, args ...any) { fmt.Fprintf(term, format, args...) }
		move := func(x, y int) { m.x, m.y, m.pending = min(max(x, 0), w-1), y, false }
		t.Repeat(map[string]func(*rapid.T){
			"print": func(t *rapid.T) {
				s := rapid.StringMatching(`[a-z ]{1,12}`).Draw(t, "text")
				send("%s", s)
				for _, c := range []byte(s) {
					m.put(c)
				}
			},
			"line feed": func(*rapid.T) { send("\n"); m.lineFeed() },
			"return":    func(*rapid.T) { send("\r"); move(0, m.y) },
			"backspace": func(*rapid.T) { send("\b"); move(m.x-1, m.y) },
			"position": func(t *rapid.T) {
				y, x := rapid.IntRange(1, h+2).Draw(t, "row"), rapid.IntRange(1, w+2).Draw(t, "column")
				send("\x1b[%d;%dH", y, x)
				move(x-1, min(y, h)-1)
			},
			"up": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dA", n)
				low := 0
				if m.y >= m.top {
					low = m.top
				}
				move(m.x, max(low, m.y-n))
			},
			"down": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dB", n)
				high := h - 1
				if m.y <= m.bottom {
					high = m.bottom
				}
				move(m.x, min(high, m.y+n))
			},
			"erase line": func(t *rapid.T) {
				n := rapid.IntRange(0, 2).Draw(t, "mode")
				send("\x1b[%dK", n)
				m.clear(m.y, []int{m.column(), 0, 0}[n], []int{w, m.x + 1, w}[n])
				m.pending = m.pending && n == 0
			},
			"erase display": func(t *rapid.T) {
				n := rapid.IntRange(0, 2).Draw(t, "mode")
				send("\x1b[%dJ", n)
				for y := range h {
					switch {
					case n == 2 || n == 0 && y > m.y || n == 1 && y < m.y:
						m.clear(y, 0, w)
					case y == m.y:
						m.clear(y, []int{m.column(), 0}[n], []int{w, m.x + 1}[n])
					}
				}
				m.pending = m.pending && n == 0
			},
			"erase characters": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dX", n)
				m.clear(m.y, m.column(), m.x+n)
			},
			"insert characters": func(t *rapid.T) {
				n := min(count.Draw(t, "n"), w-m.x)
				send("\x1b[%d@", n)
				m.grid[m.y] = slices.Insert(m.grid[m.y], m.x, make([]byte, n)...)[:w]
				m.pending = false
			},
			"delete characters": func(t *rapid.T) {
				n := min(count.Draw(t, "n"), w-m.x)
				send("\x1b[%dP", n)
				m.grid[m.y] = append(slices.Delete(m.grid[m.y], m.x, m.x+n), make([]byte, n)...)
				m.pending = false
			},
			"insert lines": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dL", n)
				if m.top <= m.y && m.y <= m.bottom {
					for range min(n, h) {
						m.down(m.y, m.bottom)
					}
					move(0, m.y)
				}
			},
			"delete lines": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dM", n)
				if m.top <= m.y && m.y <= m.bottom {
					for range min(n, h) {
						m.up(m.y, m.bottom, false)
					}
					move(0, m.y)
				}
			},
			"scroll up": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dS", n)
				for range min(n, h) {
					m.up(m.top, m.bottom, false)
				}
			},
			"scroll down": func(t *rapid.T) {
				n := count.Draw(t, "n")
				send("\x1b[%dT", n)
				for range min(n, h) {
					m.down(m.top, m.bottom)
				}
			},
			"reverse index": func(*rapid.T) {
				send("\x1bM")
				m.pending = false
				if m.y == m.top {
					m.down(m.top, m.bottom)
				} else if m.y > 0 {
					m.y--
				}
			},
			"region": func(t *rapid.T) {
				top, bottom := rapid.IntRange(1, h).Draw(t, "top"), rapid.IntRange(1, h).Draw(t, "bottom")
				send("\x1b[%d;%dr", top, bottom)
				if top < bottom {
					m.top, m.bottom = top-1, bottom-1
					move(0, 0)
				}
			},
			"insert mode": func(t *rapid.T) {
				m.insert = rapid.Bool().Draw(t, "on")
				send("\x1b[4%c", map[bool]rune{true: 'h', false: 'l'}[m.insert])
			},
			"clear scrollback": func(*rapid.T) {
				send("\x1b[3J")
				m.gone = nil
			},
			"": func(t *rapid.T) {
				var b strings.Builder
				for _, r := range term.Text(0, 1<<20) {
					b.WriteString(r.Text + "|")
				}
				c := term.Cursor()
				got := fmt.Sprintf("%s %d,%d", b.String(), c.Row-int64(term.History()), c.Column)
				if got != m.text() {
					t.Fatalf("got  %q\nwant %q", got, m.text())
				}
			},
		})
	})
}
