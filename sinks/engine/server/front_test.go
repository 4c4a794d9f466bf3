package server_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// outside asks over the read-only way in.
func outside(t testing.TB, user, password string) *asker {
	return impatient(t, user, password, time.Minute, time.Minute)
}

// impatient asks over one with limits that a test can wait for.
func impatient(t testing.TB, user, password string, request, stall time.Duration) *asker {
	t.Helper()
	readers, err := server.ListenReadersOf(t.Context(), enginetest.Engine(t), user, password, request, stall)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- readers.Serve() }()
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := readers.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &asker{t: t, client: &http.Client{Transport: transport}, base: "http://" + readers.Addr().String() + "/"}
}

func TestOutsideAsksForThePassword(t *testing.T) {
	out := outside(t, "bi", "s3cret")
	basic := func(user, password string) http.Header {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header
	}
	for name, c := range map[string]struct {
		header http.Header
		params []string
		want   int
	}{
		"none":         {nil, nil, 403},
		"basic":        {basic("bi", "s3cret"), nil, 200},
		"wrong":        {basic("bi", "s3cre"), nil, 403},
		"wrong user":   {basic("default", "s3cret"), nil, 403},
		"headers":      {http.Header{"X-Clickhouse-User": {"bi"}, "X-Clickhouse-Key": {"s3cret"}}, nil, 200},
		"URL":          {nil, []string{"user", "bi", "password", "s3cret"}, 200},
		"wrong URL":    {nil, []string{"user", "bi", "password", ""}, 403},
		"empty basic":  {basic("", ""), nil, 403},
		"basic first":  {basic("bi", "wrong"), []string{"user", "bi", "password", "s3cret"}, 403},
		"only the key": {http.Header{"X-Clickhouse-Key": {"s3cret"}}, nil, 403},
	} {
		r := out.do("POST", strings.NewReader("SELECT 1"), c.header, c.params...)
		if r.status != c.want {
			t.Errorf("%s: %d", name, r.status)
		}
		if strings.Contains(r.body, "s3cret") {
			t.Errorf("%s: the password is in the answer", name)
		}
	}
	conn, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{strings.TrimSuffix(strings.TrimPrefix(out.base, "http://"), "/")}, Auth: clickhouse.Auth{Username: "bi", Password: "s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	if err := conn.Exec(context.Background(), "CREATE DATABASE nope"); err == nil {
		t.Error("the driver could write")
	}
}

// A web page can give this machine a name of its own, and would read along.
func TestOutsideIsNoneOfAWebPagesBusiness(t *testing.T) {
	out := outside(t, "", "")
	for host, want := range map[string]int{"localhost:8123": 200, "127.0.0.1": 200, "[::1]:8123": 200, "evil.example:8123": 403, "": 200} {
		request, err := http.NewRequest(http.MethodPost, out.base, strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := out.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d", host, response.StatusCode)
		}
		if cors := response.Header.Get("Access-Control-Allow-Origin"); cors != "" {
			t.Errorf("CORS: %s", cors)
		}
	}
}

func TestAnOpenAddressNeedsAPassword(t *testing.T) {
	listen := func(address, password string) (net.Addr, error) {
		readers, err := server.ListenReaders(t.Context(), address, "bi", password, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			if err := readers.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		return readers.Addr(), nil
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "nonsense"} {
		if _, err := listen(address, ""); err == nil || !strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := listen("0.0.0.0:0", "x"); err != nil {
		t.Error(err)
	}
	address, err := listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(address.String(), ""); err == nil || !strings.Contains(err.Error(), "http_listen") {
		t.Errorf("port taken: %v", err)
	}
}
