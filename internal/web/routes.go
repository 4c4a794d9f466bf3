package web

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer/status"
)

//go:embed page
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page/*.html"))

// Handler serves all routes of the package.
func Handler(o Options) http.Handler {
	h := &handler{Options: o}
	if o.User != "" {
		h.passwords = inbound.NewPasswords(o.User, o.Password.Reveal())
	}
	mux := http.NewServeMux()
	guarded := func(pattern string, next http.Handler) { mux.Handle(pattern, h.guard(next)) }
	guarded("GET /{$}", http.HandlerFunc(h.page))
	guarded("GET /status.json", http.HandlerFunc(h.status))
	guarded("GET /metrics", promhttp.HandlerFor(o.Gatherer, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelError)}))
	for _, name := range []string{"page/live.js", "page/page.css", "page/icon.svg"} {
		guarded("GET /"+name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, files, name)
		}))
	}
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /readyz", h.ready)
	return secured(h.refuseForeign(mux))
}

type handler struct {
	Options
	passwords *inbound.Passwords // nil for none
}

// secured sets the headers that every answer carries. Scripts and styles come
// from this listener only, and nothing else may run or load.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		inbound.Secure(h)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// refuseForeign refuses every request of another site's page. A link that was followed from there is
// answered with a page with a link to ours, since the other site cannot see what follows.
func (h *handler) refuseForeign(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := inbound.CheckName(r.Host, h.Listen, h.passwords != nil)
		if err == nil {
			if err = inbound.Foreign(r); err != nil && inbound.Navigates(r) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.WriteHeader(http.StatusForbidden)
				h.write(w, []byte(`<!doctype html><html lang="en"><title>Larder</title><p>Another site led here. <a href="/">Open Larder’s page</a>.`))
				return
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guard asks for the password when there is one.
func (h *handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed, err := h.allowed(r)
		var tooMany *inbound.TooManyError
		switch {
		case errors.As(err, &tooMany):
			w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait.Seconds())))
			http.Error(w, err.Error(), http.StatusTooManyRequests)
		case !allowed:
			w.Header().Set("WWW-Authenticate", `Basic realm="larder", charset="UTF-8"`)
			http.Error(w, "user and password needed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (h *handler) allowed(r *http.Request) (bool, error) {
	if h.passwords == nil {
		return true, nil
	}
	user, password, _ := r.BasicAuth()
	return h.passwords.Right(r.Context(), r.RemoteAddr, user, password)
}

func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	q, name := r.URL.Query(), "page.html"
	if q.Get("part") == "live" {
		name = "live"
	}
	a := asked{Query: q.Get("q"), Show: status.Tone(q.Get("show")), Source: q.Get("source"), All: q.Get("all") == "1"}
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, name, newView(h.Status(), h.About(), a)); err != nil {
		h.Logger.Error("render status page", "error", err)
		http.Error(w, "the page could not be rendered; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	h.write(w, []byte(text.VisibleLines(b.String()))) // it has names and errors of the API
}

// wholeShown is how many sources /status.json has whole: those in which most is wrong. All are with
// ?all=1, one with ?source=.
const wholeShown = 50

// short is a source in few bytes.
type short struct {
	Name        string         `json:"name"`
	State       string         `json:"state"`
	Health      string         `json:"health"`
	Lag         status.Seconds `json:"lag_seconds"` // of the stream that is furthest behind
	ProvenUntil string         `json:"proven_until,omitempty"`
}

// shortened are the sources, the worst first and whole.
func shortened(sources []status.SourceStatus) []any {
	var all []any
	for i, s := range judge(sources) {
		if i < wholeShown {
			all = append(all, s.SourceStatus)
			continue
		}
		one := short{Name: s.Name, State: s.State, Health: s.Worst.Kind, Lag: s.Lag()}
		if s.Proof != nil {
			one.ProvenUntil = s.Proof.ProvenUntil
		}
		all = append(all, one)
	}
	return all
}

func (h *handler) status(w http.ResponseWriter, r *http.Request) {
	s, q := h.Status(), r.URL.Query()
	if name := q.Get("source"); name != "" {
		s.Sources = slices.DeleteFunc(slices.Clone(s.Sources), func(of status.SourceStatus) bool { return of.Name != name })
		if len(s.Sources) == 0 {
			http.Error(w, "no source has this name", http.StatusNotFound)
			return
		}
	}
	var sources any = s.Sources
	if len(s.Sources) > wholeShown && q.Get("all") != "1" {
		sources = shortened(s.Sources)
	}
	b, err := s.MarshalWith(sources)
	if err != nil {
		h.Logger.Error("encode status", "error", err)
		http.Error(w, "the status could not be encoded; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	h.write(w, b)
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request) { h.write(w, []byte("alive\n")) }

// ready answers whether the daemon is ready. The reasons name sources, so only those who may see the
// page get them.
func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	s := h.Status()
	lines := []string{"ready"}
	if missing := notReady(&s); len(missing) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		lines = append([]string{"not ready"}, missing...)
	} else {
		for _, c := range s.Concerns() { // what a person should look at: it serves, and is ready, all the same
			if c.Tone() == status.ToneTrouble {
				lines = append(lines, "! "+c.Text)
			}
		}
	}
	if allowed, err := h.allowed(r); err != nil || !allowed {
		lines = lines[:1]
	}
	for _, line := range lines {
		h.write(w, []byte(text.Visible(line)+"\n"))
	}
}

// notReady are the reasons. A daemon that serves with another problem is ready all the same.
func notReady(s *status.Status) (missing []string) {
	if s.WarehouseUnavailable {
		missing = append(missing, "- "+s.Problems[0])
	}
	var starting []string
	for i := range s.Sources {
		switch source := &s.Sources[i]; {
		case source.State != status.StateStarting:
		case source.Detail == "":
			starting = append(starting, source.Name)
		case !slices.Contains(missing, "- "+source.Detail): // the same of all sources
			missing = append(missing, "- "+source.Detail)
		}
	}
	if len(starting) > 0 {
		missing = append(missing, "- not started yet, since the key has had no answer: "+strings.Join(text.Few(starting), ", "))
	}
	return missing
}

func (h *handler) write(w http.ResponseWriter, b []byte) {
	if _, err := w.Write(b); err != nil {
		h.Logger.Debug("answer was not taken", "error", err)
	}
}
