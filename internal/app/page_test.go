package app

import (
	"errors"
	"io"
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

// What is no daemon may answer at length: the error has its beginning.
func TestAnAnswerOfAnotherProgramIsCut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) // the client may have gone
	}))
	defer server.Close()
	a := New(&config.Config{Web: config.Web{Listen: strings.TrimPrefix(server.URL, "http://")}}, slog.New(slog.DiscardHandler), "test")
	if err := a.Ready(t.Context()); err == nil || len(err.Error()) != 16<<10 {
		t.Errorf("%.100v", err)
	}
}
