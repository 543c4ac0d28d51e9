package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

func TestACommandOfSixteenKiBArrivesWhole(t *testing.T) { // HOST-40
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			text := strings.Repeat("abcdefghij klmno", 1023)
			exit, out := c.run(id, "\x1b[200~printf %s '"+text+"' | wc -c\x1b[201~")
			if exit != 0 || strings.TrimSpace(out) != fmt.Sprint(len(text)) {
				t.Errorf("got %d %q, want %d", exit, out, len(text))
			}
		})
	}
}

func TestAPasteOfOneMegabyteIsNeitherLostNorBlocks(t *testing.T) { // HOST-40
	c := newHost(t).connect()
	id := c.openReady("bash")
	file := filepath.Join(t.TempDir(), "out")
	// A program that reads raw, slowly at first, while its terminal echoes.
	c.send(id, "stty raw echo; printf 're%s' ady; sleep 0.3; head -c 1000000 >"+file+"; stty sane\r")
	c.awaitScreen(id, "ready") // what is typed before that, the kernel itself would drop
	text := strings.Repeat("0123456789abcdef0123456789abcdef0123456789abcdef012", 1000000/51+1)[:1000000]
	c.send(id, text)
	// The host answers others meanwhile.
	other := c.open("sh")
	c.send(other, "echo a-n-s-w-e-r | tr -d -\r")
	c.awaitScreen(other, "answer")
	c.awaitEnd(id)
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("it did not arrive as sent: %d of %d bytes, %v", len(got), len(text), err)
	}
}

func TestInputThatNobodyReadsIsRefusedWholeAtTheLimit(t *testing.T) { // HOST-41
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote("stty raw -echo; echo up; exec sleep 67"))
	c.awaitScreen(id, "up")
	text := strings.Repeat("x", 1<<20)
	refused := ""
	for range maxInput>>20 + 2 {
		r := c.call(&api.SendTextRequest{Session: &id, Text: &text})
		if refused = r.GetError(); refused != "" {
			break
		}
	}
	if !strings.HasPrefix(refused, "backend_refused: ") {
		t.Errorf("got %q", refused)
	}
}

func TestAQueryThatIsRepeatedWithoutReadingDoesNotFillTheQueue(t *testing.T) { // HOST-42
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote(`stty raw -echo; i=0; while [ $i -lt 20000 ]; do printf '\033[c'; i=$((i+1)); done; printf done; exec sleep 68`))
	c.awaitScreen(id, "done")
	c.send(id, strings.Repeat("x", 1<<20))
}

func TestTheEmulatorsAnswersReachTheProgram(t *testing.T) { // HOST-42
	c := newHost(t).connect()
	id := c.openReady("bash")
	exit, out := c.run(id, `stty raw -echo min 1; printf '\033[6n'; IFS= read -rd R a; stty sane; printf '%s' "${#a}"`)
	if exit != 0 || strings.Contains(out, "\x1b") || !strings.ContainsAny(out, "456") {
		t.Errorf("got %d %q", exit, out)
	}
}

func TestAnswersThatNobodyWaitsForAreNotTyped(t *testing.T) { // HOST-43
	t.Parallel() // it waits more than it works
	for _, shell := range shells {
		testneeds.Program(t, shell)
		h := newHost(t)
		h.write("hostile", "\x1b[c\x1b[6n\x1b[>c\x1b[?6n\x1b]11;?\x07\x1b[18t\x1bP+q544e\x1b\\\n")
		c := h.connect()
		id := c.openReady(shell)
		for range 5 {
			c.run(id, "cat ~/hostile")
			if exit, out := c.run(id, "echo fine"); exit != 0 || out != "fine" {
				t.Errorf("%s: %d %q", shell, exit, out)
			}
			if v := c.promptView(id); !is(v.Typed, false) {
				t.Errorf("%s: something is typed: %q", shell, c.screen(id))
			}
		}
	}
}

func TestAProgramThatAsksBeforeItSetsTheModeGetsItsAnswer(t *testing.T) { // HOST-43
	c := newHost(t).connect()
	id := c.openReady("bash")
	_, out := c.run(id, `printf '\033[6n'; sleep 0.05; stty -icanon -echo min 1; IFS= read -rd R a; stty sane; printf %s "${#a}"`)
	if !strings.ContainsAny(out, "456") {
		t.Errorf("got %q", out)
	}
}

// fish asks for the colours at each prompt, and waits two seconds for an answer.
func TestAPromptThatAsksGetsItsAnswer(t *testing.T) { // HOST-43
	testneeds.Program(t, "bash")
	h := newHost(t)
	h.write(".bash_profile", `PS1='\[\e[5n\]$ '; bind -x '"\e[0n": answers=$((answers+1))'; PROMPT_COMMAND='printf "\e[c"'`+"\n")
	c := h.connect()
	id := c.openReady("bash")
	for range 3 {
		c.run(id, "answers=0")
		waitUntil(t, "an answer", func() bool {
			_, out := c.run(id, `echo "<$answers>"`)
			return strings.Contains(out, "<") && !strings.Contains(out, "<0>")
		})
	}
}

func TestSmallTextsThatWaitTakeNoMoreThanTheyAre(t *testing.T) { // HOST-41
	q := newInput(nil)
	for range maxInput {
		if !q.put([]byte{'x'}) {
			t.Fatal("refused before the limit")
		}
	}
	if n := len(q.waiting); n > maxInput/joined || q.put([]byte{'x'}) {
		t.Errorf("they wait in %d pieces, and more is taken", n)
	}
}

func TestAnInitialTextIsOfALengthThatCanBeTyped(t *testing.T) { // HOST-100
	for n, want := range map[int]bool{maxProperty: true, maxProperty + 1: false} {
		r := request{typed: strings.Repeat("x", n)}
		if err := r.check(); (err == nil) != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
