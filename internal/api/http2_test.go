package api

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestHTTP2 speaks HTTP/2 where the service does; the body that keeps net/http
// from sending again by itself must not reach the service in either version.
func TestHTTP2(t *testing.T) {
	for _, two := range []bool{false, true} {
		var attempts atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != two || r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
				t.Errorf("%s, content length %d, transfer encoding %v", r.Proto, r.ContentLength, r.TransferEncoding)
			}
			say(w, 200, emptyPage)
		}))
		server.EnableHTTP2 = two
		server.StartTLS()
		transport := NewTransport(Timeouts{})
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AddCert(server.Certificate())
		gate := &tally{}
		c, err := New(Options{BaseURL: server.URL, Key: func() string { return testKey }, Transport: transport, Observe: func(Exchange) { attempts.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := products.Page(t.Context(), c.Through(gate), ListQuery{}); err != nil {
				t.Error(err)
			}
		}
		if gate.entered != 3 || attempts.Load() != 3 {
			t.Errorf("entered %d times, %d attempts", gate.entered, attempts.Load())
		}
		transport.CloseIdleConnections()
		server.Close()
	}
}
