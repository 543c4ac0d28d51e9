package pilot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestTheTableHolds200NamesThatCannotBeMistaken(t *testing.T) { // NAME-1
	if len(names) != 200 {
		t.Errorf("%d names", len(names))
	}
	plain := regexp.MustCompile(`^[a-z]{4,7}$`)
	words := strings.Fields("list get read run wait send create split focus resize rename inspect close clean recover claude codex grok composer " +
		"agent turn approval configure diagnostics session terminal command tab window pane text keys profile profiles host iterm tmux sessions recoveries")
	words = append(words, reserved...)
	for i, name := range names {
		if !plain.MatchString(name) {
			t.Errorf("%q is not of 4 to 7 small letters", name)
		}
		for k, other := range names {
			if i != k && strings.HasPrefix(other, name) {
				t.Errorf("%s begins %s", name, other)
			}
		}
		for _, word := range words {
			if strings.HasPrefix(word, name) || strings.HasPrefix(name, word) {
				t.Errorf("%s and %s begin alike", name, word)
			}
		}
		if _, err := checkName("test", name); err != nil {
			t.Error(err)
		}
	}
}

func TestEverySessionThatIsOpenedHasANameOfItsOwn(t *testing.T) { // NAME-1, NAME-2
	on(t, terminaltest.Options{}, func(b bench) {
		seen := map[string]bool{}
		for range 30 {
			got, err := b.Open(b.t.Context(), OpenRequest{})
			if err != nil || !slices.Contains(names[:], got.Name) || seen[got.Name] || got.Session.Name != got.Name {
				b.t.Fatalf("got %+v, %v", got, err)
			}
			seen[got.Name] = true
		}
	})
}

func TestANameIsTakenWhileItsSessionLives(t *testing.T) { // NAME-2, NAME-3
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{})
		other := terminaltest.NewFake(t, terminaltest.Options{Name: "tmux"})
		p, _ := New(Options{Backends: []terminal.Backend{f, other}, Processes: fakeProcesses{f: f}})
		first, err := p.Open(t.Context(), OpenRequest{Name: "Build server"})
		if err != nil || first.Name != "Build server" {
			t.Fatalf("got %+v, %v", first, err)
		}
		for _, name := range []string{"Build server", "BUILD SERVER", "  build server ", first.SessionID} {
			before := f.Calls("open") + other.Calls("open")
			_, err := p.Open(t.Context(), OpenRequest{Backend: "tmux", Name: name})
			if !errors.Is(err, fault.NameTaken) || !strings.Contains(err.Error(), first.SessionID) || f.Calls("open")+other.Calls("open") != before {
				t.Errorf("%q: got %v", name, err)
			}
		}
		if err := f.Close(t.Context(), terminal.ID(first.SessionID), terminal.Force); err != nil {
			t.Fatal(err)
		}
		again, err := p.Open(t.Context(), OpenRequest{Backend: "tmux", Name: "build server"})
		if err != nil || again.Name != "build server" {
			t.Errorf("got %+v, %v", again, err)
		}
		f.Shutdown()
		other.Shutdown()
	})
}

func TestWhenAllNamesAreGivenNothingIsOpened(t *testing.T) { // NAME-4
	on(t, terminaltest.Options{}, func(b bench) {
		for i, name := range names {
			if i%2 == 0 {
				name = strings.ToUpper(name)
			}
			if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: name}); err != nil {
				b.t.Fatal(err)
			}
		}
		b.settle()
		before := b.f.Calls("open")
		if _, err := b.Open(b.t.Context(), OpenRequest{}); !errors.Is(err, fault.NameTaken) || b.f.Calls("open") != before {
			b.t.Errorf("got %v", err)
		}
		got, err := b.Open(b.t.Context(), OpenRequest{Name: "one of mine"})
		if err != nil || got.Name != "one of mine" {
			b.t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestTwoServersNeverGiveOneNameTwice(t *testing.T) { // NAME-5
	dir := t.TempDir()
	var mu sync.Mutex
	given := map[string]int{}
	var wg sync.WaitGroup
	for i := range 2 {
		// Each server has a terminal of its own that the other does not see, as if
		// news from the other's came late.
		f := terminaltest.NewFake(t, terminaltest.Options{Marks: terminal.MarksNone})
		p, err := New(Options{Backends: []terminal.Backend{blind{f, fmt.Sprint(i)}}, Dir: dir, Processes: fakeProcesses{f: f}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for range 4 {
			wg.Go(func() {
				n, err := p.naming(t.Context(), "test")
				if err != nil {
					t.Error(err)
					return
				}
				defer n.done()
				name, err := n.choose("wanted", "")
				if err != nil {
					name, err = n.choose("", "")
				}
				if err != nil {
					t.Error(err)
					return
				}
				s, err := f.Open(t.Context(), terminal.OpenSpec{Name: name})
				if err != nil {
					t.Error(err)
				}
				n.given(name, terminal.ID(fmt.Sprint(i, s.ID)))
				mu.Lock()
				given[name]++
				mu.Unlock()
			})
		}
	}
	wg.Wait()
	if len(given) != 8 || given["wanted"] != 1 {
		t.Errorf("got %v", given)
	}
}

// blind is a backend that has not heard of its sessions yet.
type blind struct {
	*terminaltest.Fake
	name string
}

func (b blind) Name() string { return b.name }

func TestANameThatIsNoNameIsRefusedFirst(t *testing.T) { // NAME-6
	on(t, terminaltest.Options{}, func(b bench) {
		for _, c := range []struct {
			name string
			want fault.Code
		}{
			{"a\nb", fault.InvalidArgument},
			{"a\x00", fault.InvalidArgument},
			{"\x1b[31mred", fault.InvalidArgument},
			{"a\u202eb", fault.InvalidArgument},
			{"hidden\U000e0041", fault.InvalidArgument},
			{"\xff", fault.InvalidArgument},
			{"All", fault.InvalidArgument},
			{" current ", fault.InvalidArgument},
			{strings.Repeat("é", 65), fault.TooLarge},
		} {
			_, open := b.Open(b.t.Context(), OpenRequest{Name: c.name})
			_, rename := b.Rename(b.t.Context(), b.id, c.name)
			if !errors.Is(open, c.want) || !errors.Is(rename, c.want) {
				b.t.Errorf("%q: got %v and %v, want %s", c.name, open, rename, c.want)
			}
		}
		if n := b.f.Calls("open") + b.f.Calls("rename"); n != 1 {
			b.t.Errorf("%d calls", n)
		}
		if got, err := b.Rename(b.t.Context(), b.id, strings.Repeat("é", 64)); err != nil || got.Session.Name != strings.Repeat("é", 64) {
			b.t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestRenamingGivesAndTakesNames(t *testing.T) { // NAME-3, NAME-7
	on(t, terminaltest.Options{}, func(b bench) {
		other, err := b.Open(b.t.Context(), OpenRequest{Name: "other"})
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := b.Rename(b.t.Context(), b.id, "OTHER"); !errors.Is(err, fault.NameTaken) || !strings.Contains(err.Error(), other.SessionID) {
			b.t.Errorf("got %v", err)
		}
		for _, id := range []string{b.id, strings.ToUpper(b.id), other.SessionID} {
			if _, err := b.Rename(b.t.Context(), b.id, id); !errors.Is(err, fault.NameTaken) {
				b.t.Errorf("%q: got %v", id, err)
			}
		}
		for _, step := range []struct{ id, give, want string }{
			{other.SessionID, "Other", "Other"}, // its own name, in other letters
			{other.SessionID, "", ""},
			{b.id, "other", "other"},
			{b.id, "new one", "new one"},
			{other.SessionID, " other ", "other"},
		} {
			got, err := b.Rename(b.t.Context(), step.id, step.give)
			if err != nil || got.Session.Name != step.want || got.Session.SessionID != step.id {
				b.t.Errorf("%+v: got %+v, %v", step, got, err)
			}
		}
	})
}

func TestAHiddenHolderIsNotNamed(t *testing.T) { // NAME-3, POLICY-2
	onWith(t, terminaltest.Options{}, Options{Allow: []terminal.ID{"fake-1"}}, func(b bench) {
		if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: "secret"}); err != nil {
			b.t.Fatal(err)
		}
		if _, err := b.Rename(b.t.Context(), b.id, "secret"); !errors.Is(err, fault.NameTaken) || strings.Contains(err.Error(), "fake-2") {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestAServerThatNamesForTooLongIsNotWaitedForForever(t *testing.T) { // NAME-5
	on(t, terminaltest.Options{}, func(b bench) {
		n, err := b.naming(b.t.Context(), "test")
		if err != nil {
			b.t.Fatal(err)
		}
		began := time.Now()
		if _, err := b.Open(b.t.Context(), OpenRequest{}); !errors.Is(err, fault.Busy) || time.Since(began) > namePatience+time.Second {
			b.t.Errorf("got %v after %v", err, time.Since(began))
		}
		n.done()
		if _, err := b.Open(b.t.Context(), OpenRequest{}); err != nil {
			b.t.Error(err)
		}
	})
}

func TestAPersonMayNameASession(t *testing.T) { // NAME-8
	onWith(t, terminaltest.Options{}, Options{Allow: []terminal.ID{"fake-1", "fake-2", "fake-3", "fake-4"}}, func(b bench) {
		for _, name := range []string{"build", "twin", "Twin", "hidden"} {
			if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: name}); err != nil {
				b.t.Fatal(err)
			}
		}
		for word, want := range map[string]string{
			"fake-1": "fake-1", "build": "fake-2", "BUILD": "fake-2", "buil": "buil", "": "", "fake-": "fake-", "w1": "w1", "hidden": "hidden", "fake-5": "fake-5",
		} {
			if got, err := b.Named(b.t.Context(), word); got != want || err != nil {
				b.t.Errorf("%q: got %q, %v, want %q", word, got, err, want)
			}
		}
		_, err := b.Named(b.t.Context(), "twin")
		if !errors.Is(err, fault.InvalidArgument) || !strings.Contains(fault.HintOf(err), "fake-3 (bash in /home/user), fake-4 (bash in /home/user)") {
			b.t.Errorf("got %v, hint %q", err, fault.HintOf(err))
		}
	})
}

func FuzzANameThatIsTakenIsOneShortLine(f *testing.F) { // NAME-6
	f.Add("  acorn\u202e\n")
	f.Add("current")
	f.Fuzz(func(t *testing.T, text string) {
		name, err := checkName("test", text)
		if err != nil {
			return
		}
		if terminal.OneLine(name, MaxName) != name || strings.TrimSpace(name) != name || slices.Contains(reserved, strings.ToLower(name)) {
			t.Fatalf("%q was taken as %q", text, name)
		}
		if again, err := checkName("test", name); again != name || err != nil {
			t.Fatalf("%q became %q, %v", name, again, err)
		}
	})
}

func TestAFileOfNamesThatIsNoneCostsNothing(t *testing.T) { // NAME-5
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		path := filepath.Join(dir, "locks", newsFile)
		for _, text := range []string{"", "{", `{"a":1}`, "[1,2]", `[{"name":"acorn"`, "\x00\xff", strings.Repeat("x", maxNews+1)} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.t.Fatal(err)
			}
			if got, err := b.Open(b.t.Context(), OpenRequest{}); err != nil || got.Name == "" {
				b.t.Errorf("%.20q: got %+v, %v", text, got, err)
			}
		}
		if err := os.Remove(path); err != nil {
			b.t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			b.t.Fatal(err)
		}
		if got, err := b.Open(b.t.Context(), OpenRequest{}); err != nil || got.Name == "" {
			b.t.Errorf("got %+v, %v", got, err)
		}
	})
}
