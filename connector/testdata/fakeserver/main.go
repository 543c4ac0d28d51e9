// Command fakeserver is the whole front end on a pilot without terminals, so
// that other people's MCP clients can be tried on it. It is not shipped.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"termpilot/connector"
	"termpilot/connector/internal/fake"
	"termpilot/doctor"
)

func main() {
	addr := flag.String("http", "", "serve HTTP on this loopback address")
	token := flag.String("token", "", "bearer token for HTTP")
	text := flag.String("text", "", "full or summary")
	flag.Parse()
	if err := serve(*addr, *token, *text); err != nil {
		fmt.Fprintln(os.Stderr, "fakeserver: error:", err)
		os.Exit(1)
	}
}

func serve(addr, token, text string) error {
	signal.Ignore(syscall.SIGPIPE) // a client that is gone is an error of Write
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := connector.New(connector.Options{Pilot: &fake.Pilot{}, Closer: fake.Closer{}, Agents: fake.Agents{}, Version: "0.0.0-fake", Text: text, Checks: checks})
	if addr == "" {
		watched, stop := connector.WatchParent(ctx)
		defer stop()
		return s.ServeStdio(watched, os.Stdin, os.Stdout)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", l.Addr())
	server := &http.Server{Handler: s.Handler(connector.HTTPOptions{Token: token}), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		_ = s.Close()
		_ = server.Close()
	})
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func checks() []doctor.Check {
	return []doctor.Check{{ID: "fake.pilot", Run: func(context.Context) doctor.Result {
		return doctor.Result{State: doctor.Pass, Summary: "there are no terminals", Evidence: "this is fakeserver"}
	}}}
}
