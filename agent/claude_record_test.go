package agent

import (
	"strings"
	"testing"
	"time"
)

func TestAnEndThatItsHookCouldNotWriteIsInTheTranscript(t *testing.T) { // FOLLOW-1, FOLLOW-3
	for _, flag := range []string{"lost", "unheard"} {
		t.Run(flag, func(t *testing.T) {
			w := newWorld(t)
			r := w.launch("claude", flag, "")
			w.ends(r.SessionID, "SAY:kept all the same", Done)
			if got := w.result(r.SessionID); got != "kept all the same" {
				t.Errorf("answer %q", got)
			}
			if got := w.ends(r.SessionID, "FAIL:429 Too Many Requests", RateLimited); !strings.Contains(got.Reason, "unknown") {
				t.Errorf("reason %q", got.Reason)
			}
			w.ends(r.SessionID, "FAIL:it broke", Failed)
			sent := w.send(r.SessionID, "SLOW:600000")
			w.keys(r.SessionID, "\x1b")
			if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Interrupted || strings.Contains(got.Reason, "reported no end") {
				t.Errorf("%+v", got)
			}
			w.ends(r.SessionID, "SAY:the last", Done)
			if got := w.result(r.SessionID); got != "the last" {
				t.Errorf("answer %q", got)
			}
		})
	}
}

func TestATranscriptTellsOfATurnOnlyWhatIsOfIt(t *testing.T) { // FOLLOW-3, FOLLOW-4
	const (
		prompt = `{"type":"user","promptId":"p","origin":{"kind":"human"},"message":{"content":"go on"}}` + "\n"
		other  = `{"type":"user","promptId":"o","origin":{"kind":"human"},"message":{"content":"other"}}` + "\n"
		answer = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"fine"}]}}` + "\n"
		ends   = `{"type":"system","subtype":"turn_duration"}` + "\n"
		stops  = `{"type":"user","promptId":"p","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
		foreig = `{"type":"user","promptId":"o","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
		quotes = `{"type":"user","promptId":"p","origin":{"kind":"human"},"message":{"content":"[Request interrupted by user]"}}` + "\n"
		asks   = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"Bash"}]}}` + "\n"
		result = `{"type":"user","promptId":"p","message":{"content":[{"type":"tool_result","content":"[Request interrupted by user]"}]}}` + "\n"
		part   = `{"type":"system","subtype":"turn_duration","isSidechain":true}` + "\n"
		old    = `{"type":"user","promptId":"q","timestamp":"2020-01-02T03:04:05Z","origin":{"kind":"human"},"message":{"content":"go on"}}` + "\n"
	)
	accepted := &turn{vendorTurn: "p", accepted: true, loose: looseDigest("go on"), began: time.Now()}
	entered := &turn{entered: true, loose: looseDigest("go on"), began: time.Now()}
	for name, one := range map[string]struct {
		turn       *turn
		transcript string
		want       []kind
	}{
		"an answer":                       {accepted, other + answer + ends + prompt + answer + ends, []kind{done}},
		"an answer, and another turn":     {accepted, prompt + answer + ends + other + foreig, []kind{done}},
		"an answer that is being written": {accepted, other + answer + ends + prompt + answer, nil},
		"half a line":                     {accepted, prompt + answer + ends[:20], nil},
		"an end without an answer":        {accepted, prompt + ends, []kind{done}},
		"an interruption":                 {accepted, prompt + answer + stops, []kind{interrupted}},
		"an interruption of another":      {accepted, prompt + answer + foreig, nil},
		"an interruption in a prompt":     {accepted, quotes + answer, nil},
		"an interruption in a result":     {accepted, prompt + asks + result, nil},
		"an end of a part":                {accepted, prompt + answer + part, nil},
		"another prompt without an end":   {accepted, prompt + answer + other + answer + ends, nil},
		"nothing of it":                   {accepted, other + answer + ends, nil},
		"its prompt alone":                {entered, other + answer + ends + prompt, []kind{prompted}},
		"its prompt, and an answer":       {entered, prompt + answer + ends, []kind{prompted, done}},
		"the same prompt, long ago":       {entered, old + answer + ends, nil},
		"the same prompt, twice":          {entered, old + answer + ends + prompt + answer, []kind{prompted}},
		"no record":                       {entered, "", nil},
	} {
		var got []kind
		for _, e := range one.turn.transcribed([]byte(one.transcript)) {
			if got = append(got, e.Kind); e.VendorTurn != "p" || e.Kind == done && e.Text != "fine" && name != "an end without an answer" {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if len(got) != len(one.want) || len(got) > 0 && got[len(got)-1] != one.want[len(got)-1] {
			t.Errorf("%s: %q, want %q", name, got, one.want)
		}
	}
}
