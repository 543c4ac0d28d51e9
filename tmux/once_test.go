package tmux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

// cutting is a tmux whose client is killed when a line of commands with a word in
// it was carried out, and before its end is told. $HOME/word holds the word, and
// $HOME/done what says that it was.
const cutting = `case " $* " in *" -C"*) ;; *) exec tmux "$@" ;; esac
fifo=$HOME/fifo.$$
mkfifo "$fifo"
tmux "$@" <"$fifo" &
pid=$!
exec 3>"$fifo"
while IFS= read -r line; do
	printf '%s\n' "$line" >&3
	[ -e "$HOME/word" ] || continue
	case $line in *"$(cat "$HOME/word")"*)
		until sh "$HOME/done"; do sleep 0.01; done
		rm "$HOME/word"
		kill -9 $pid
		exit ;;
	esac
done
exec 3>&-
wait $pid`

func TestAnEffectIsAskedForOnce(t *testing.T) { // TMUX-18
	for name, c := range map[string]struct {
		word, done string
		call       func(context.Context, *Backend, terminal.ID) error
	}{
		"send": {"send-keys", "[ -s $HOME/typed ]", func(ctx context.Context, b *Backend, id terminal.ID) error {
			return b.Send(ctx, id, []byte("echo x >>~/typed\r"))
		}},
		"open": {"-d -P -F 'O #{pane_id}'", "[ $(" + program() + " -S $SOCKET list-panes -a | wc -l) -gt 1 ]", func(ctx context.Context, b *Backend, _ terminal.ID) error {
			_, err := b.Open(ctx, terminal.OpenSpec{})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.run("new-session", "-d", "-x", "80", "-y", "24")
			program := s.fake(strings.ReplaceAll(cutting, "tmux \"", program()+" \""))
			b := s.backend(func(o *Options) { o.Program = program })
			p := only(t, b)
			must(t, os.WriteFile(filepath.Join(s.home, "done"), []byte(strings.ReplaceAll(c.done, "$SOCKET", s.socket)), 0o600))
			must(t, os.WriteFile(filepath.Join(s.home, "word"), []byte(c.word), 0o600))
			if err := c.call(ctx(t), b, p.ID); fault.CodeOf(err) != fault.Deadline || fault.HintOf(err) == "" {
				t.Errorf("got %v", err)
			}
			if got := len(strings.Fields(s.run("list-panes", "-aF", "#{pane_id}"))); name == "open" && got != 2 {
				t.Errorf("there are %d panes", got)
			}
			typed := ""
			until(t, "the next line is typed", func() bool {
				if err := b.Send(ctx(t), p.ID, []byte("echo y >>~/typed\r")); err != nil {
					t.Log(err) // the new connection may take longer than a call on a machine with much to do
					return false
				}
				return true
			})
			until(t, "the next line is carried out", func() bool {
				got, _ := os.ReadFile(filepath.Join(s.home, "typed"))
				typed = string(got)
				return strings.HasSuffix(typed, "y\n")
			})
			if got, want := strings.Count(typed, "x"), map[string]int{"send": 1}[name]; got != want {
				t.Errorf("typed %d times, want %d: %q", got, want, typed)
			}
		})
	}
}
