package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func checkMembers(t *testing.T, data []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	isObject := json.Unmarshal(data, &want) == nil && want != nil
	if isObject != IsObject(data) {
		t.Errorf("%q: object is %v, want %v", data, IsObject(data), isObject)
	}
	got := maps.Collect(Members(data)) // the last of equal names counts
	if len(got)+len(want) > 0 {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(data, &list) // nil of what is no array
	if parts := slices.Collect(elements(data)); len(parts)+len(list) > 0 {
		if diff := cmp.Diff(list, parts); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	}
}

func TestMembersAreThoseOfEncodingJSON(t *testing.T) { // MCP-2, MCP-4
	for _, data := range []string{
		`{}`, ` { } `, `null`, `7`, `"{"`, `[{"a":1}]`, `{"a":1}`, ` {"a" : 1 , "b":[1,{"c":"}"}],"a":{"x":"\"]}\\"} } `, "{\"a\":\n-1.5e3\t,\r\"b\":null}",
		`{"a":true,"\u0061":false,"é":"\ud83d\ude00","":""}`, `{"\"":"\\"}`, `{"a":[],"b":{},"c":[[]]}`, "{\"\xff\":1}",
		`[]`, ` [ ] `, `[1]`, ` [ 1 ,-2.5e3,"],",[[],{"a":"]"}],{} , null,true ] `,
	} {
		checkMembers(t, []byte(data))
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\"}"}],"\u0061" : {} ,"c":-1.5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if json.Valid(data) {
			checkMembers(t, data)
		}
	})
}
