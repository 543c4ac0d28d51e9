package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/term"
)

// standIn plays a vendor's program in a terminal: its composer, its dialogs, its
// hooks and its records, as far as they were measured on the real ones. The
// prompt says what happens, one word at the beginning of a line each:
//
//	SAY:text    the answer                      SLOW:ms   so long at work
//	RUN:cmd     ask for permission              FAIL:text an error instead of an answer
//	SWAP        SIGUSR1 makes it another one    GAP:ms    an empty composer, no busy line, and no end before a key
//	QUOTE       the answer quotes a question    TWICE     the end is told twice
//	FOREIGN     an end of another chat is told  DIE       the program is killed at work
//	CLEAR       another chat begins             BACK      when interrupted, the prompt comes back
//	PART        an agent of Codex's own works   WORDS     OpenCode asks what to say with a no
//	BULK        Codex's record grows by 10 MiB
//	LONG:n      an answer of n letters          LINES:n   so many lines before the next composer
//	THEN:ms     so long at work after the permission
//
// STANDIN holds more: trust and update (screens before the first composer),
// slow=ms (before the first screen; what was typed is lost), stalls=ms (so seldom
// it draws that it is at work), stuck (Enter is a newline), once (the first one is),
// burst=ms (it is one when it comes so soon after text), lag=ms (until it acts on
// Enter), completes (Enter adds to the text), deaf (an accepted prompt is not told),
// mute (nothing is), lost (Claude's hooks of ends write nothing), unheard (those of
// prompts do not either), tardy (the hook of an end takes 2 s), early (an end is told
// before any prompt), late (a question shows before its hook), slips (Claude's menu
// takes another model), comes (SIGUSR1 shows a question at the composer).
type standIn struct {
	vendor  string
	say     vendorPlay
	flags   string
	chat    string
	text    []rune
	typed   time.Time // when text came last
	enters  int       // at the composer
	said    []string
	shown   *dialog
	busyFor string
	since   time.Time // it is at work
	model   string
	keys    chan string
}

// vendorPlay is what is peculiar to one vendor.
type vendorPlay interface {
	begin(*standIn)
	draw(*standIn) (rows []string, row, column int)
	told(*standIn, kind, map[string]string)
	status(s *standIn, word, waiting string)
	question(command string) *dialog
	finish(*standIn)
}

func (s *standIn) flag(name string) (string, bool) {
	for _, f := range strings.Split(s.flags, ",") {
		if word, value, _ := strings.Cut(f, "="); word == name {
			return value, true
		}
	}
	return "", false
}

// note writes down what the program got, for the test to read.
func note(what, text string) {
	f, err := os.OpenFile(os.Getenv("STANDIN_LOG"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line, _ := json.Marshal(map[string]string{what: text})
	f.Write(append(line, '\n'))
}

func playStandIn(vendor string, args []string) int {
	if len(args) > 0 && answersProbe(vendor, args) {
		return 0
	}
	s := &standIn{vendor: vendor, flags: os.Getenv("STANDIN"), keys: make(chan string, 256), model: "default"}
	note("argv", strings.Join(args, "\n"))
	note("env", os.Getenv("CLAUDE_CODE_CHILD_SESSION")+"|"+os.Getenv(depthVariable)+"|"+os.Getenv(roleVariable)+"|"+os.Getenv(delegationVariable))
	s.say = map[string]vendorPlay{"claude": &playClaude{}, "codex": &playCodex{}, "grok": &playGrok{}, "opencode": &playOpencode{}}[vendor]
	old, err := term.MakeRaw(0)
	if err != nil {
		return 3
	}
	defer term.Restore(0, old)
	defer fmt.Print("\x1b[?2004l\r\n")
	for i, a := range args {
		if (a == "--session-id" || a == "--resume" || a == "resume" || a == "--session") && i+1 < len(args) {
			s.chat = args[i+1]
		}
	}
	go readKeys(s.keys)
	if ms, ok := s.flag("slow"); ok {
		n, _ := strconv.Atoi(ms)
		time.Sleep(time.Duration(n) * time.Millisecond) // a program that starts slowly
		for len(s.keys) > 0 {
			note("lost", <-s.keys)
		}
	}
	for _, screen := range []string{"trust", "update"} {
		if _, ok := s.flag(screen); ok && !s.before(screen) {
			return 1
		}
	}
	fmt.Print("\x1b[?2004h")
	s.say.begin(s)
	if _, ok := s.flag("early"); ok {
		s.told(done, map[string]string{"text": "an early word", "turn": uuid.NewString()})
	}
	s.say.status(s, "idle", "")
	s.redraw()
	comes := make(chan os.Signal, 1)
	if _, ok := s.flag("comes"); ok {
		signal.Notify(comes, syscall.SIGUSR1)
	}
	for over := false; !over; {
		select {
		case <-comes:
			s.ask("rm -r everything", "", false)
			s.rest()
		case key, open := <-s.keys:
			over = !open || s.compose(key)
		}
	}
	s.say.finish(s)
	return 0
}

// before plays a question that comes before the first composer.
func (s *standIn) before(which string) bool {
	labels := map[string][]string{"trust": {"Yes, I trust this folder", "No, exit"}, "update": {"Install now", "Skip"}}[which]
	s.shown = &dialog{question: []string{"About to " + which}, marked: 1}
	for i, l := range labels {
		s.shown.choices = append(s.shown.choices, choice{number: i + 1, label: l})
	}
	s.redraw()
	for key := range s.keys {
		note(which, key)
		if key == "1" || key == "\r" {
			s.shown = nil
			return true
		}
		if key == "2" || key == "\x1b" {
			return false
		}
	}
	return false
}

// compose takes one key at the composer, and reports whether the program ends.
func (s *standIn) compose(key string) bool {
	switch {
	case key == "\r":
		if ms, ok := s.flag("lag"); ok && len(s.text) > 0 {
			n, _ := strconv.Atoi(ms)
			time.Sleep(time.Duration(n) * time.Millisecond) // a program that has much to do
		}
		s.enters++
		text := string(s.text)
		_, completes := s.flag("completes")
		if completes || atName.MatchString(text) { // the list of files takes it
			s.text = append(s.text, []rune(".go ")...)
			break
		}
		text = strings.TrimSuffix(text, pad)
		_, stuck := s.flag("stuck")
		if _, once := s.flag("once"); once && s.enters == 1 {
			stuck = true
		}
		burst, _ := s.flag("burst")
		ms, _ := strconv.Atoi(burst)
		if stuck || time.Since(s.typed) < time.Duration(ms)*time.Millisecond {
			s.text = append(s.text, '\n')
			break
		}
		if strings.TrimSpace(text) == "" {
			break
		}
		s.text = nil
		switch text {
		case "/exit", "/quit":
			return true
		case "/model":
			s.choose()
		case "/new":
			s.anew()
		case "/compact": // work of its own, of which nothing is told
			s.busyFor = "Compacting"
			s.work("60000")
			s.rest()
		default:
			s.turn(text)
		}
	case key == "\x03":
		if len(s.text) == 0 {
			return s.vendor == "codex"
		}
		s.text = nil
	case strings.HasPrefix(key, "\x1b"):
	default:
		s.text, s.typed = append(s.text, []rune(key)...), time.Now()
	}
	s.redraw()
	return false
}

// atName is a name that is being typed.
var atName = regexp.MustCompile(`@\S*$`)

var directive = regexp.MustCompile(`(?m)^([A-Z]+)(?::(.*))?$`)

// turn plays what a prompt asks for.
func (s *standIn) turn(text string) {
	note("prompt", text)
	does := map[string]string{}
	for _, m := range directive.FindAllStringSubmatch(text, -1) {
		does[m[1]] = m[2]
		if m[2] == "" {
			does[m[1]] = "yes"
		}
	}
	id := uuid.NewString()
	s.said = append(s.said, "> "+strings.Split(text, "\n")[0])
	if _, deaf := s.flag("deaf"); !deaf {
		s.told(prompted, map[string]string{"text": text, "turn": id})
	}
	s.say.status(s, "busy", "")
	s.busyFor, s.since = "Thinking", time.Now()
	s.redraw()
	if does["FOREIGN"] != "" {
		mine := s.chat
		s.chat = uuid.NewString()
		s.told(done, map[string]string{"text": "of another chat", "turn": uuid.NewString()})
		s.chat = mine
	}
	if codex, ok := s.say.(*playCodex); ok && does["PART"] != "" {
		codex.part(s)
	} else if ok && does["BULK"] != "" {
		codex.bulk()
	}
	if !s.work(does["SLOW"]) {
		s.cut(id, "user_interrupt", text, does["BACK"] != "")
		return
	}
	if does["DIE"] != "" {
		os.Exit(137)
	}
	if does["GAP"] != "" {
		s.busyFor = ""
		s.redraw()
		note("gap", text)
		s.work(does["GAP"])
	}
	if does["RUN"] != "" && !s.ask(does["RUN"], does["SWAP"], does["WORDS"] != "") {
		s.cut(id, "permission_rejected", text, false)
		return
	}
	if does["THEN"] != "" {
		s.busyFor = "Thinking"
		s.work(does["THEN"])
	}
	if does["CLEAR"] != "" {
		s.anew()
		return
	}
	if does["FAIL"] != "" {
		s.said = append(s.said, does["FAIL"])
		s.rest()
		s.told(failed, map[string]string{"error": does["FAIL"], "turn": id})
		return
	}
	answer := does["SAY"]
	if answer == "" {
		answer = "answer to: " + strings.Split(text, "\n")[0]
	}
	if n, err := strconv.Atoi(does["LONG"]); err == nil {
		answer = strings.Repeat("é", n)
	}
	s.said = append(s.said, strings.Split(answer[:min(len(answer), 60)], "\n")...)
	for n, _ := strconv.Atoi(does["LINES"]); n > 0; n-- {
		s.said = append(s.said, "line "+strconv.Itoa(n))
	}
	if does["QUOTE"] != "" {
		s.said = append(s.said, "the question looks like this:", "────────────────────", "  Do you want to proceed?", "❯ 1. Yes", "  2. Yes, always", "  3. No", "")
	}
	s.rest()
	s.told(done, map[string]string{"text": answer, "turn": id})
	if does["TWICE"] != "" {
		s.told(done, map[string]string{"text": answer, "turn": id})
	}
}

// rest shows an empty composer with nothing at work.
func (s *standIn) rest() {
	s.busyFor = ""
	s.say.status(s, "idle", "")
	s.redraw()
}

// anew begins another chat.
func (s *standIn) anew() {
	mine := s.chat
	s.chat = uuid.NewString()
	s.rest()
	s.chat, mine = mine, s.chat
	s.told(left, map[string]string{"reason": "clear"})
	s.chat = mine
	s.told(session, map[string]string{"reason": "clear"})
}

// cut ends a turn that was interrupted.
func (s *standIn) cut(id, reason, text string, back bool) {
	if back {
		s.text = []rune(text)
	}
	s.said = append(s.said, "Interrupted")
	s.rest()
	if back && s.vendor == "grok" {
		return // it takes the turn back and tells nothing
	}
	taken := map[bool]string{true: "back"}[back]
	s.told(interrupted, map[string]string{"turn": id, "reason": reason, "taken": taken})
}

// work is busy for some milliseconds; false when a key interrupts it.
func (s *standIn) work(ms string) bool {
	n, _ := strconv.Atoi(ms)
	s.since = time.Now()
	timer := time.NewTimer(time.Duration(n) * time.Millisecond)
	defer timer.Stop()
	redraws := 1000
	if ms, ok := s.flag("stalls"); ok {
		redraws, _ = strconv.Atoi(ms)
	}
	second := time.NewTicker(time.Duration(redraws) * time.Millisecond)
	defer second.Stop()
	s.redraw()
	for {
		select {
		case <-timer.C:
			return true
		case <-second.C:
			s.redraw()
		case key := <-s.keys:
			if key == "\x1b" || key == "\x03" {
				return false
			}
		}
	}
}

// seconds is how long it has been at work, as vendors count it.
func (s *standIn) seconds() int { return int(time.Since(s.since).Seconds()) }

// ask shows a question until it is answered.
func (s *standIn) ask(command, swap string, words bool) bool {
	s.shown = s.say.question(command)
	_, late := s.flag("late")
	if !late {
		s.told(waits, map[string]string{"tool": "Bash"})
	}
	s.say.status(s, "waiting", "permission prompt")
	s.redraw()
	if late {
		time.Sleep(500 * time.Millisecond) // its hook is slower than its screen
		s.told(waits, map[string]string{"tool": "Bash"})
	}
	swapped := make(chan os.Signal, 1)
	if swap != "" {
		signal.Notify(swapped, syscall.SIGUSR1)
	}
	for {
		select {
		case <-swapped:
			s.shown = s.say.question("rm -r everything")
			s.redraw()
			note("swapped", "yes")
		case key := <-s.keys:
			note("answer", key)
			if p, ok := s.say.(*playOpencode); ok {
				key = p.pressed(key)
			}
			for _, c := range s.shown.choices {
				if key != c.key && key != strconv.Itoa(c.number) && !(key == "\r" && c.number == s.shown.marked) {
					continue
				}
				note("chosen", c.label)
				s.shown = nil
				no := plainNo().MatchString(c.label)
				if !no {
					s.told(goesOn, nil)
					s.say.status(s, "busy", "")
				} else if words {
					s.words()
				}
				s.redraw()
				return !no
			}
			if key == "\x1b" {
				s.shown = nil
				return false
			}
		}
	}
}

// choose plays the menu of models.
func (s *standIn) choose() {
	menu := func(heading string, labels ...string) *dialog {
		d := &dialog{question: []string{heading}, marked: 1}
		for i, l := range labels {
			d.choices = append(d.choices, choice{number: i + 1, label: l})
		}
		return d
	}
	s.shown = menu("Select model", "Default (recommended) ✔  The usual one", "Big                    More", "Small                  Less")
	if s.vendor == "codex" {
		s.shown.question[0] = "Select Model and Effort"
	}
	picked := ""
	for s.redraw(); s.shown != nil; s.redraw() {
		key := <-s.keys
		note("menu", key)
		n, err := strconv.Atoi(key)
		switch {
		case key == "\x1b":
			s.shown = nil
		case key == "\x1b[B":
			s.shown.marked = min(s.shown.marked+1, len(s.shown.choices))
		case key == "\x1b[A":
			s.shown.marked = max(s.shown.marked-1, 1)
		case s.vendor == "codex" && picked == "" && (err == nil && n <= len(s.shown.choices)):
			picked = strings.Fields(s.shown.choices[n-1].label)[0]
			s.shown = menu("Select Reasoning Level for "+picked, "Low (default)    Quick", "High             Slow")
		case key == "s" && s.vendor == "codex" && picked != "":
			s.said = append(s.said, "• Model changed to "+picked+" "+strings.ToLower(strings.Fields(s.shown.choices[s.shown.marked-1].label)[0])+" for this session only")
			s.model, s.shown = picked, nil
		case key == "s" && s.vendor == "claude" && picked == "":
			picked = strings.Fields(s.shown.choices[s.shown.marked-1].label)[0]
			if _, slips := s.flag("slips"); slips {
				picked = "Big"
			}
			s.shown = menu("Switch model?", "Yes, switch to "+picked, "No, go back")
		case key == "1" && s.vendor == "claude" && picked != "":
			s.said = append(s.said, "  ⎿  Set model to "+picked+" for this session only")
			s.model, s.shown = picked, nil
		case key == "\r":
			note("persisted", "yes")
			s.shown = nil
		}
	}
}

// told tells what happened, as the vendor does.
func (s *standIn) told(k kind, with map[string]string) {
	if _, mute := s.flag("mute"); !mute {
		s.say.told(s, k, with)
	}
}

// redraw draws the whole screen, of which the first rows scroll away.
func (s *standIn) redraw() {
	rows, row, column := s.say.draw(s)
	if _, height, err := term.GetSize(0); err == nil && len(rows) > height {
		row -= len(rows) - height
		rows = rows[len(rows)-height:]
	}
	var b bytes.Buffer
	b.WriteString("\x1b[2J\x1b[H" + strings.Join(rows, "\r\n"))
	fmt.Fprintf(&b, "\x1b[%d;%dH", row+1, column+1)
	os.Stdout.Write(b.Bytes())
}

// composer is the text in rows, and where its cursor is.
func (s *standIn) composer(mark, indent string) (rows []string, row, column int) {
	lines := strings.Split(string(s.text), "\n")
	if len(lines) > 12 {
		lines = []string{fmt.Sprintf("[Pasted text #1 +%d lines]", len(lines))}
	}
	for i, l := range lines {
		if i == 0 {
			rows = append(rows, mark+l)
		} else {
			rows = append(rows, indent+l)
		}
	}
	return rows, len(rows) - 1, len([]rune(rows[len(rows)-1]))
}

// numberedRows draws a dialog of rows "1. …".
func numberedRows(d *dialog, mark string) (rows []string) {
	for _, q := range d.question {
		rows = append(rows, "  "+q)
	}
	rows = append(rows, "")
	for _, c := range d.choices {
		m := "  "
		if c.number == d.marked {
			m = mark + " "
		}
		rows = append(rows, fmt.Sprintf("%s%d. %s", m, c.number, c.label))
	}
	return append(rows, "", "  Esc to cancel")
}

func argumentAfter(flag string) string {
	for i, a := range os.Args {
		if a == flag && i+1 < len(os.Args) {
			return os.Args[i+1]
		}
	}
	return ""
}

// answersProbe answers what a preflight asks.
func answersProbe(vendor string, args []string) bool {
	flags := "," + os.Getenv("STANDIN") + ","
	switch vendor + " " + strings.Join(args, " ") {
	case "claude --version":
		fmt.Println("2.1.197 (Claude Code)")
	case "claude auth status --json":
		fmt.Printf("{\"loggedIn\": %v}\n", !strings.Contains(flags, ",loggedout,"))
		if strings.Contains(flags, ",loggedout,") {
			os.Exit(1)
		}
	case "codex --version":
		fmt.Println("WARNING: something\ncodex-cli 0.171.0")
	case "opencode --version":
		fmt.Println("1.18.33")
	case "opencode models":
		fmt.Println("mine/fake\nmine/other")
	case "grok --version":
		fmt.Println("grok 1.0.41 (abc)")
	case "grok models":
		fmt.Print("You are using XAI_API_KEY.\n\nDefault model: fake\n\nAvailable models:\n  - grok-4.6\n  * fake (default)\n")
		if strings.Contains(flags, ",composer,") {
			fmt.Println("  - grok-composer-2.5-fast")
		}
	default:
		return false
	}
	return true
}
