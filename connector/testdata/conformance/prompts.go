package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompts are answered with one message of the user per content.
var prompts = []struct {
	name, about string
	arguments   []string // all required
	say         func(in map[string]string) []mcp.Content
}{
	{"test_simple_prompt", "A prompt of one text", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("Say hello.")}
	}},
	{"test_prompt_with_arguments", "A prompt that repeats its arguments", []string{"arg1", "arg2"}, func(in map[string]string) []mcp.Content {
		return []mcp.Content{text(fmt.Sprintf("Compare %q with %q.", in["arg1"], in["arg2"]))}
	}},
	{"test_prompt_with_embedded_resource", "A prompt that carries a resource", []string{"resourceUri"}, func(in map[string]string) []mcp.Content {
		return []mcp.Content{document(in["resourceUri"], "text/plain", "The words of the resource."), text("Sum up the resource.")}
	}},
	{"test_prompt_with_image", "A prompt that carries an image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{picture(), text("Name the colour.")}
	}},
}

func registerPrompts(m *mcp.Server) {
	for _, p := range prompts {
		listed := &mcp.Prompt{Name: p.name, Description: p.about}
		for _, name := range p.arguments {
			listed.Arguments = append(listed.Arguments, &mcp.PromptArgument{Name: name, Required: true})
		}
		m.AddPrompt(listed, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: fromUser(p.say(req.Params.Arguments)...)}, nil
		})
	}
	asking := dialogue{
		name:   "test_input_required_result_prompt",
		about:  "A prompt that asks what it is about",
		rounds: []mcp.InputRequestMap{{"user_context": ask("What is the prompt about?", "context", "string")}},
	}
	m.AddPrompt(&mcp.Prompt{Name: asking.name, Description: asking.about}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		s, err := asking.next(req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState)
		if err != nil || s.asks != nil {
			return &mcp.GetPromptResult{InputRequests: s.asks, RequestState: s.state}, err
		}
		return &mcp.GetPromptResult{Messages: fromUser(text(s.text))}, nil
	})
}

func fromUser(contents ...mcp.Content) []*mcp.PromptMessage {
	var messages []*mcp.PromptMessage
	for _, c := range contents {
		messages = append(messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return messages
}

// complete offers the words that begin as the argument does.
func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	found := []string{} // not null
	for _, word := range []string{"park", "party", "test", "text"} {
		if strings.HasPrefix(word, req.Params.Argument.Value) {
			found = append(found, word)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: found, Total: len(found)}}, nil
}
