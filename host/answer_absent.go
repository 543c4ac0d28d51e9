package host

import "termpilot/iterm/api"

// What needs a window, or iTerm2's own inside. It is refused with the status
// that the API has for it, so that a client knows at once.

// tmux: this host has no tmux connections.
func tmux(_ *client, in *api.TmuxRequest) (*api.TmuxResponse, error) {
	switch in.GetPayload().(type) {
	case nil:
		return &api.TmuxResponse{Status: api.TmuxResponse_INVALID_REQUEST.Enum()}, nil
	case *api.TmuxRequest_ListConnections_:
		return &api.TmuxResponse{
			Status:  api.TmuxResponse_OK.Enum(),
			Payload: &api.TmuxResponse_ListConnections_{ListConnections: &api.TmuxResponse_ListConnections{}},
		}, nil
	}
	return &api.TmuxResponse{Status: api.TmuxResponse_INVALID_CONNECTION_ID.Enum()}, nil
}

// registerTool: there is no toolbelt to show a tool in.
func registerTool(_ *client, in *api.RegisterToolRequest) (*api.RegisterToolResponse, error) {
	if in.GetName() == "" || in.GetIdentifier() == "" || in.GetURL() == "" {
		return &api.RegisterToolResponse{Status: api.RegisterToolResponse_REQUEST_MALFORMED.Enum()}, nil
	}
	return &api.RegisterToolResponse{Status: api.RegisterToolResponse_PERMISSION_DENIED.Enum()}, nil
}

// statusBarComponent: there is no status bar whose component could be named.
func statusBarComponent(c *client, in *api.StatusBarComponentRequest) (*api.StatusBarComponentResponse, error) {
	status := api.StatusBarComponentResponse_INVALID_IDENTIFIER
	if popover := in.GetOpenPopover(); popover == nil {
		status = api.StatusBarComponentResponse_REQUEST_MALFORMED
	} else if _, ok := c.host.live(popover.GetSessionId()); !ok {
		status = api.StatusBarComponentResponse_SESSION_NOT_FOUND
	}
	return &api.StatusBarComponentResponse{Status: status.Enum()}, nil
}

// colorPreset: colours are not this host's business, so it has no presets.
func colorPreset(_ *client, in *api.ColorPresetRequest) (*api.ColorPresetResponse, error) {
	switch in.GetRequest().(type) {
	case *api.ColorPresetRequest_ListPresets_:
		return &api.ColorPresetResponse{
			Status:   api.ColorPresetResponse_OK.Enum(),
			Response: &api.ColorPresetResponse_ListPresets_{ListPresets: &api.ColorPresetResponse_ListPresets{}},
		}, nil
	case *api.ColorPresetRequest_GetPreset_:
		return &api.ColorPresetResponse{Status: api.ColorPresetResponse_PRESET_NOT_FOUND.Enum()}, nil
	}
	return &api.ColorPresetResponse{Status: api.ColorPresetResponse_REQUEST_MALFORMED.Enum()}, nil
}

// screenshot: nothing is drawn, so there is no picture.
func screenshot(c *client, in *api.ScreenshotRequest) (*api.ScreenshotResponse, error) {
	status := api.ScreenshotResponse_INTERNAL_ERROR
	if _, ok := c.host.readable(in.GetSession()); !ok {
		status = api.ScreenshotResponse_SESSION_NOT_FOUND
	}
	return &api.ScreenshotResponse{Status: status.Enum()}, nil
}
