package host

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

const (
	maxSubSelections = 1024
	maxSelectedRows  = 10_000 // of the text that the variable selection tells
)

// selectionRequest reads or sets what is selected in a session. Nobody selects
// here but clients; it is theirs to share.
func selectionRequest(c *client, in *api.SelectionRequest) (*api.SelectionResponse, error) {
	answer := func(status api.SelectionResponse_Status) (*api.SelectionResponse, error) {
		return &api.SelectionResponse{Status: status.Enum()}, nil
	}
	switch r := in.GetRequest().(type) {
	case *api.SelectionRequest_GetSelectionRequest_:
		s, ok := c.host.readable(r.GetSelectionRequest.GetSessionId())
		if !ok { // as the API's own server says it
			return answer(api.SelectionResponse_REQUEST_MALFORMED)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return &api.SelectionResponse{
			Status: api.SelectionResponse_OK.Enum(),
			Response: &api.SelectionResponse_GetSelectionResponse_{GetSelectionResponse: &api.SelectionResponse_GetSelectionResponse{
				Selection: &api.Selection{SubSelections: s.selection()},
			}},
		}, nil
	case *api.SelectionRequest_SetSelectionRequest_:
		s, ok := c.host.live(r.SetSelectionRequest.GetSessionId())
		if !ok {
			return answer(api.SelectionResponse_INVALID_SESSION)
		}
		if !s.choose(r.SetSelectionRequest.GetSelection().GetSubSelections()) {
			return answer(api.SelectionResponse_INVALID_RANGE)
		}
		return &api.SelectionResponse{
			Status: api.SelectionResponse_OK.Enum(),
			Response: &api.SelectionResponse_SetSelectionResponse_{
				SetSelectionResponse: &api.SelectionResponse_SetSelectionResponse{},
			},
		}, nil
	}
	return answer(api.SelectionResponse_REQUEST_MALFORMED)
}

// choose selects. false, and nothing changes, when a range is none or not of
// rows that are kept.
func (s *session) choose(list []*api.SubSelection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(list) > maxSubSelections {
		return false
	}
	chosen := make([]*api.SubSelection, 0, len(list))
	for _, sub := range list {
		if !s.holds(sub.GetWindowedCoordRange()) {
			return false
		}
		chosen = append(chosen, proto.CloneOf(sub))
	}
	s.selected = chosen
	s.tellVariables()
	return true
}

// holds reports whether a range lies within the rows that are kept. mu is held.
func (s *session) holds(w *api.WindowedCoordRange) bool {
	columns, height := s.term.Size()
	start, end := w.GetCoordRange().GetStart(), w.GetCoordRange().GetEnd()
	past := s.term.Dropped() + int64(s.term.History()+height)
	at, length := w.GetColumns().GetLocation(), w.GetColumns().GetLength()
	within := func(c *api.Coord) bool { return c.GetX() >= 0 && int(c.GetX()) <= columns && c.GetY() < past }
	return within(start) && within(end) && start.GetY() >= s.term.Dropped() &&
		(start.GetY() < end.GetY() || start.GetY() == end.GetY() && start.GetX() <= end.GetX()) &&
		at >= 0 && length >= 0 && at <= int64(columns) && length <= int64(columns)
}

// selection is what is selected. A row that is gone takes it along. mu is held.
func (s *session) selection() []*api.SubSelection {
	for _, sub := range s.selected {
		if !s.holds(sub.GetWindowedCoordRange()) {
			s.selected = nil
		}
	}
	return s.selected
}

// selectionText is the selected text: wrapped rows joined, others on lines of
// their own, and so the parts that are not connected. mu is held.
func (s *session) selectionText() string {
	var b strings.Builder
	list, rows := s.selection(), 0
	for i, sub := range list {
		box := sub.GetWindowedCoordRange().GetColumns().GetLength() > 0
		lines := s.contents(sub.GetWindowedCoordRange(), false)
		if rows += len(lines); rows > maxSelectedRows {
			return b.String()
		}
		for j, line := range lines {
			b.WriteString(strings.ReplaceAll(line.GetText(), "\x00", " "))
			if j < len(lines)-1 && (box || line.GetContinuation() == api.LineContents_CONTINUATION_HARD_EOL) {
				b.WriteByte('\n')
			}
		}
		if i < len(list)-1 && !sub.GetConnected() {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
