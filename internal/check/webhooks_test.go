package check

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer/status"
)

// answering is a service that answers every request with a text.
type answering func(*http.Request) (string, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := a(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
	}, nil
}

// What is said of a ping depends on the answer that it got, and on what the daemon reports, if any.
func TestFindingOfAPing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var none *status.Status
	serving := &status.Status{StartedAt: time.Now(), Sources: []status.SourceStatus{{Name: "bistro"}}}
	pinged := &status.Status{StartedAt: time.Now(), Sources: []status.SourceStatus{{Name: "bistro", LastPing: time.Now().Add(time.Hour)}}}
	shard := &status.Status{StartedAt: time.Now(), Sources: []status.SourceStatus{{Name: "another"}}}
	const nobody = "127.0.0.1:1"
	for _, tt := range []struct {
		name, answer, listen string
		daemon               *status.Status
		mark, text, advice   string
		code                 int
	}{
		{"taken", `"ok":true,"http_status":204`, l.Addr().String(), pinged, "✓", "a ping came in by webhook", "", 0},
		{"taken elsewhere", `"ok":true,"http_status":204`, l.Addr().String(), serving, "✗", "did not come in here", "leads elsewhere", 1},
		{"taken by another shard", `"ok":true,"http_status":204`, l.Addr().String(), shard, "!", "no daemon can be asked here", "", 0},
		{"taken, no daemon", `"ok":true,"http_status":204`, nobody, none, "!", "no daemon can be asked here", "", 0},
		{"forged, no daemon", `"ok":false,"http_status":401`, nobody, none, "✗", "answered with 401", "webhook.secret_file", 1},
		{"another path, no daemon", `"ok":false,"http_status":404`, nobody, none, "✗", "answered with 404", "must end with /webhooks/bistro", 1},
		{"forged", `"ok":false,"http_status":401`, l.Addr().String(), serving, "✗", "answered with 401", "webhook.secret_file", 1},
		{"no answer, no daemon", `"ok":false,"http_status":null`, nobody, none, "!", "nobody listens at webhooks.listen (127.0.0.1:1) yet", "Start larder run", 0},
		{"a proxy without a daemon", `"ok":false,"http_status":502`, nobody, none, "!", "nobody listens at webhooks.listen (127.0.0.1:1) yet", "Start larder run", 0},
		{"no answer", `"ok":false,"http_status":null`, l.Addr().String(), shard, "✗", "not answered", "pass /webhooks/ on to webhooks.listen?", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := api.New(api.Options{
				BaseURL: "https://host/v1", Key: func() string { return "key" },
				Transport: answering(func(*http.Request) (string, error) { return "{" + tt.answer + `,"error":null,"event_id":"evt_1"}`, nil }),
			})
			if err != nil {
				t.Fatal(err)
			}
			c := Checker{
				Warehouse: &warehouse.Opener{Config: &config.Config{Webhooks: config.Webhooks{Listen: tt.listen}}},
				Daemon: func(context.Context) (status.Status, error) {
					if tt.daemon == nil {
						return status.Status{}, errors.New("none runs")
					}
					return *tt.daemon, nil
				},
			}
			f := c.checkWebhook(t.Context(), &config.Source{Name: "bistro"}, client, []string{types.ScopeOrders})
			if f.Mark != tt.mark || !strings.Contains(f.Text, tt.text) || !strings.Contains(f.Advice, tt.advice) || f.Code != tt.code {
				t.Errorf("got %+v", f)
			}
		})
	}
}
