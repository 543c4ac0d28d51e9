// Command hello is the smallest MCP server that the SDK allows: what
// termpilot's start and memory are measured against.
package main

import (
	"context"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type in struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

type out struct {
	Greeting string `json:"greeting"`
}

func greet(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, out, error) {
	return nil, out{"hello " + i.Name}, nil
}

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "hello", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greets"}, greet)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
