package host

import (
	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/terminal"
)

// promptMessage tells a prompt as GetPrompt does. The session's lock is held.
func (s *session) promptMessage(p shellint.Prompt) *api.GetPromptResponse {
	places := s.marks.places
	m := &api.GetPromptResponse{
		Status:            api.GetPromptResponse_OK.Enum(),
		UniquePromptId:    ptr(s.promptGUID(p.ID)),
		WorkingDirectory:  ptr(clean(p.Cwd)),
		ExcludedSubranges: excluded(places.Further(p)),
	}
	line, known := places.Command(p)
	if start, ok := places.Locate(p.Start); ok && known {
		m.PromptRange = coordRange(terminal.Span{Start: start, End: line.Start})
	}
	switch p.State {
	case terminal.Running:
		m.PromptState = api.GetPromptResponse_RUNNING.Enum()
	case terminal.Finished:
		m.PromptState = api.GetPromptResponse_FINISHED.Enum()
		if p.Exit != nil {
			m.ExitStatus = ptr(uint32(*p.Exit))
		}
	default:
		m.PromptState = api.GetPromptResponse_EDITING.Enum()
		if known {
			m.CommandRange = coordRange(line)
			m.Command = ptr(clean(places.Line(p)))
		}
		return m
	}
	m.Command = ptr(clean(p.Command))
	if output := places.Output(p); output.Known {
		m.OutputRange = coordRange(output.Span)
		if places.Rest(p) != "" { // the row that its rest was in, which termpilot.rest.ID tells
			end := output.Span.End
			row := terminal.Span{Start: end, End: terminal.Point{Row: end.Row + 1}}
			m.ExcludedSubranges = append(m.ExcludedSubranges, coordRange(row))
		}
		if known {
			m.CommandRange = coordRange(line)
		}
	}
	return m
}

// excluded tells the prompts for further lines of a command as GetPrompt does.
func excluded(spans []terminal.Span) []*api.CoordRange {
	var list []*api.CoordRange
	for _, span := range spans {
		list = append(list, coordRange(span))
	}
	return list
}

func (s *session) cursor() terminal.Point {
	c := s.term.Cursor()
	return terminal.Point{Row: c.Row, Column: c.Column}
}

func coordRange(s terminal.Span) *api.CoordRange {
	return &api.CoordRange{Start: coord(s.Start), End: coord(s.End)}
}

func coord(p terminal.Point) *api.Coord {
	return &api.Coord{X: ptr(int32(p.Column)), Y: ptr(p.Row)}
}
