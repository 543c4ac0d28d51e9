package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// resources are read as they are; the URI of each is filled in by read.
var resources = []struct {
	uri, about string
	contents   mcp.ResourceContents
}{
	{"test://static-text", "A text that never changes", mcp.ResourceContents{MIMEType: "text/plain", Text: "Plain words, always the same."}},
	{"test://static-binary", "An image that never changes", mcp.ResourceContents{MIMEType: "image/png", Blob: dot()}},
	{"test://watched-resource", "What clients subscribe to", mcp.ResourceContents{MIMEType: "text/plain", Text: "Nothing has happened yet."}},
}

func registerResources(m *mcp.Server) {
	for _, r := range resources {
		name := strings.TrimPrefix(r.uri, "test://")
		m.AddResource(&mcp.Resource{URI: r.uri, Name: name, Description: r.about, MIMEType: r.contents.MIMEType}, read(r.contents))
	}
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "test://template/{id}/data",
		Name:        "template",
		Description: "The record that the URI names",
		MIMEType:    "application/json",
	}, readRecord)
}

func read(contents mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c := contents
		c.URI = req.Params.URI
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
	}
}

// readRecord answers with the id in the URI, which has the form of the template.
func readRecord(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
	record, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return nil, err
	}
	return read(mcp.ResourceContents{MIMEType: "application/json", Text: string(record)})(ctx, req)
}

// The SDK keeps the subscriptions; a handler only says whether one may be.

func subscribe(context.Context, *mcp.SubscribeRequest) error { return nil }

func unsubscribe(context.Context, *mcp.UnsubscribeRequest) error { return nil }
