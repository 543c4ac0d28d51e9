// Command conformance puts the fixtures of the MCP conformance suite on
// termpilot's own server wrapper and HTTP front, since the suite calls tools
// that no product has. It prints its address and serves until its input ends.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/connector/internal/wire"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance: error:", err)
		os.Exit(1)
	}
}

func serve() error {
	self := mcp.InitializeResult{
		ServerInfo: &mcp.Implementation{Name: "termpilot-conformance", Version: "1.0.0"},
		Capabilities: &mcp.ServerCapabilities{
			Logging:     &mcp.LoggingCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
		},
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	m := mcp.NewServer(self.ServerInfo, &mcp.ServerOptions{
		Capabilities:       self.Capabilities,
		CompletionHandler:  complete,
		SubscribeHandler:   subscribe,
		UnsubscribeHandler: unsubscribe,
		Logger:             log,
	})
	registerTools(m)
	registerResources(m)
	registerPrompts(m)
	wire.Guard(m, self, log)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", l.Addr(), wire.Path)
	server := &http.Server{Handler: wire.Handler(m, wire.HTTP{Log: log}), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
