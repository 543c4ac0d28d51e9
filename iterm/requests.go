package iterm

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// everywhere is the session of subscriptions that cover all sessions, also
// those to come.
const everywhere = "all"

func askNotification(n *api.NotificationRequest) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_NotificationRequest{NotificationRequest: n},
	}}
}

func subscribe(kind api.NotificationType, session string, on bool) *call {
	return askNotification(&api.NotificationRequest{
		Session: proto.String(session), Subscribe: proto.Bool(on), NotificationType: kind.Enum(),
	})
}

// subscribePrompts asks for all three kinds of prompt events at once: a second
// subscription with other modes would be ignored.
func subscribePrompts() *call {
	return askNotification(&api.NotificationRequest{
		Session: proto.String(everywhere), Subscribe: proto.Bool(true),
		NotificationType: api.NotificationType_NOTIFY_ON_PROMPT.Enum(),
		Arguments: &api.NotificationRequest_PromptMonitorRequest{PromptMonitorRequest: &api.PromptMonitorRequest{
			Modes: []api.PromptMonitorMode{
				api.PromptMonitorMode_PROMPT, api.PromptMonitorMode_COMMAND_START, api.PromptMonitorMode_COMMAND_END,
			},
		}},
	})
}

func subscribeVariable(name string) *call {
	return askNotification(&api.NotificationRequest{
		Session: proto.String(everywhere), Subscribe: proto.Bool(true),
		NotificationType: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE.Enum(),
		Arguments: &api.NotificationRequest_VariableMonitorRequest{VariableMonitorRequest: &api.VariableMonitorRequest{
			Name: proto.String(name), Scope: api.VariableScope_SESSION.Enum(), Identifier: proto.String(everywhere),
		}},
	})
}

// askLayout is a call that reads the topology into the state.
func (l *link) askLayout() *call {
	return &call{
		request: &api.ClientOriginatedMessage{
			Submessage: &api.ClientOriginatedMessage_ListSessionsRequest{ListSessionsRequest: &api.ListSessionsRequest{}},
		},
		apply: func(m *api.ServerOriginatedMessage) error {
			if r := m.GetListSessionsResponse(); r != nil {
				return l.state.setLayout(r)
			}
			return nil
		},
	}
}

// askFocus is a call that reads the focus into the state.
func (l *link) askFocus() *call {
	return &call{
		request: &api.ClientOriginatedMessage{Submessage: &api.ClientOriginatedMessage_FocusRequest{FocusRequest: &api.FocusRequest{}}},
		apply: func(m *api.ServerOriginatedMessage) error {
			l.state.setFocus(m.GetFocusResponse())
			return nil
		},
	}
}

func askBroadcastDomains() *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_GetBroadcastDomainsRequest{
			GetBroadcastDomainsRequest: &api.GetBroadcastDomainsRequest{},
		},
	}}
}

func askVariables(id terminal.ID, names []string) *call {
	return &call{names: names, request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_VariableRequest{VariableRequest: &api.VariableRequest{
			Scope: &api.VariableRequest_SessionId{SessionId: string(id)}, Get: names,
		}},
	}}
}

func askAppVariables(names []string) *call {
	return &call{names: names, request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_VariableRequest{VariableRequest: &api.VariableRequest{
			Scope: &api.VariableRequest_App{App: true}, Get: names,
		}},
	}}
}

func askPrompt(id terminal.ID, promptID string) *call {
	request := &api.GetPromptRequest{Session: proto.String(string(id))}
	if promptID != "" {
		request.UniquePromptId = proto.String(promptID)
	}
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_GetPromptRequest{GetPromptRequest: request},
	}}
}

func askPromptsFrom(id terminal.ID, promptID string) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_ListPromptsRequest{ListPromptsRequest: &api.ListPromptsRequest{
			Session: proto.String(string(id)), FirstUniqueId: proto.String(promptID),
		}},
	}}
}

func askBuffer(id terminal.ID, lines *api.LineRange) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_GetBufferRequest{GetBufferRequest: &api.GetBufferRequest{
			Session: proto.String(string(id)), LineRange: lines, IncludeStyles: proto.Bool(false),
		}},
	}}
}

func askLineNumbers(id terminal.ID) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_GetPropertyRequest{GetPropertyRequest: &api.GetPropertyRequest{
			Identifier: &api.GetPropertyRequest_SessionId{SessionId: string(id)}, Name: proto.String("number_of_lines"),
		}},
	}}
}

func askSend(id terminal.ID, text string) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_SendTextRequest{SendTextRequest: &api.SendTextRequest{
			Session: proto.String(string(id)), Text: proto.String(text), SuppressBroadcast: proto.Bool(true),
		}},
	}}
}

func askClose(of group, force bool) *call {
	request := &api.CloseRequest{Force: proto.Bool(force)}
	switch {
	case of.tab != "":
		request.Target = &api.CloseRequest_Tabs{Tabs: &api.CloseRequest_CloseTabs{TabIds: []string{of.tab}}}
	case of.window != "":
		request.Target = &api.CloseRequest_Windows{Windows: &api.CloseRequest_CloseWindows{WindowIds: []string{of.window}}}
	default:
		request.Target = &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: []string{string(of.session)}}}
	}
	return &call{request: &api.ClientOriginatedMessage{Submessage: &api.ClientOriginatedMessage_CloseRequest{CloseRequest: request}}}
}

// askProfiles asks for names, of all profiles or of those given.
func askProfiles(guids ...string) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_ListProfilesRequest{
			ListProfilesRequest: &api.ListProfilesRequest{Properties: []string{"Guid", "Name"}, Guids: guids},
		},
	}}
}

func askDefaultProfile() *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_PreferencesRequest{PreferencesRequest: &api.PreferencesRequest{
			Requests: []*api.PreferencesRequest_Request{{
				Request: &api.PreferencesRequest_Request_GetDefaultProfileRequest{
					GetDefaultProfileRequest: &api.PreferencesRequest_Request_GetDefaultProfile{},
				},
			}},
		}},
	}}
}

func askActivate(id terminal.ID, how activation) *call {
	request := &api.ActivateRequest{
		Identifier:       &api.ActivateRequest_SessionId{SessionId: string(id)},
		OrderWindowFront: proto.Bool(how.front), SelectTab: proto.Bool(how.tab), SelectSession: proto.Bool(how.session),
	}
	if how.app {
		request.ActivateApp = &api.ActivateRequest_App{RaiseAllWindows: proto.Bool(false), IgnoringOtherApps: proto.Bool(true)}
	}
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_ActivateRequest{ActivateRequest: request},
	}}
}

// askSetVariable sets a variable of a session to a JSON text; "null" unsets it.
func askSetVariable(id terminal.ID, name, value string) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_VariableRequest{VariableRequest: &api.VariableRequest{
			Scope: &api.VariableRequest_SessionId{SessionId: string(id)},
			Set:   []*api.VariableRequest_Set{{Name: proto.String(name), Value: proto.String(value)}},
		}},
	}}
}

// askMethod calls a function of a session. Names and texts of its arguments take turns.
func askMethod(id terminal.ID, function string, arguments ...string) *call {
	invocation := function + "("
	for i := 0; i < len(arguments); i += 2 {
		if i > 0 {
			invocation += ", "
		}
		invocation += arguments[i] + ": " + quote(arguments[i+1])
	}
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_InvokeFunctionRequest{InvokeFunctionRequest: &api.InvokeFunctionRequest{
			Context:    &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: proto.String(string(id))}},
			Invocation: proto.String(invocation + ")"),
		}},
	}}
}

func askProfileOf(id terminal.ID, keys ...string) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_GetProfilePropertyRequest{GetProfilePropertyRequest: &api.GetProfilePropertyRequest{
			Session: proto.String(string(id)), Keys: keys,
		}},
	}}
}

func askSize(id terminal.ID, rows, columns int) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_SetPropertyRequest{SetPropertyRequest: &api.SetPropertyRequest{
			Identifier: &api.SetPropertyRequest_SessionId{SessionId: string(id)}, Name: proto.String("grid_size"),
			JsonValue: proto.String(fmt.Sprintf(`{"width":%d,"height":%d}`, columns, rows)),
		}},
	}}
}

func askTabLayout(tab string, root *api.SplitTreeNode) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_SetTabLayoutRequest{SetTabLayoutRequest: &api.SetTabLayoutRequest{
			Root: root, TabId: proto.String(tab),
		}},
	}}
}
