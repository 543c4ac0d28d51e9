package tunnel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// DefaultBaseURL is OpenAI's control plane.
const DefaultBaseURL = "https://api.openai.com"

// lookPatience is how long the control plane may take to answer.
const lookPatience = 15 * time.Second

// look asks the control plane for the tunnel with the key, as tunnel-client
// does when it starts (GET /v1/tunnels/{id}, docs/protocol.md of tunnel-client),
// and returns the tunnel's name. KeyRefused, TunnelNotFound, and
// Unreachable with the layer that failed: name, connection, TLS,
// proxy, or the service itself. Success proves that the key may read the
// tunnel; only a poll proves that it may use it.
func look(ctx context.Context, baseURL, tunnelID string, key Secret) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(baseURL, "/")+"/v1/tunnels/"+tunnelID, nil)
	if err != nil {
		return "", &fault.Error{Op: "control plane", Code: fault.InvalidArgument, Detail: "the base URL cannot be used", Hint: "leave --base-url out"}
	}
	req.Header.Set("Authorization", "Bearer "+key.value)
	req.Header.Set("Accept", "application/json")
	roots, err := trusted(os.Getenv("SSL_CERT_FILE"))
	if err != nil {
		return "", err
	}
	client := &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots},
			OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
				if resp.StatusCode != http.StatusOK {
					return proxyRefusal(resp.StatusCode)
				}
				return nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key goes to one host alone
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", unreachable(err, req.URL.Host)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what is missing shows in decoding
	var answer struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	decoded := json.Unmarshal(body, &answer) == nil
	hide := key.redactor(os.Getenv) // whoever answers may repeat what it was sent
	said := terminal.OneLine(strings.TrimSpace(hide.Replace(answer.Error.Code+" "+answer.Error.Message)), 200)
	switch {
	case resp.StatusCode == http.StatusOK && decoded && answer.ID == tunnelID:
		return terminal.OneLine(hide.Replace(answer.Name), 200), nil
	case resp.StatusCode == http.StatusUnauthorized:
		return "", refusedKey("the control plane does not know the key (401 " + said + ")")
	case resp.StatusCode == http.StatusForbidden:
		return "", refusedKey("the key may not read the tunnel (403 " + said + ")")
	case resp.StatusCode == http.StatusNotFound && decoded && answer.Error.Code != "":
		return "", &fault.Error{
			Op: "control plane", Code: fault.TunnelNotFound, Detail: "it knows no tunnel " + tunnelID + " for this key (404 " + said + ")",
			Hint: "copy the id from platform.openai.com > Tunnels, and use a key of the same organisation",
		}
	}
	return "", &fault.Error{
		Op: "control plane", Code: fault.Unreachable, Detail: fmt.Sprintf("%s answered %d, which is not a control plane's answer", req.URL.Host, resp.StatusCode),
		Hint: "wait and try again; see status.openai.com, and whether a proxy answers in its place",
	}
}

// trusted is what the system trusts and the certificates of a file, which not
// every system's own verifier looks at; nil for the system's alone.
func trusted(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if data, err := readCapped(file, 4<<20); err != nil || !pool.AppendCertsFromPEM(data) {
		return nil, &fault.Error{
			Op: "control plane", Code: fault.Unreachable, Detail: "TLS: SSL_CERT_FILE names " + file + ", in which no certificate can be read", Err: err,
			Hint: "let it name a file of certificates in PEM form",
		}
	}
	return pool, nil
}

func refusedKey(detail string) error {
	return &fault.Error{
		Op: "control plane", Code: fault.KeyRefused, Detail: detail,
		Hint: "create a runtime key with Read and Use of tunnels, in the tunnel's organisation",
	}
}

// proxyRefusal is the status with which a proxy refused to connect.
type proxyRefusal int

func (p proxyRefusal) Error() string { return fmt.Sprintf("the proxy answered %d", int(p)) }

// unreachable says which layer failed. The error's own text may hold a proxy's
// password, so it is not passed on.
func unreachable(err error, host string) error {
	f := &fault.Error{Op: "control plane", Code: fault.Unreachable, Hint: "check the network, then try again"}
	unknown := x509.UnknownAuthorityError{}
	invalid := x509.CertificateInvalidError{}
	name := x509.HostnameError{}
	var dns *net.DNSError
	var op *net.OpError
	var handshake tls.RecordHeaderError
	var target *url.Error
	var proxy proxyRefusal
	switch {
	case errors.As(err, &proxy):
		f.Detail, f.Hint = fmt.Sprintf("the proxy of this environment refuses to connect (%d)", int(proxy)), "check HTTPS_PROXY, and its user and password"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		f.Detail, f.Hint = "the proxy of this environment cannot be reached", "check HTTPS_PROXY"
	case errors.As(err, &unknown):
		f.Detail = "TLS: the certificate of " + host + " is not trusted"
		if unknown.Cert != nil {
			f.Detail += "; it was issued by " + terminal.OneLine(unknown.Cert.Issuer.String(), 200)
		}
		f.Hint = "if a proxy of your own inspects TLS, name its certificate with SSL_CERT_FILE"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.Detail, f.Hint = "TLS: the certificate of "+host+" has expired, or the clock is wrong", "check the clock"
	case errors.As(err, &invalid), errors.As(err, &name):
		f.Detail = "TLS: the certificate of " + host + " is not valid for it"
	case errors.As(err, &handshake), errors.Is(err, http.ErrSchemeMismatch):
		f.Detail = "TLS: " + host + " does not speak it"
	case errors.As(err, &dns):
		f.Detail = "the name " + terminal.OneLine(dns.Name, 200) + " is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &target) && target.Timeout():
		f.Detail = host + " did not answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		f.Detail = "no connection to " + host
		if op.Addr != nil {
			f.Detail += " (" + op.Addr.String() + ")"
		}
	default:
		f.Detail = "the connection to " + host + " broke"
	}
	return f
}
