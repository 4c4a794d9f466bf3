package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// authority signs certificates; this process trusts the first one.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var trusted = newAuthority()

func TestMain(m *testing.M) {
	enginetest.PlayEngine()
	os.Exit(withFolder(m))
}

// testFolder is for what several tests use.
var testFolder string

func withFolder(m *testing.M) int {
	dir, err := os.MkdirTemp("", "larder-app-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	testFolder = dir
	return withTrust(m)
}

// withTrust has the process trust the authority the way a person would:
// SSL_CERT_FILE, which is read once.
func withTrust(m *testing.M) int {
	file := filepath.Join(testFolder, "authority.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.certificate.Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		panic(err)
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		panic(err)
	}
	return m.Run()
}

func newAuthority() *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &authority{certificate, key}
}

// sign makes a certificate of 127.0.0.1, unless change wants it otherwise.
func (a *authority) sign(t *testing.T, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(template)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A server that cannot show who it is gets no request and no key; the words say what
// is wrong and what to do, in `check`, the state of the source and the log. With a
// good certificate everything lands.
func TestHostileTLS(t *testing.T) {
	notInShort(t)
	name := func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"pos.example"} }
	past := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
	}
	future := func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }
	var current atomic.Pointer[tls.Certificate]
	good := trusted.sign(t, nil)
	current.Store(good)
	s := newSiege(t, good)
	s.TLS.Certificates = nil
	s.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }
	s.whole(t)
	for _, c := range []struct {
		name        string
		certificate *tls.Certificate
		says        []string
	}{
		{"another name", trusted.sign(t, name), []string{"doesn't contain any IP SANs", "base_url must have a host name"}},
		{"a date in the past", trusted.sign(t, past), []string{"has expired", "the service has to renew its certificate", "this machine's clock"}},
		{"a date in the future", trusted.sign(t, future), []string{"not yet valid", "this machine's clock"}},
		{"an unknown authority", newAuthority().sign(t, nil), []string{"unknown authority", "SSL_CERT_FILE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			current.Store(c.certificate)
			defer current.Store(good)
			s.CloseClientConnections() // the next ones show the certificate
			var asked atomic.Int32
			s.attackWith(func(http.ResponseWriter, *http.Request) bool { asked.Add(1); return false })
			defer s.behave()
			says := s.failure(t, "products")
			var checked []check.Finding
			if err := s.app.Checker().Run(t.Context(), func(f check.Finding) { checked = append(checked, f) }); lifecycle.ExitCode(err) != lifecycle.ExitProblem {
				t.Errorf("check: exit code %d, %v", lifecycle.ExitCode(err), err)
			}
			for _, f := range checked {
				if strings.HasPrefix(f.Text, "source r0") && f.Code != 0 {
					says += "\ncheck: " + f.Text
				}
			}
			for _, want := range append(c.says, "nothing was sent", "check: source r0") {
				if !strings.Contains(says, want) {
					t.Errorf("%q is not in: %s", want, says)
				}
			}
			if asked.Load() != 0 {
				t.Errorf("%d requests were made", asked.Load())
			}
			if err := (syncer.Report{Sources: []syncer.SourceReport{s.pass(t, "r1")}}).Err(); err != nil {
				t.Errorf("the other source: %v", err)
			}
		})
	}
	s.whole(t)
	t.Run("HTTP/2", s.overHTTP2)
}

// What is unwise stands in check, the log of the start, the status and the page.
func TestAnUnencryptedAddressIsWarnedOf(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 22, Orders: -1, NoLimits: true})
	w.migrated(t)
	cfg, err := config.Load(config.Request{File: filepath.Join(w.dir, "larder.yaml"), Set: []string{"sources.0.base_url=http://192.0.2.1:1/v1"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "source r0: base_url is http: the API key travels unencrypted"
	w.app = w.another(cfg, slog.DiscardHandler)
	d, stop := w.daemon(t, w.app)
	defer stop()
	if got := d.Status().Warnings; len(got) != 1 || got[0] != want {
		t.Errorf("status: %q", got)
	}
	if _, body := polling.Fetch(t, d.page.URL()+"/"); !strings.Contains(body, want) {
		t.Errorf("the page lacks the warning:\n%.3000s", body)
	}
	if _, body := polling.Fetch(t, d.page.URL()+"/status.json"); !strings.Contains(body, want) {
		t.Error("status.json lacks the warning")
	}
}

// The same bounds hold over HTTP/2, where a body has its own flow.
func (s *siege) overHTTP2(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		says    string
	}{
		{"a body that never ends", endless, "larger than 16 MiB"},
		{"a body that stands still", trickle(time.Hour), "the body stood still"},
		{"a byte at a time", trickle(300 * time.Millisecond), "the answer did not end"},
		{"a header of a megabyte", answering(200, `{"data":[],"has_more":false}`, "X-Large", strings.Repeat("x", 1<<20)), "no answer"},
		{"headers that never come", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no complete headers"},
		{"a stream that is reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "no answer"},
		{"a cut body", answering(200, `{"data":[]`, "Content-Length", "100"), "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.attackWith(on("/products", func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("asked over %s", r.Proto)
				}
				c.handler(w, r)
			}))
			defer s.behave()
			if says := s.failure(t, "products"); !strings.Contains(says, c.says) {
				t.Errorf("%q is not in: %s", c.says, says)
			}
			for _, st := range s.pass(t, "r0", "sales_orders").Streams { // over the same connection
				if st.Err != nil {
					t.Errorf("%s beside it: %v", st.Stream, st.Err)
				}
			}
		})
	}
	s.whole(t)
}
