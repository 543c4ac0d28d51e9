package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"termpilot/fault"
	"termpilot/host"
	"termpilot/lazy"
	"termpilot/shellwords"
	"termpilot/terminal"
	"termpilot/tmux"
)

// detachKey is Ctrl-\, which no shell binds and which is easy to hit on purpose only.
const detachKey = 0x1c

func (a *app) attachCommand() *cobra.Command {
	var s settings
	var keepSize, show bool
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Join this terminal to a session of the host, or of tmux",
		Long: "Join this terminal to a session of the host, or of tmux.\n\n" +
			"On the host, what you type goes to the session, and what it shows comes here, until you press Ctrl-\\ or the session\n" +
			"ends. Several people, and a client, may share a session. A session of tmux is shown by tmux itself, with your keys and\n" +
			"your status line. Without an argument it is the only session.",
		Example: "  termpilot attach\n  termpilot attach acorn\n  termpilot attach acorn --print",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(s.backends) == 0 {
				s.backends = []string{"host", "tmux"} // what iTerm2 shows is in front of the person already
			}
			id, words, err := a.attachable(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			if show {
				if words == nil {
					words = []string{"termpilot", "attach", id}
				}
				return a.printText(shellwords.Join(words))
			}
			in, inOK := a.in.(*os.File)
			out, outOK := a.out.(*os.File)
			if !inOK || !outOK || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
				return usage(&fault.Error{
					Op: "attach", Code: fault.InvalidArgument, Detail: "standard input and output are not a terminal",
					Hint: "use termpilot read and termpilot send from programs, or pass --print",
				})
			}
			if words != nil {
				return syscall.Exec(words[0], words, os.Environ())
			}
			return a.attach(cmd.Context(), in, out, id, keepSize)
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&keepSize, "keep-size", false, "leave the session's size as it is")
	cmd.Flags().BoolVar(&show, "print", false, "print the command that shows the session, and do nothing")
	return a.completesSession(cmd)
}

// attachable returns the session that args name, or the only one, and of a
// session of tmux the command that shows it.
func (a *app) attachable(ctx context.Context, s settings, args []string) (id string, command []string, err error) {
	d, err := a.deck(s)
	if err != nil {
		return "", nil, err
	}
	defer d.close()
	if id, err = only(ctx, d.pilot, args); err != nil {
		return "", nil, err
	}
	seen, err := d.pilot.SeeOne(ctx, "attach", terminal.ID(id))
	if err != nil {
		return "", nil, err
	}
	if b, ok := seen.On.(*tmux.Backend); ok {
		command, err = b.AttachCommand(ctx, seen.ID)
	}
	return id, command, err
}

// attach puts the terminal into raw mode for the time of the visit, and leaves
// it as it was.
func (a *app) attach(ctx context.Context, in, out *os.File, id string, keepSize bool) error {
	conn, err := host.DialAttach(ctx)
	if err != nil {
		return err
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	var sizes chan host.Size
	if !keepSize {
		var stop func()
		sizes, stop = watchSize(out)
		defer stop()
	}
	left, err := host.Attach(ctx, conn, id, &detachReader{in: in}, out, sizes, detachKey)
	_, resetErr := io.WriteString(out, plainTerminal)
	if err := errors.Join(err, resetErr, term.Restore(int(in.Fd()), before)); err != nil {
		return err
	}
	switch {
	case left.Detached:
		a.note("left; come back with termpilot attach %s", id)
	case left.Signal != "":
		a.note("the session was ended by %s", left.Signal)
	case left.Code != nil:
		a.note("the session ended with exit code %d", *left.Code)
	default:
		a.note("the session ended")
	}
	return nil
}

// plainTerminal takes back what programs of the session may have asked of the
// terminal: mouse, focus and paste reports, application keys, kitty's keyboard
// protocol, colours, a hidden cursor, scroll margins, the alternate screen
// (XTerm Control Sequences).
const plainTerminal = "\x1b[?1000;1002;1003;1004;1005;1006;1015;2004;2026;1l\x1b>\x1b[<99u\x1b[>4m\x1b[0m\x1b[r\x1b[?1049l\x1b[?7;25h\x1b[0 q\r\n"

// watchSize tells the size of the terminal, now and whenever it changes, until
// stop is called. A size that nobody has taken is replaced by a newer one.
func watchSize(tty *os.File) (sizes chan host.Size, stop func()) {
	sizes = make(chan host.Size, 1)
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	tell := func() {
		columns, rows, err := term.GetSize(int(tty.Fd()))
		if err != nil {
			columns, rows = 80, 24
		}
		select {
		case <-sizes:
		default:
		}
		sizes <- host.Size{Columns: columns, Rows: rows} // the only sender: there is room
	}
	tell()
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-changed:
				tell()
			case <-over:
				return
			}
		}
	}()
	return sizes, func() { signal.Stop(changed); close(over); <-done }
}

// detachReader reads what a person types, with the detach key in its plain
// spelling also where a program of the session has asked the terminal for
// another (kitty's keyboard protocol, xterm's modifyOtherKeys). Terminals send
// a key in one piece.
type detachReader struct{ in io.Reader }

// detachSpelling is Ctrl-\ as kitty's protocol spells it, with the other codes of
// its key, the modifiers, which the locks of a keyboard add to, whether it was
// pressed or repeats, and its text; or as xterm does.
var detachSpelling = lazy.Regexp(`\x1b\[(?:92(?::[0-9:]*)?;(?:5|69|133|197)(?::[12])?(?:;[0-9:]*)?u|27;5;92~)`)

func (r *detachReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	typed := p[:n]
	if bytes.IndexByte(typed, 0x1b) >= 0 {
		typed = detachSpelling().ReplaceAllLiteral(typed, []byte{detachKey})
	}
	return copy(p, typed), err
}
