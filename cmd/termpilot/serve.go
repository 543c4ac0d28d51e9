package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"termpilot/connector"
	"termpilot/fault"
	"termpilot/host"
	"termpilot/private"
)

func (a *app) serveCommand() *cobra.Command {
	var s settings
	var address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP over stdio, or over HTTP on the loopback interface",
		Example: "  termpilot serve\n" +
			"  termpilot serve --read-only --toolsets core\n" +
			"  termpilot serve --http 127.0.0.1:8765",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token := strings.TrimSpace(a.getenv(tokenVariable))
			forgetSecrets() // a tunnel-client that started this hands its key down
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			if address != "" {
				return a.serveHTTP(cmd.Context(), d, address, token)
			}
			ctx, stop := connector.WatchParent(cmd.Context())
			defer stop()
			in, restore := polled(a.in, a.out, a.errs)
			defer restore()
			defer oneProcessor(a.getenv)()
			return d.server.ServeStdio(ctx, in, a.out)
		},
	}
	s.serverFlags(cmd)
	cmd.Flags().StringVar(&address, "http", "", "serve streamable HTTP at this loopback address, such as 127.0.0.1:8765")
	return cmd
}

// serveHTTP serves until ctx ends. Where it listens is told on the standard
// error; the token, given or of a file, never is.
func (a *app) serveHTTP(ctx context.Context, d *deck, address, given string) error {
	listener, err := listenLoopback(ctx, address)
	if err != nil {
		return err
	}
	defer listener.Close()
	token, origin, err := a.token(given)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           d.server.Handler(connector.HTTPOptions{Token: token}),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
	}
	done := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(done)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = d.server.Close() // first: it ends the calls that Shutdown would wait for
		}()
		within(time.Second, ended)
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
		defer cancel()
		if server.Shutdown(patience) != nil {
			_ = server.Close()
		}
	})
	a.note("listening on http://%s/mcp; the bearer token is in %s", listener.Addr(), origin)
	err = server.Serve(listener)
	if !stopped() {
		<-done
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listenLoopback listens on an address of the loopback interface and refuses
// any other: whoever reaches the server can type into terminals.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usage(fmt.Errorf("--http %s: want an address and a port, such as 127.0.0.1:8765", address))
	}
	foreign := usage(&fault.Error{
		Op: "serve", Code: fault.NotAllowed, Detail: address + " is not a loopback address",
		Hint: "listen on 127.0.0.1:PORT or [::1]:PORT, and let others in through a tunnel of your own",
	})
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, foreign
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err == nil {
		if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() { // what localhost is, a file says
			_ = listener.Close()
			return nil, foreign
		}
		return listener, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "listen" && op.Addr == nil { // it did not come to listening
		return nil, usage(fmt.Errorf("--http %s: %w", address, op.Err))
	}
	return nil, &outcome{
		code: exitFailed, cause: fmt.Errorf("serve: %w", err),
		hint: "pass another port, or 0 for a free one, and see what listens there",
	}
}

const tokenVariable = "TERMPILOT_HTTP_TOKEN"

// token returns the bearer token of the HTTP server, and where it came from in
// words. Without one that was given in the environment it is kept in a private
// file, made when it is missing.
func (a *app) token(given string) (token, origin string, err error) {
	if given != "" {
		return given, "the variable " + tokenVariable, nil
	}
	where, err := host.Paths(a.getenv)
	if err != nil {
		return "", "", err
	}
	path := filepath.Join(where.Home, "http.token")
	data, err := private.Read(path, maxToken)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = makeToken(where.Home, path)
	}
	if err != nil {
		return "", "", err
	}
	if token = strings.TrimSpace(string(data)); len(token) < 16 {
		return "", "", &fault.Error{
			Op: "serve", Code: fault.NotAllowed, Detail: path + " holds no token",
			Hint: "remove that file; the next start makes a new one",
		}
	}
	return token, path, nil
}

// maxToken is the most bytes of the token's file.
const maxToken = 1 << 10

// makeToken makes the token's file and returns what it holds, which is another
// server's token when that made it meanwhile. The file is there whole or not at all.
func makeToken(home, path string) ([]byte, error) {
	if err := private.Folder(home); err != nil {
		return nil, err
	}
	token := rand.Text()
	made := path + "." + token[:8]
	if err := private.Write(made, []byte(token+"\n")); err != nil {
		return nil, err
	}
	defer os.Remove(made)
	if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &fault.Error{Op: "serve", Code: fault.Storage, Detail: "the token's file cannot be made", Hint: "see that termpilot's folder may be written, or set " + tokenVariable, Err: err}
	}
	return private.Read(path, maxToken)
}
