package syncer

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// truth asks the service itself, past its limits, for all live rows of a list.
func (w *world) truth(key, path string, query url.Values) map[string]string {
	w.t.Helper()
	rows := map[string]string{}
	for cursor := ""; ; {
		q := url.Values{"limit": {"200"}}
		for k, v := range query {
			q[k] = v
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page struct {
			Data       []json.RawMessage
			NextCursor *string `json:"next_cursor"`
			HasMore    bool    `json:"has_more"`
		}
		w.ask(key, path+"?"+q.Encode(), &page)
		for _, raw := range page.Data {
			var row struct {
				ID, Code string
				Deleted  bool
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				w.t.Fatalf("truth: %v", err)
			}
			if row.ID == "" {
				row.ID = row.Code
			}
			if row.Deleted {
				delete(rows, row.ID)
			} else {
				rows[row.ID] = string(raw)
			}
		}
		if !page.HasMore {
			return rows
		}
		cursor = *page.NextCursor
	}
}

func (w *world) ask(key, uri string, into any) {
	w.t.Helper()
	for {
		r := httptest.NewRequest(http.MethodGet, "/v1"+uri, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		r.RemoteAddr = "127.0.0.2:1"
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code == 429 {
			time.Sleep(time.Second)
			continue
		}
		if rec.Code != 200 {
			w.t.Fatalf("truth: %s: %d %s", uri, rec.Code, rec.Body)
		}
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
			w.t.Fatalf("truth: %s: %v", uri, err)
		}
		return
	}
}

// cursorLists and snapshots are the streams of the restaurant's own rows.
var (
	cursorLists = namesWhere(func(d *registry.Definition) bool { return d.Kind == registry.ListKind && !d.ByKey })
	snapshots   = namesWhere(func(d *registry.Definition) bool { return d.Kind == registry.SnapshotKind })
)

func namesWhere(is func(*registry.Definition) bool) []string {
	return slices.DeleteFunc(registry.Names(), func(name string) bool { return !is(definitionOf(name)) })
}

// definitionOf is the registry's entry of a stream.
func definitionOf(stream string) *registry.Definition {
	all := registry.All()
	return all[slices.IndexFunc(all, func(d *registry.Definition) bool { return d.Name == stream })]
}

// orderingStreams are the streams of the ordering side.
var orderingStreams = []string{sandbox.StreamMenus, sandbox.StreamOnlineOrders}

// truthOrdering asks the service for the menus of a restaurant's locations, or for the orders
// placed through its key, as a policy keeps them.
func (w *world) truthOrdering(business int, stream string, kept personal.Policy) map[string]string {
	w.t.Helper()
	rows := map[string]string{}
	err := w.box.Truth(w.box.Key(business, sandbox.RoleMain).Value, stream, func(r sandbox.TruthRow) error {
		if stream == sandbox.StreamOnlineOrders {
			r.Row = kept.Order(r.Row)
		}
		rows[r.ID] = string(r.Row)
		return nil
	})
	if err != nil {
		w.t.Fatalf("truth of %s: %v", stream, err)
	}
	return rows
}

// kept is what the sources keep of customers.
func (w *world) kept() personal.Policy {
	var s Source
	if w.edit != nil {
		w.edit(&s)
	}
	return s.Personal
}

// truthList is a stream that is compared with the service row by row.
type truthList struct {
	stream, path string
	query        url.Values
}

// lists are those: all streams but the key, the service's totals and the ordering side.
func (w *world) lists() (all []truthList) {
	for _, d := range w.syncer.definitions {
		if !slices.Contains(cursorLists, d.Name) && !slices.Contains(snapshots, d.Name) {
			continue
		}
		l := truthList{stream: d.Name, path: d.Path}
		if !d.BackfillSince.IsZero() {
			l.query = url.Values{"updated_since": {d.BackfillSince.Format(time.RFC3339)}}
		}
		all = append(all, l)
	}
	return all
}

// equalLists compares the lists that one pass of orders and products brings.
func (w *world) equalLists() {
	w.t.Helper()
	w.compare("products", "sales_orders")
}

// equal compares the mirror with the service, row by row, with a key of the
// test's own, so that the source's budget is left alone.
func (w *world) equal() {
	w.t.Helper()
	w.compare()
}

// compare compares the named lists, all when none is named.
func (w *world) compare(streams ...string) {
	w.t.Helper()
	all := w.syncer.Status()
	for _, s := range all.Sources {
		key, business := "", 0
		for _, k := range w.box.Keys() {
			if k.BusinessID == s.BusinessID && k.Role == sandbox.RoleTest {
				key, business = k.Value, k.Business
			}
		}
		for _, l := range w.lists() {
			if len(streams) > 0 && !slices.Contains(streams, l.stream) {
				continue
			}
			w.same(s.Name, l.stream, w.truth(key, l.path, l.query), w.store.Rows(l.stream, s.BusinessID))
		}
		for _, name := range orderingStreams {
			if st := all.Stream(s.Name, name); len(streams) == 0 && st.State == status.StateRunning {
				w.same(s.Name, name, w.truthOrdering(business, name, w.kept()), w.store.Rows(name, s.BusinessID))
			}
		}
	}
}

func (w *world) same(source, stream string, want map[string]string, got map[string]memsink.Row) {
	w.t.Helper()
	wrong := 0
	report := func(format string, args ...any) {
		if wrong++; wrong <= 5 {
			w.t.Errorf("%s %s: "+format, append([]any{source, stream}, args...)...)
		}
	}
	for id, raw := range want {
		switch r, ok := got[id]; {
		case !ok:
			report("row %q is missing", id)
		case r.Deleted:
			report("row %q is removed (%s)", id, r.Reason)
		case r.Raw != raw:
			report("row %q differs:\n mirror  %s\n service %s", id, r.Raw, raw)
		}
	}
	for id, r := range got {
		if _, ok := want[id]; !ok && !r.Deleted {
			report("row %q is live in the mirror and gone in the service", id)
		}
	}
	if wrong > 0 {
		w.t.Errorf("%s %s: %d differences", source, stream, wrong)
	}
}

// mirrorQuery asks for every order of a location.
func mirrorQuery(location string) url.Values {
	return url.Values{"updated_since": {"1900-01-01T00:00:00Z"}, "location_id": {location}}
}
