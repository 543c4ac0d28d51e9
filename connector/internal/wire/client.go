package wire

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client is the one client of a [ServeStdio], which can be told something that
// is no answer. Its methods may be called from several goroutines.
type Client struct{ c *conn }

type clientKey struct{}

// ClientOf returns the client whose message is handled under ctx. It is nil for a
// message that came another way than over [ServeStdio].
func ClientOf(ctx context.Context) *Client {
	client, _ := ctx.Value(clientKey{}).(*Client)
	return client
}

// Notify sends a notification and returns when it is written: a client that does
// not read holds it up. An error means that the connection has ended.
func (c *Client) Notify(method string, params any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.c.Write(context.Background(), &jsonrpc.Request{Method: method, Params: data})
}

// Done is closed when the client says nothing more: it ended its input, or the
// connection ends.
func (c *Client) Done() <-chan struct{} { return c.c.silent }

// listenID is where [RequestID] finds the id of a subscriptions/listen, among the
// request's metadata.
const listenID = "termpilot/requestId"

// RequestID returns the id of a subscriptions/listen request as the client wrote it,
// or nil. The client may not choose it: it is put there on the way in.
func RequestID(r *mcp.SubscriptionsListenParams) json.RawMessage {
	id, _ := r.GetMeta()[listenID].(string)
	if id == "" {
		return nil
	}
	return json.RawMessage(id)
}

// withRequestID puts the id of a request into its metadata: what is sent on a
// subscription names it, and to the SDK every request has a number of this package's.
func withRequestID(params, id json.RawMessage) json.RawMessage {
	var p, meta map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil || p == nil || p["_meta"] != nil && json.Unmarshal(p["_meta"], &meta) != nil {
		return params // for the SDK to refuse
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	spelled, err := json.Marshal(string(id))
	if err != nil {
		return params
	}
	meta[listenID] = spelled
	if p["_meta"], err = json.Marshal(meta); err != nil {
		return params
	}
	with, err := json.Marshal(p)
	if err != nil {
		return params
	}
	return with
}
