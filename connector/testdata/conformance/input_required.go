package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A dialogue answers a request of 2026-07-28 with what it must know first, a
// round at a time, until the client has told all.
type dialogue struct {
	name, about string
	rounds      []mcp.InputRequestMap
	sealed      bool // the client carries a state from round to round
}

var dialogues = []dialogue{
	{
		name:   "test_input_required_result_elicitation",
		about:  "Asks for a name",
		rounds: []mcp.InputRequestMap{{"user_name": askName}},
	},
	{
		name:   "test_input_required_result_sampling",
		about:  "Asks the model",
		rounds: []mcp.InputRequestMap{{"capital_question": sample("Which city is the capital of Norway?")}},
	},
	{
		name:   "test_input_required_result_list_roots",
		about:  "Asks for the roots",
		rounds: []mcp.InputRequestMap{{"client_roots": &mcp.ListRootsParams{}}},
	},
	{
		name:   "test_input_required_result_request_state",
		about:  "Asks for consent and knows its state again",
		rounds: []mcp.InputRequestMap{{"confirm": askConsent}},
		sealed: true,
	},
	{
		name:   "test_input_required_result_tampered_state",
		about:  "Asks for consent and refuses a foreign state",
		rounds: []mcp.InputRequestMap{{"confirm": askConsent}},
		sealed: true,
	},
	{
		name:   "test_input_required_result_multiple_inputs",
		about:  "Asks the user, the model and for the roots at once",
		rounds: []mcp.InputRequestMap{everything},
		sealed: true,
	},
	{
		name:   "test_input_required_result_multi_round",
		about:  "Asks for a name, then for a colour",
		rounds: []mcp.InputRequestMap{{"step1": askName}, {"step2": ask("Which colour?", "color", "string")}},
		sealed: true,
	},
	{
		name:   "test_input_required_result_capabilities",
		about:  "Asks for what the client can give",
		rounds: []mcp.InputRequestMap{everything},
	},
	{
		name:   "test_missing_capability",
		about:  "Cannot do without sampling",
		rounds: []mcp.InputRequestMap{{"word": sample("Say a word.")}},
	},
	{
		name:   "test_streaming_elicitation",
		about:  "Asks for a name in its result, not in a request of its own",
		rounds: []mcp.InputRequestMap{{"user_name": askName}},
	},
}

var (
	askName    = ask("Who are you?", "name", "string")
	askConsent = ask("Go on?", "ok", "boolean")
	everything = mcp.InputRequestMap{"user_name": askName, "greeting": sample("Greet somebody."), "client_roots": &mcp.ListRootsParams{}}
)

// ask returns a question to the user with one required field.
func ask(question, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: question, RequestedSchema: map[string]any{
		"type":       "object",
		"properties": map[string]any{field: map[string]any{"type": kind}},
		"required":   []string{field},
	}}
}

// sample returns a question to the model.
func sample(question string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text(question)}}}
}

// A step of a dialogue is what to ask now, or, without asks, the end of it.
type step struct {
	asks  mcp.InputRequestMap
	state string
	text  string
}

// next returns the step after answers and state, which came with the request.
// What was asked and not answered is asked again; answers to nothing asked do
// not count; a state that is not of this dialogue is an error of the protocol.
func (d dialogue) next(can *mcp.ClientCapabilities, answers mcp.InputResponseMap, state string) (step, error) {
	round, err := d.reached(state)
	if err != nil {
		return step{}, err
	}
	if d.sealed && state == "" {
		answers = nil // nothing was asked yet
	}
	asks, err := within(can, d.rounds[round])
	if err != nil {
		return step{}, err
	}
	if answered(asks, answers) {
		if round++; round == len(d.rounds) {
			return d.end(answers)
		}
		if asks, err = within(can, d.rounds[round]); err != nil {
			return step{}, err
		}
	}
	s := step{asks: asks}
	if d.sealed {
		s.state = d.seals()[round]
	}
	return s, nil
}

// reached returns the round that state was sealed for; without one, the first.
func (d dialogue) reached(state string) (int, error) {
	if !d.sealed || state == "" {
		return 0, nil
	}
	for round, seal := range d.seals() {
		if hmac.Equal([]byte(seal), []byte(state)) {
			return round, nil
		}
	}
	return 0, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not of this dialogue"}
}

func (d dialogue) end(answers mcp.InputResponseMap) (step, error) {
	told, err := json.Marshal(answers)
	if err != nil {
		return step{}, err
	}
	if d.sealed {
		return step{text: fmt.Sprintf("state-ok, told %s", told)}, nil
	}
	return step{text: fmt.Sprintf("told %s", told)}, nil
}

// sealing is the key of this process: a state of another one is foreign.
var sealing = rand.Text()

// seals returns the state of every round.
func (d dialogue) seals() []string {
	var seals []string
	for round := range d.rounds {
		mac := hmac.New(sha256.New, []byte(sealing))
		fmt.Fprintf(mac, "%s %d", d.name, round)
		seals = append(seals, hex.EncodeToString(mac.Sum(nil)))
	}
	return seals
}

func answered(asks mcp.InputRequestMap, answers mcp.InputResponseMap) bool {
	for id := range asks {
		if answers[id] == nil {
			return false
		}
	}
	return true
}

// within returns those of asks that a client can answer. If it can answer none,
// the error names what it lacks.
func within(can *mcp.ClientCapabilities, asks mcp.InputRequestMap) (mcp.InputRequestMap, error) {
	possible, lacks := mcp.InputRequestMap{}, map[string]any{}
	for id, a := range asks {
		if capability, has := needs(a, can); has {
			possible[id] = a
		} else {
			lacks[capability] = struct{}{}
		}
	}
	if len(possible) > 0 {
		return possible, nil
	}
	data, err := json.Marshal(map[string]any{"requiredCapabilities": lacks})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client lacks a capability", Data: data}
}

// needs names the capability that a is for, and reports whether can has it.
func needs(a mcp.InputRequest, can *mcp.ClientCapabilities) (capability string, has bool) {
	switch a.(type) {
	case *mcp.ElicitParams:
		return "elicitation", can != nil && can.Elicitation != nil
	case *mcp.CreateMessageParams:
		return "sampling", can != nil && can.Sampling != nil
	default:
		return "roots", can != nil && can.RootsV2 != nil
	}
}

// call is the dialogue as a tool.
func (d dialogue) call(_ context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, error) {
	s, err := d.next(req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if s.asks != nil {
		return &mcp.CallToolResult{InputRequests: s.asks, RequestState: s.state}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{text(s.text)}}, nil
}
