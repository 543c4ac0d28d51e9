package closing

import (
	"fmt"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/pilot"
)

// noNames are words that mean no session in particular.
var noNames = []string{"", "active", "all", "any", "current", "focused", "selected", "*"}

// selected returns what a request means among the sessions that live. Ids are
// exact; a name is compared without blanks around it and in whatever case.
func selected(req Request, all []pilot.Seen) (Target, []pilot.Seen, error) {
	refuse := func(code fault.Code, detail, hint string) (Target, []pilot.Seen, error) {
		return Target{}, nil, &fault.Error{Op: string(req.Operation), Session: req.SessionID, Code: code, Detail: detail, Hint: hint}
	}
	if req.Operation == CleanAll {
		if req.ID != "" || req.SessionID != "" || req.Name != "" {
			return refuse(fault.InvalidArgument, "clean_all_sessions takes no selector", "leave it out")
		}
		return targetOf("all", "", allowed(all)), allowed(all), nil
	}
	given := 0
	for _, word := range []string{req.ID, req.SessionID, req.Name} {
		if word != "" {
			given++
		}
	}
	if given != 1 {
		return refuse(fault.InvalidArgument, fmt.Sprintf("%d selectors are given; it takes exactly one", given), "pass an exact id, or a nickname")
	}
	for _, word := range []string{req.ID, req.SessionID, req.Name} {
		if word != "" && slices.Contains(noNames, strings.ToLower(strings.TrimSpace(word))) {
			return refuse(fault.InvalidArgument, fmt.Sprintf("%.40q means nothing in particular", word), "pass an exact id from list_sessions")
		}
	}
	kind := map[Operation]string{CloseSession: "session", CloseTab: "tab", CloseWindow: "window"}[req.Operation]
	if kind == "" {
		return refuse(fault.InvalidArgument, "there is no such operation", "use close_session, close_tab, close_window or clean_all_sessions")
	}
	if req.ID != "" && kind == "session" {
		return refuse(fault.InvalidArgument, "a session has no other id", "pass session_id")
	}
	anchor, id := pilot.Seen{}, req.ID
	if req.ID == "" {
		var err error
		if anchor, err = one(req, allowed(all)); err != nil {
			return Target{}, nil, err
		}
		id = map[string]string{"session": string(anchor.ID), "tab": anchor.Tab, "window": anchor.Window}[kind]
		if id == "" {
			return refuse(fault.Unsupported, "the terminal does not tell which "+kind+" the session is in", "close the session itself")
		}
	}
	var members []pilot.Seen
	backends := map[string]bool{}
	for _, s := range all {
		if anchor.On != nil && s.Session.Backend != anchor.Session.Backend {
			continue
		}
		if in := map[string]string{"session": string(s.ID), "tab": s.Tab, "window": s.Window}[kind]; in == id {
			members = append(members, s)
			backends[s.Session.Backend] = true
		}
	}
	switch {
	case len(members) > 0 && len(allowed(members)) == 0:
		return refuse(fault.NotAllowed, "the "+kind+" is outside this server's allowlist", "use a session that list_sessions shows")
	case len(members) == 0 && kind == "tab":
		return refuse(fault.TabNotFound, "no tab has exactly this id", "call list_sessions and pass a tab_id from it")
	case len(members) == 0:
		return refuse(fault.WindowNotFound, "no window has exactly this id", "call list_sessions and pass a window_id from it")
	case len(backends) > 1:
		return refuse(fault.InvalidArgument, "several terminals have a "+kind+" of this id", "pass the session_id of a session in it")
	}
	return targetOf(kind, id, members), members, nil
}

// one returns the session that a request names.
func one(req Request, all []pilot.Seen) (pilot.Seen, error) {
	var found []pilot.Seen
	for _, s := range all {
		if req.SessionID != "" && string(s.ID) == req.SessionID || req.Name != "" && strings.EqualFold(strings.TrimSpace(req.Name), strings.TrimSpace(s.Name)) {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := &fault.Error{Op: string(req.Operation), Session: req.SessionID, Code: fault.SessionNotFound, Detail: "no session has exactly this id", Hint: "call list_sessions and pass a session_id from it"}
	if req.Name != "" {
		e.Detail = "no session has exactly this nickname"
	}
	if len(found) > 1 {
		e.Code, e.Detail = fault.InvalidArgument, fmt.Sprintf("%d sessions have this nickname", len(found))
		e.Hint = "pass a session_id: "
		for i, s := range found {
			if i > 0 {
				e.Hint += ", "
			}
			e.Hint += string(s.ID)
		}
	}
	return pilot.Seen{}, e
}

func allowed(all []pilot.Seen) []pilot.Seen {
	var some []pilot.Seen
	for _, s := range all {
		if s.Allowed {
			some = append(some, s)
		}
	}
	return some
}

func targetOf(kind, id string, members []pilot.Seen) Target {
	t := Target{Kind: kind, ID: id, SessionIDs: []string{}}
	for _, s := range members {
		if s.Allowed { // what may not be touched is not named either
			t.SessionIDs = append(t.SessionIDs, string(s.ID))
		}
	}
	return t
}
