package host

import (
	"termpilot/fault"
	"termpilot/iterm/api"
)

// sendText queues text for one session, for every one of its broadcast domain,
// or for all. The answer means queued; text that finds no room is an error,
// and none of it is sent.
func sendText(c *client, in *api.SendTextRequest) (*api.SendTextResponse, error) {
	h := c.host
	targets := h.chosen(in.GetSession())
	if len(targets) == 0 {
		return &api.SendTextResponse{Status: api.SendTextResponse_SESSION_NOT_FOUND.Enum()}, nil
	}
	alone := in.GetSuppressBroadcast() || in.GetSession() == everySession
	for i, s := range targets {
		if h.typeInto(s, []byte(in.GetText()), alone) || i > 0 {
			continue
		}
		if s.facts.ended() != nil {
			return &api.SendTextResponse{Status: api.SendTextResponse_SESSION_NOT_FOUND.Enum()}, nil
		}
		return nil, &fault.Error{
			Op: "send", Session: s.id, Code: fault.Refused, Detail: "the program does not read its input, and the queue is full",
			Hint: "interrupt the program, or wait until it reads",
		}
	}
	return &api.SendTextResponse{Status: api.SendTextResponse_OK.Enum()}, nil
}

func inject(c *client, in *api.InjectRequest) (*api.InjectResponse, error) {
	out := &api.InjectResponse{}
	for _, id := range in.GetSessionId() {
		targets := c.host.chosen(id)
		if len(targets) == 0 {
			out.Status = append(out.Status, api.InjectResponse_SESSION_NOT_FOUND)
			continue
		}
		for _, s := range targets {
			s.inject(in.GetData(), c.host.frozen.holds(c))
		}
		out.Status = append(out.Status, api.InjectResponse_OK)
	}
	return out, nil
}

func getPrompt(c *client, in *api.GetPromptRequest) (*api.GetPromptResponse, error) {
	s, ok := c.host.readable(in.GetSession())
	if !ok {
		return &api.GetPromptResponse{Status: api.GetPromptResponse_SESSION_NOT_FOUND.Enum()}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.promptBy(in.GetUniquePromptId())
	if !ok {
		return &api.GetPromptResponse{Status: api.GetPromptResponse_PROMPT_UNAVAILABLE.Enum()}, nil
	}
	return s.promptMessage(p), nil
}

func listPrompts(c *client, in *api.ListPromptsRequest) (*api.ListPromptsResponse, error) {
	s, ok := c.host.readable(in.GetSession())
	if !ok {
		return &api.ListPromptsResponse{Status: api.ListPromptsResponse_SESSION_NOT_FOUND.Enum()}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &api.ListPromptsResponse{Status: api.ListPromptsResponse_OK.Enum()}
	started := in.GetFirstUniqueId() == ""
	for _, p := range s.marks.machine.Prompts() {
		id := s.promptGUID(p.ID)
		started = started || id == in.GetFirstUniqueId()
		if started {
			out.UniquePromptId = append(out.UniquePromptId, id)
		}
		if id == in.GetLastUniqueId() {
			break
		}
	}
	return out, nil
}
