package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A handler answers a call; in has passed the tool's schema. Its error becomes
// an error result, unless it is one of the protocol.
type handler func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error)

type tool struct {
	name, about string
	schema      string // of the input; "" takes nothing
	call        handler
}

var tools = []tool{
	{"test_simple_text", "Answers with a text", "", says(text("A few words."))},
	{"test_image_content", "Answers with an image", "", says(picture())},
	{"test_audio_content", "Answers with a sound", "", says(sound())},
	{"test_embedded_resource", "Answers with a resource", "", says(document("test://embedded-resource", "text/plain", "Words in a resource."))},
	{"test_multiple_content_types", "Answers with a text, an image and a resource", "", says(
		text("Three things:"), picture(), document("test://mixed-content-resource", "application/json", `{"three":3}`))},
	{"test_tool_with_logging", "Logs while it works", "", logs},
	{"test_logging_tool", "Logs while it works, to who asked for it", "", logs},
	{"test_tool_with_progress", "Tells how far it is", "", progresses},
	{"test_error_handling", "Fails", "", fails},
	{"test_reconnection", "Hangs up before it answers", "", hangsUp},
	{"test_sampling", "Asks the model", required("prompt"), samples},
	{"test_elicitation", "Asks the user who they are", required("message"), elicits(person)},
	{"test_elicitation_sep1034_defaults", "Asks the user with defaults", "", elicits(defaults)},
	{"test_elicitation_sep1330_enums", "Asks the user to choose", "", elicits(choices)},
	{"json_schema_2020_12_tool", "Takes what only JSON Schema 2020-12 can say", rich, says(text("It fits."))},
	{"test_header_parameter", "Takes an argument that is also in a header", mirrored, says(text("They agree."))},
}

func registerTools(m *mcp.Server) {
	for _, t := range tools {
		t.add(m)
	}
	for _, d := range dialogues {
		tool{d.name, d.about, "", d.call}.add(m)
	}
	tool{"test_trigger_tool_change", "Changes the list of tools", "", func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		guest := tool{"test_guest", "Comes and goes", "", says(text("Hello."))}
		guest.add(m)
		m.RemoveTools(guest.name)
		return says(text("One came and went."))(ctx, req, in)
	}}.add(m)
	tool{"test_trigger_prompt_change", "Changes the list of prompts", "", func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		guest := &mcp.Prompt{Name: "test_guest", Description: "Comes and goes"}
		m.AddPrompt(guest, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: fromUser(text("Hello."))}, nil
		})
		m.RemovePrompts(guest.Name)
		return says(text("One came and went."))(ctx, req, in)
	}}.add(m)
}

func (t tool) add(m *mcp.Server) {
	schema := t.schema
	if schema == "" {
		schema = `{"type":"object"}`
	}
	listed := &mcp.Tool{Name: t.name, Description: t.about, InputSchema: json.RawMessage(schema)}
	mcp.AddTool(m, listed, func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
		res, err := t.call(ctx, req, in)
		return res, nil, err
	})
}

func says(contents ...mcp.Content) handler {
	return func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: contents}, nil
	}
}

func fails(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
	return nil, errors.New("it was to fail")
}

// pause keeps notifications apart: the suite wants to see them one by one.
const pause = 50 * time.Millisecond

func logs(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
	for _, said := range []string{"begun", "half done", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: req.Params.Name, Data: said}); err != nil {
			return nil, err
		}
		time.Sleep(pause)
	}
	return says(text("It logged."))(ctx, req, in)
}

func progresses(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
	for done := 0.0; done <= 100; done += 50 {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
				return nil, err
			}
		}
		time.Sleep(pause)
	}
	return says(text("It is all done."))(ctx, req, in)
}

// hangsUp ends the response stream, if there is one, and then answers: the
// client is to come back for it.
func hangsUp(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: pause})
	}
	time.Sleep(2 * pause)
	return says(text("You are back."))(ctx, req, in)
}

// samples asks in a request of its own, as clients before 2026-07-28 are asked.
func samples(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
	question, _ := in["prompt"].(string)
	answer, err := req.Session.CreateMessage(ctx, sample(question))
	if err != nil {
		return nil, err
	}
	return says(answer.Content)(ctx, req, in)
}

// elicits asks with a form in a request of its own, as [samples] does. The
// question is the argument message, if the tool takes one.
func elicits(form string) handler {
	return func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		question, ok := in["message"].(string)
		if !ok {
			question = "Please fill in"
		}
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: question, RequestedSchema: json.RawMessage(form)})
		if err != nil {
			return nil, err
		}
		return says(text(fmt.Sprintf("%s: %v", answer.Action, answer.Content)))(ctx, req, in)
	}
}
