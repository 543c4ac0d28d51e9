package connector

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/agent"
	"termpilot/connector/internal/wire"
	"termpilot/fault"
	"termpilot/terminal"
)

// Agents are resources: all of them together, and each by its session. They are
// there for a client that can be told of their changes, over ServeStdio alone.
const (
	agentsURI     = "termpilot://agents"
	agentTemplate = agentsURI + "/{session_id}"
	resourceType  = "application/json"

	maxURI       = 1 << 10 // bytes of a URI that is looked at
	maxSessionID = 256     // bytes of a session's id, as in pilot
)

// codeNotFound is "Resource not found" in the versions up to 2025-11-25. In
// 2026-07-28 it is "Invalid params".
const codeNotFound = -32002

// methodNotFound answers what is not offered over this transport.
var methodNotFound = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: resources are offered over stdio, by a server with agents"}

// agentURI is the resource of the agent of a session.
func agentURI(session string) string { return agentsURI + "/" + url.PathEscape(session) }

// parseURI returns the session that a URI means, or "" for all agents.
func parseURI(uri string) (session string, err error) {
	no := func(code fault.Code, detail string) (string, error) {
		return "", &fault.Error{
			Op: "resource", Code: code, Detail: detail,
			Hint: "use " + agentsURI + ", or that with / and a session_id, percent-encoded",
		}
	}
	if len(uri) > maxURI {
		return no(fault.TooLarge, "the URI is over its limit")
	}
	rest, ok := strings.CutPrefix(uri, agentsURI)
	if ok && (rest == "" || rest == "/") {
		return "", nil
	}
	rest, slash := strings.CutPrefix(rest, "/")
	if !ok || !slash || strings.ContainsAny(rest, "/?#") {
		return no(fault.InvalidArgument, "there is no resource "+terminal.OneLine(uri, 80))
	}
	session, err = url.PathUnescape(rest)
	if err != nil || session == "" || len(session) > maxSessionID || !utf8.ValidString(session) || wire.Clean(session) != session || strings.ContainsAny(session, "\n\t") {
		return no(fault.InvalidArgument, "the URI names no session")
	}
	return session, nil
}

// refuseResource words a failure as the protocol error that a request about
// resources ends with: its data is {"code","message","hint"}.
func refuseResource(params mcp.Params, err error) error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Data: json.RawMessage(wire.Describe(err))}
	switch fault.CodeOf(err) {
	case fault.TooLarge:
		e.Code = jsonrpc.CodeInvalidParams
	case fault.AgentNotFound, fault.NotAllowed, fault.InvalidArgument: // of a URI, so that there are params
		e.Code = codeNotFound
		if standsAlone(params) {
			e.Code = jsonrpc.CodeInvalidParams
		}
	}
	e.Message = wire.Clip(wire.Clean(err.Error()), maxMessage)
	if hint := fault.HintOf(err); hint != "" {
		e.Message += "; " + hint
	}
	return e
}

const maxMessage = 512

// standsAlone reports whether a request is of the era without a handshake.
func standsAlone(params mcp.Params) bool {
	version, _ := params.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	return version >= wire.StatelessVersion
}

// announceResources says in what a server says of itself that there are resources,
// where they are offered.
func announceResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if a := audienceOf(ctx); err != nil || a == nil || !a.s.offers {
			return res, err
		}
		with := func(c *mcp.ServerCapabilities) *mcp.ServerCapabilities {
			own := *c // it may be shared
			own.Resources = &mcp.ResourceCapabilities{Subscribe: true, ListChanged: true}
			return &own
		}
		switch said := res.(type) {
		case *mcp.InitializeResult:
			own := *said
			own.Capabilities = with(own.Capabilities)
			announceMessages(own.Capabilities)
			return &own, nil
		case *mcp.DiscoverResult:
			said.Capabilities = with(said.Capabilities)
		}
		return res, nil
	}
}

// serveResources answers what is asked about resources, where they are offered. A
// listen is answered here on every connection that has an audience, for the SDK
// would call it by another id than the client.
func (s *Server) serveResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		a := audienceOf(ctx)
		if _, listens := req.GetParams().(*mcp.SubscriptionsListenParams); a == nil || !s.offers && !listens {
			return next(ctx, method, req)
		}
		var res mcp.Result
		var err error
		switch p := req.GetParams().(type) {
		case *mcp.ListResourcesParams:
			if p != nil && p.Cursor != "" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such page: the list is one page"}
			}
			res, err = s.listResources()
		case *mcp.ListResourceTemplatesParams:
			res = templates()
		case *mcp.ReadResourceParams:
			res, err = s.readResource(ctx, p.URI)
		case *mcp.SubscriptionsListenParams:
			if p.Notifications == nil || !standsAlone(p) {
				return next(ctx, method, req)
			}
			session, _ := req.GetSession().(*mcp.ServerSession)
			res, err = a.listen(ctx, session, p)
		default:
			if err := checkLevel(p); err != nil {
				return nil, err
			}
			return next(ctx, method, req)
		}
		if err != nil {
			return nil, refuseResource(req.GetParams(), err)
		}
		return res, nil
	}
}

// fresh says that an answer may be of the past as soon as it is given.
var fresh = mcp.Cacheable{TTLMs: 0, CacheScope: "private"}

func (s *Server) listResources() (*mcp.ListResourcesResult, error) {
	list, err := s.agents.List()
	if err != nil {
		return nil, err
	}
	res := &mcp.ListResourcesResult{Cacheable: fresh, Resources: []*mcp.Resource{{
		URI: agentsURI, Name: "agents", Title: "Agents", MIMEType: resourceType,
		Description: "How the coding agents in this machine's terminals stand. Subscribe to hear when one ends a turn, asks for an approval, comes or goes.",
	}}}
	for _, l := range list {
		if !l.Runs || len(res.Resources) > agent.MaxListed {
			continue
		}
		name := l.Provider + " in " + terminal.OneLine(filepath.Base(l.Cwd), 80)
		res.Resources = append(res.Resources, &mcp.Resource{
			URI: agentURI(l.SessionID), Name: l.SessionID, Title: name, MIMEType: resourceType,
			Description: "How " + name + " and its last turn stand.",
		})
	}
	return res, nil
}

func templates() *mcp.ListResourceTemplatesResult {
	return &mcp.ListResourceTemplatesResult{Cacheable: fresh, ResourceTemplates: []*mcp.ResourceTemplate{{
		URITemplate: agentTemplate, Name: "agent", Title: "Agent of a session", MIMEType: resourceType,
		Description: "How the agent that was launched in a session and its last turn stand, also after it has ended.",
	}}}
}

// allAgents is the resource of all agents.
type allAgents struct {
	Schema string           `json:"schema"`
	Agents []agent.Standing `json:"agents"`
}

func (s *Server) readResource(ctx context.Context, uri string) (*mcp.ReadResourceResult, error) {
	session, err := parseURI(uri)
	if err != nil {
		return nil, err
	}
	var content any
	if session == "" {
		all := allAgents{Schema: "termpilot.agents.v1"}
		if all.Agents, err = s.agents.Standings(ctx); err != nil {
			return nil, err
		}
		content = cleaned(all)
	} else {
		one, err := s.agents.Standing(ctx, session)
		if err != nil {
			return nil, err
		}
		content = cleaned(one)
	}
	text, err := wire.AppendJSON(nil, content)
	if err != nil {
		return nil, err
	}
	res := wire.ReadResult()
	res.Cacheable, res.Contents = fresh, []*mcp.ResourceContents{{URI: uri, MIMEType: resourceType, Text: string(text)}}
	return res, nil
}
