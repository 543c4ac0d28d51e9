package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

const exampleSchema = `{"type":"object","properties":{
	"session_id":{"type":"string"},
	"source":{"type":"string","enum":["screen","history"]},
	"reduce":{"type":"boolean"},
	"timeout_seconds":{"type":"integer"},
	"ratio":{"type":["null","number"]},
	"keys":{"type":"array","items":{"type":"string"}},
	"env":{"type":"object"}}}`

func TestWordsAreReadAsTheSchemaSays(t *testing.T) { // CLI-15
	got, err := arguments(json.RawMessage(exampleSchema), []string{
		"session_id=007", "source=history", "reduce=false", "timeout_seconds=10", "ratio=0.5",
		"keys=up,down", "keys=enter", `env={"A":"b=c"}`,
	})
	want := map[string]any{
		"session_id": "007", "source": "history", "reduce": false, "timeout_seconds": int64(10), "ratio": 0.5,
		"keys": []any{"up", "down", "enter"}, "env": map[string]any{"A": "b=c"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestAListMayHoldCommasAsJSON(t *testing.T) { // CLI-15
	got, err := arguments(json.RawMessage(exampleSchema), []string{`keys=["alt_,","enter"]`})
	if want := map[string]any{"keys": []any{"alt_,", "enter"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestWordsThatDoNotFitAreRefused(t *testing.T) { // CLI-16
	for _, words := range [][]string{
		{"session_id"},
		{"nonsense=1"},
		{"source=nonsense"},
		{"reduce=perhaps"},
		{"timeout_seconds=1.5"},
		{"timeout_seconds="},
		{"ratio=half"},
		{`keys=["up"`},
		{"env=A"},
		{"env=[]"},
		{"session_id=a", "session_id=b"},
	} {
		if got, err := arguments(json.RawMessage(exampleSchema), words); err == nil {
			t.Errorf("%q was read as %v", words, got)
		}
	}
}

func FuzzWordsAreReadOrRefused(f *testing.F) {
	f.Add("session_id=x", "keys=a,b")
	f.Add("env={}", `keys=[1,{"a":null}]`)
	f.Fuzz(func(t *testing.T, first, second string) {
		args, err := arguments(json.RawMessage(exampleSchema), []string{first, second})
		if err != nil {
			return
		}
		if _, err := json.Marshal(args); err != nil {
			t.Errorf("%q %q was read as what JSON cannot hold: %v", first, second, err)
		}
	})
}

func TestASingleWordIsALine(t *testing.T) {
	for _, words := range [][]string{{"ls | wc -l"}, {"grep", "a b"}} {
		want := map[int]string{1: "ls | wc -l", 2: "grep 'a b'"}[len(words)]
		if got := shellLine(words); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
