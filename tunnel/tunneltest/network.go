package tunneltest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Authority issues certificates that nobody trusts who does not know it.
type Authority struct {
	File string // its own certificate, in PEM form

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one, called "a test's own authority".
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &Authority{File: filepath.Join(t.TempDir(), "authority.pem"), key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's own authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}}
	der := a.sign(t, a.cert, &key.PublicKey)
	if err := os.WriteFile(a.File, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *Authority) sign(t testing.TB, cert *x509.Certificate, public *ecdsa.PublicKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Issue issues a certificate for 127.0.0.1 and control.test.
func (a *Authority) Issue(t testing.TB, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "control.test"}, DNSNames: []string{"control.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Proxy is an HTTP proxy that takes every CONNECT to one place.
type Proxy struct {
	Address string
	Refuse  atomic.Bool  // every request, as if the password were wrong
	Taken   atomic.Int64 // how many requests it took

	carried sync.Map // of connections
}

// NewProxy starts a proxy that wants a user and a password and ends with the test.
func NewProxy(t testing.TB, user, password, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String()}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.carried.Store(conn, nil)
			all.Go(func() { p.serve(conn, want, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.carried.Range(func(conn, _ any) bool {
			_ = conn.(net.Conn).Close()
			return true
		})
		all.Wait()
	})
	return p
}

func (p *Proxy) serve(conn net.Conn, want, to string) {
	defer p.carried.Delete(conn)
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if req.Method != http.MethodConnect || p.Refuse.Load() || req.Header.Get("Proxy-Authorization") != want {
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer far.Close()
	p.Taken.Add(1)
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(far, conn)
		_ = far.Close()
	})
	_, _ = io.Copy(conn, far)
	_ = conn.Close()
	there.Wait()
}
