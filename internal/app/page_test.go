package app

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/larder-sync/larder/config"
)

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("the way of all programs, which may be a proxy")
}

// The daemon's page is asked for without the proxies of the environment, which
// [http.DefaultTransport] follows.
func TestThePageIsAskedForDirectly(t *testing.T) {
	usual := http.DefaultTransport
	http.DefaultTransport = refusing{}
	defer func() { http.DefaultTransport = usual }()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	a := New(&config.Config{Web: config.Web{Listen: strings.TrimPrefix(server.URL, "http://")}}, slog.New(slog.DiscardHandler), "test")
	if code, _, err := a.getPage(t.Context(), "/status.json"); err != nil || code != http.StatusNotFound {
		t.Errorf("%d, %v", code, err)
	}
}
