package iterm

import (
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

func askSessions() *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_ListSessionsRequest{ListSessionsRequest: &api.ListSessionsRequest{}},
	}}
}

func askFocus() *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_FocusRequest{FocusRequest: &api.FocusRequest{}},
	}}
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

func askClose(id terminal.ID, force bool) *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_CloseRequest{CloseRequest: &api.CloseRequest{
			Target: &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: []string{string(id)}}},
			Force:  proto.Bool(force),
		}},
	}}
}

func askProfiles() *call {
	return &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_ListProfilesRequest{
			ListProfilesRequest: &api.ListProfilesRequest{Properties: []string{"Guid", "Name"}},
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
