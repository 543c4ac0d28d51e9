package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The smoke test of closing works on the terminals that a person really has, so
// it is asked for (task smoke:closing), and touches only sessions that it made.
var (
	smoke        = flag.Bool("smoke", false, "show the plan of the smoke test of closing")
	smokeRun     = flag.Bool("run", false, "with -smoke: carry it out")
	smokeBackend = flag.String("backend", "host", "with -smoke: the terminal")
)

const smokePlan = `smoke test of closing on %s, with the termpilot of this folder and your own HOME

It opens three sessions, in your %[1]s, named as termpilot names them, without taking the focus:
  A  an idle shell
  B  a shell in which "sleep 300" runs
  C  another idle shell
Then it starts "termpilot serve" with --session-id for these three alone: that server refuses every other session,
so nothing else of yours can be closed. Through it, it checks that
  1. inspect_sessions tells A and C as idle and B as busy with sleep (unknown where your shell sends no prompt marks)
  2. close_session refuses B, and a dry run of A changes nothing
  3. close_session closes A, and %[1]s no longer lists it
  4. clean_all_sessions closes C and leaves B alone
  5. close_session with force closes B, and sleep has ended
  6. every receipt in termpilot's folder says what was done
What is left of the three after a failure is closed by force.
`

func TestSmokeOfClosing(t *testing.T) {
	if !*smoke {
		t.Skip("only when it is asked for: task smoke:closing")
	}
	fmt.Printf(smokePlan, *smokeBackend)
	if !*smokeRun {
		fmt.Println("nothing was done; to carry it out: task smoke:closing -- --run [--backend NAME]")
		return
	}
	p := smoker{t: t, ids: map[string]string{}}
	for _, name := range []string{"A", "B", "C"} {
		args := []string{"new", "--json", "--backend", *smokeBackend}
		if name == "B" {
			args = append(args, "--", "sleep", "300")
		}
		p.open(name, args)
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--backend", *smokeBackend}
	for _, id := range p.ids {
		flags = append(flags, "--session-id", id)
	}
	g := &ground{t: t, h: home{dir: dir, real: true}, backend: *smokeBackend}
	g.c = serve(t, g.h, flags...)
	a, b, c := p.ids["A"], p.ids["B"], p.ids["C"]
	busy := g.until(b, "busy with sleep", func(i closeItem) bool { return len(i.Processes) == 1 && i.Processes[0].Name == "sleep" })
	force := map[string]bool{}
	for _, id := range []string{a, c} {
		item := g.until(id, "idle, or unknown", func(i closeItem) bool { return i.State == "idle" || i.State == "unknown" && i.Reason != "" })
		force[id] = item.State != "idle"
	}
	expect := func(step string, r closeResult, status string) {
		t.Helper()
		if r.Status != status {
			t.Fatalf("%s: %s (%s: %s), want %s", step, r.Status, r.Code, r.Reason, status)
		}
		fmt.Printf("  %s: %s, as it should be\n", step, r.Status)
	}
	expect("B without force", g.close("close_session", map[string]any{"session_id": b}), "refused")
	expect("A, dry run", g.close("close_session", map[string]any{"session_id": a, "dry_run": true, "force": force[a]}), "dry_run")
	expect("A", g.close("close_session", map[string]any{"session_id": a, "force": force[a]}), "closed")
	if !force[c] {
		expect("all that is idle", g.close("clean_all_sessions", map[string]any{}), "partial")
	} else {
		expect("C by force", g.close("close_session", map[string]any{"session_id": c, "force": true}), "closed")
	}
	if left := g.c.sessions(); len(left) != 1 || left[0].ID != b {
		t.Fatalf("left are %+v, want B alone", left)
	}
	expect("B by force", g.close("close_session", map[string]any{"session_id": b, "force": true}), "closed")
	if lives(busy.Processes[0].PID) || len(g.c.sessions()) != 0 {
		t.Error("sleep, or a session, lives on")
	}
}

// smoker is what the smoke test made, and nothing else.
type smoker struct {
	t   *testing.T
	ids map[string]string
}

func (p smoker) open(name string, args []string) {
	p.t.Helper()
	cmd := exec.Command(binary, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var o opened
	if err != nil || json.Unmarshal(out, &o) != nil || o.ID == "" {
		p.t.Fatalf("%s: %v: %s%s", strings.Join(args, " "), err, out, errs.String())
	}
	p.ids[name] = o.ID
	fmt.Printf("  %s is %s\n", name, o.ID)
	p.t.Cleanup(func() {
		list, err := exec.Command(binary, "sessions", "--json", "--backend", *smokeBackend).Output()
		var l struct{ Sessions []listed }
		if err != nil || json.Unmarshal(list, &l) != nil || !slices.ContainsFunc(l.Sessions, func(s listed) bool { return s.ID == o.ID }) {
			return
		}
		_ = exec.Command(binary, "close", o.ID, "--force", "--backend", *smokeBackend).Run()
	})
}
