package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/registry"
)

// wellSource is a source with nothing the matter.
func wellSource(name string) SourceStatus {
	s := SourceStatus{Name: name, State: StateRunning, Proof: &ProofStatus{ProvenUntil: "2026-03-13"}}
	for _, stream := range []string{"locations", "products", registry.Orders, registry.Daily} {
		s.Streams = append(s.Streams, StreamStatus{Name: stream, State: StateRunning, Lag: Seconds(time.Second)})
	}
	return s
}

func with(change func(*SourceStatus)) SourceStatus {
	s := wellSource("bistro")
	change(&s)
	return s
}

func kindsOf(all []Concern) string {
	var k []string
	for _, c := range all {
		k = append(k, c.Kind)
	}
	return strings.Join(k, " ")
}

func TestOnlyAMirrorThatIsFreshProvenAndWholeIsGood(t *testing.T) {
	orders, products := 2, 1
	tests := []struct {
		name   string
		source SourceStatus
		kinds  string
		label  string
		text   string
	}{
		{"well", wellSource("bistro"), "up_to_date", "up to date", "Everything is up to date and proven."},
		{"no sales", with(func(s *SourceStatus) { s.Streams, s.Proof = s.Streams[:2], nil }), "up_to_date", "up to date", "Everything is up to date."},
		{"orders off", with(func(s *SourceStatus) { s.Streams[orders].State, s.Proof = StateOff, nil }), "up_to_date", "up to date", "Everything is up to date."},
		{"drift", with(func(s *SourceStatus) { s.Proof.DriftDays = 90 }), "drift", "90 days differ", "90 days differ from the service's totals."},
		{"drift, and so not proven", with(func(s *SourceStatus) { s.Proof.DriftDays, s.Proof.Late = 2, true }), "drift", "2 days differ", "2 days differ from the service's totals."},
		{"drift, and days not compared", with(func(s *SourceStatus) { s.Proof.DriftDays, s.Proof.Late, s.Proof.OpenDays = 2, true, 1 }), "drift unproven", "2 days differ", "2 days differ from the service's totals."},
		{"one day", with(func(s *SourceStatus) { s.Proof.DriftDays = 1 }), "drift", "1 day differs", "1 day differs from the service's totals."},
		{"quarantine", with(func(s *SourceStatus) { s.Streams[products].Quarantined = 3 }), "quarantine", "3 rows in quarantine", "3 rows are in quarantine."},
		{"never compared", with(func(s *SourceStatus) { s.Proof = nil }), "unproven", "not proven yet", "Not proven yet."},
		{"late", with(func(s *SourceStatus) { s.Proof.Late = true }), "unproven", "proven until 2026-03-13", "Proven until 2026-03-13 only."},
		{"behind", with(func(s *SourceStatus) { s.Streams[products].Behind = true }), "behind", "products behind", "Larder is behind with products."},
		{"failing", with(func(s *SourceStatus) { s.Streams[products].State, s.Streams[0].Behind = StateFailing, true }), "behind", "2 streams behind", "Larder is behind with locations, products."},
		{"held", with(func(s *SourceStatus) {
			s.Streams[products].State, s.Streams[products].Detail = StateHeld, (&SweepHeld{}).Error()
		}), "sweep_held", "sweep held", "A sweep of products is held: a full resync did not see many of its live rows."},
		{"no access", with(func(s *SourceStatus) { s.Streams[products].State = StateForbidden }), "refused", "no access to products", "The key may not read products."},
		{"no scope for a stream that is named", with(func(s *SourceStatus) {
			s.Streams[products].State, s.Streams[products].NoScope, s.Lacks = StateOff, true, []string{"products"}
		}), "refused", "no access to products", "The key may not read products."},
		{"no scope for what is not named", with(func(s *SourceStatus) { s.Streams[products].State, s.Streams[products].NoScope = StateOff, true }), "up_to_date", "up to date", "Everything is up to date and proven."},
		{"no scope at all", SourceStatus{Name: "bistro", State: StateRunning, Lacks: []string{"products", registry.Orders}, Streams: []StreamStatus{
			{Name: registry.Key, State: StateRunning}, {Name: "products", State: StateOff, NoScope: true}, {Name: registry.Orders, State: StateOff, NoScope: true},
		}}, "refused", "no access to 2 streams", "The key may not read products, sales_orders."},
		{"a sweep is held, and the stream is late", with(func(s *SourceStatus) {
			s.Streams[products].State, s.Streams[products].Detail, s.Streams[products].Behind = StateHeld, "confirm it", true
		}), "sweep_held behind", "sweep held", "A sweep of products is held: a full resync did not see many of its live rows."},
		{"late, in a state of another version", with(func(s *SourceStatus) {
			s.Streams[products].State, s.Streams[products].Behind = "some_new_state", true
		}), "behind", "products behind", "Larder is behind with products."},
		{"refused", with(func(s *SourceStatus) {
			s.State, s.Detail = StateUnauthorized, "the API refuses the key (401)"
			s.Streams[products].Behind = true
		}), "refused", "key refused", "The service refuses the key."},
		{"refused, with older troubles", with(func(s *SourceStatus) {
			s.State, s.Proof.DriftDays, s.Streams[0].Quarantined, s.Proof.Late = StateKeyDisabled, 2, 1, true
		}), "refused drift quarantine", "key disabled", "The restaurant has disabled the key."},
		{"no answer", with(func(s *SourceStatus) { s.State = StateUnreachable }), "unserved", "no answer", "The service does not answer."},
		{"backfill", with(func(s *SourceStatus) {
			s.State, s.Streams[orders].State, s.Proof = StateBackfill, StateBackfill, nil
			s.Streams[orders].Progress = &Progress{Walk: "backfill", ExpectedLeft: Seconds(12 * time.Minute)}
		}), "backfill", "backfill", "Backfill under way, 12 min left."},
		{"backfill, with a bad row", with(func(s *SourceStatus) {
			s.Streams[orders].State, s.Proof, s.Streams[orders].Quarantined = StateBackfill, nil, 1
		}), "quarantine backfill", "1 row in quarantine", "1 row is in quarantine."},
		{"starting", SourceStatus{State: StateStarting, Streams: []StreamStatus{{Name: "products", State: StateStarting}}}, "starting", "starting", "Waiting for the first answer."},
		{"another process", with(func(s *SourceStatus) { s.State = StateWaiting }), "waiting", "waiting", "Another process serves this source."},
		{"no daemon", with(func(s *SourceStatus) { s.State, s.Proof.Late = StateStopped, true }), "stopped", "no daemon", "No daemon runs."},
		{"no daemon, drift", with(func(s *SourceStatus) { s.State, s.Proof.DriftDays = StateStopped, 1 }), "drift stopped", "1 day differs", "1 day differs from the service's totals."},
	}
	for _, tt := range tests {
		all := tt.source.Concerns()
		if kindsOf(all) != tt.kinds || all[0].Label != tt.label || all[0].Text != tt.text {
			t.Errorf("%s: %s, %q, %q; want %s, %q, %q", tt.name, kindsOf(all), all[0].Label, all[0].Text, tt.kinds, tt.label, tt.text)
		}
		if good := all[0].Tone() == ToneGood; good != (tt.kinds == HealthGood) {
			t.Errorf("%s: tone %s", tt.name, all[0].Tone())
		}
		if all[0].Tone() == ToneTrouble && all[0].Advice == "" && tt.source.Detail == "" {
			t.Errorf("%s: says nothing about what to do", tt.name)
		}
		one := Status{Sources: []SourceStatus{tt.source}}
		if got := one.Health(); got.Kind != all[0].Kind || got.Text != all[0].Text {
			t.Errorf("%s: of all sources, which is this one: %+v", tt.name, got)
		}
	}
}

// What the syncer says of a key that does not do is what the concern says already.
func TestNothingIsSaidTwice(t *testing.T) {
	for state, text := range map[string]string{
		StateUnauthorized: "The service refuses the key. " + stateTexts[StateUnauthorized].advice(),
		StateKeyDisabled:  "The restaurant has disabled the key. " + stateTexts[StateKeyDisabled].advice(),
		StateUnreachable:  "The service does not answer. The certificate is of another host.",
		StateForbidden:    "The key may not read this. " + stateTexts[StateForbidden].advice(),
	} {
		s := SourceStatus{State: state, Detail: "the API refuses the key (401): it is wrong or was deleted; put a valid one in place"}
		switch state {
		case StateKeyDisabled:
			s.Detail = "the restaurant has disabled the key: ask it to enable the key or to create another"
		case StateUnreachable:
			s.Detail = "the certificate is of another host"
		case StateForbidden:
			s.Detail = ""
		}
		if c := s.Health(); c.Text+" "+c.Advice != text {
			t.Errorf("%s: %s %s", state, c.Text, c.Advice)
		}
	}
}

func TestHealthOfSeveralSources(t *testing.T) {
	drift := with(func(s *SourceStatus) { s.Proof.DriftDays = 90 })
	bad := with(func(s *SourceStatus) { s.Streams[0].Quarantined, s.Streams[1].Quarantined = 3, 4 })
	refused := with(func(s *SourceStatus) { s.State = StateUnauthorized })
	noProducts := with(func(s *SourceStatus) { s.Streams[1].State = StateForbidden })
	filling := func(left time.Duration) SourceStatus {
		return with(func(s *SourceStatus) {
			s.State, s.Streams[2].State, s.Proof = StateBackfill, StateBackfill, nil
			s.Streams[2].Progress = &Progress{Walk: "backfill", ExpectedLeft: Seconds(left)}
		})
	}
	noSales := with(func(s *SourceStatus) { s.Streams, s.Proof = s.Streams[:2], nil })
	tests := []struct {
		name   string
		status Status
		kinds  string
		text   string
	}{
		{"none", Status{}, "no_sources", "No sources are configured."},
		{"well", Status{Sources: []SourceStatus{wellSource("a"), wellSource("b")}}, "up_to_date", "Everything is up to date and proven."},
		{"not all proven", Status{Sources: []SourceStatus{wellSource("a"), noSales}}, "up_to_date", "Everything is up to date."},
		{"one differs", Status{Sources: []SourceStatus{wellSource("a"), drift}}, "drift", "bistro: 90 days differ from the service's totals."},
		{"several", Status{Sources: []SourceStatus{wellSource("a"), bad, drift, drift}}, "drift quarantine", "bistro: 90 days differ from the service's totals. 1 more source has a concern of this kind."},
		{"several keys", Status{Sources: []SourceStatus{noProducts, refused, refused}}, "refused", "bistro: The key may not read products. 2 more sources have a concern of this kind."},
		{"backfills", Status{Sources: []SourceStatus{filling(time.Minute), filling(time.Hour)}}, "backfill", "bistro: Backfill under way. 1 more source has a concern of this kind."},
		{"a backfill", Status{Sources: []SourceStatus{filling(time.Minute), wellSource("a")}}, "backfill", "bistro: Backfill under way, 60 s left."},
		{"refused", Status{Sources: []SourceStatus{refused, bad, wellSource("a")}}, "refused quarantine", "bistro: The service refuses the key."},
		{"warehouse", Status{WarehouseUnavailable: true, Problems: []string{"connection refused"}, Sources: []SourceStatus{drift, wellSource("a")}}, "warehouse drift", "The warehouse takes no rows."},
		{"no rows are stored", marked(Warehouse{Unavailable: true}, wellSource("a"), wellSource("b")), "warehouse", "The warehouse takes no rows."},
		{"no rows of one are stored", marked(Warehouse{Unavailable: true}, wellSource("a")), "warehouse", "The warehouse takes no rows."},
		{"rows are lost", marked(Warehouse{Damaged: []string{"products"}}, wellSource("a"), wellSource("b")), "damage", "Part of the warehouse is damaged: rows are missing."},
		{"rows of one are lost", marked(Warehouse{Damaged: []string{"products"}}, wellSource("a")), "damage", "Part of the warehouse is damaged: rows are missing."},
		{"damaged", Status{Damaged: true, Problems: []string{"a part is gone"}, Sources: []SourceStatus{wellSource("b"), drift}}, "damage drift", "Part of the warehouse is damaged: rows are missing."},
		{"the engine", Status{Problems: []string{"it has ended nine times"}, Sources: []SourceStatus{wellSource("b"), drift}}, "warehouse drift", "Larder needs attention."},
		{"configuration", Status{Refused: true, Problems: []string{"line 3"}, Sources: []SourceStatus{wellSource("b"), wellSource("a")}}, "configuration", "The changed configuration is refused."},
	}
	for _, tt := range tests {
		all := tt.status.Concerns()
		if kindsOf(all) != tt.kinds || all[0].Text != tt.text {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, kindsOf(all), all[0].Text, tt.kinds, tt.text)
		}
	}
	several := Status{Sources: []SourceStatus{wellSource("a"), bad, drift, drift}}
	if all := several.Concerns(); all[0].Amount != 180 || all[0].Label != "90 days differ" || all[1].Amount != 7 {
		t.Errorf("added up: %+v", all)
	}
	held := with(func(s *SourceStatus) {
		for i := range 2 {
			s.Streams[i].State, s.Streams[i].Detail = StateHeld, (&SweepHeld{Stream: s.Streams[i].Name}).Error()
		}
	})
	if c := held.Health(); c.Amount != 2 || !strings.Contains(c.Advice, "--stream locations") || !strings.Contains(c.Advice, "--stream products") {
		t.Errorf("two sweeps: %+v", c)
	}
}

// A stream that is behind has a note, as the advice says.
func TestAStreamThatIsBehindSaysWhy(t *testing.T) {
	now := time.Now()
	behind := StreamStatus{Name: "products", State: StateRunning, Behind: true, LastSuccess: now.Add(-100 * time.Second), Lag: Seconds(100 * time.Second)}
	failed := behind
	failed.LastError, failed.LastErrorAt = "no", now
	behind.Detail = "Some orders were skipped."
	for want, st := range map[string]StreamStatus{
		"No walk has ended for 100 s: the service answers slowly or not at all, or there is more to fetch than the limits allow.": behind,
		"last error just now: no": failed,
	} {
		s := SourceStatus{State: StateRunning, Streams: []StreamStatus{st}}
		if got := strings.Join(s.StreamNotes(now, &s.Streams[0]), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A last error is shown once, and not where the source's trouble explains it.
func TestAStreamsLastErrorIsShownOnce(t *testing.T) {
	for want, change := range map[string]func(*SourceStatus, *StreamStatus){
		"GET /products: no answer. It is tried again.": func(_ *SourceStatus, st *StreamStatus) { st.Detail = "GET /products: no answer. It is tried again." },
		"Some were skipped. | last error: GET /products: no answer": func(_ *SourceStatus, st *StreamStatus) {
			st.Detail = "Some were skipped."
		},
		"Not configured, or the key lacks the scope.": func(s *SourceStatus, st *StreamStatus) { s.State, st.State = StateUnauthorized, StateOff },
		"": func(s *SourceStatus, _ *StreamStatus) { s.State = StateUnauthorized },
	} {
		s := with(func(s *SourceStatus) { s.Streams[1].LastError = "GET /products: no answer"; change(s, &s.Streams[1]) })
		if got := strings.Join(s.StreamNotes(time.Now(), &s.Streams[1]), " | "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestALightIsGreenOnlyWhenTheStreamIsWell(t *testing.T) {
	type light struct {
		label string
		tone  Tone
	}
	tests := []struct {
		source SourceStatus
		stream int
		want   light
	}{
		{wellSource("a"), 1, light{"up to date", ToneGood}},
		{with(func(s *SourceStatus) { s.Streams[1].Quarantined = 2 }), 1, light{"2 in quarantine", ToneTrouble}},
		{with(func(s *SourceStatus) { s.Proof.DriftDays = 2 }), 2, light{"2 days differ", ToneTrouble}},
		{with(func(s *SourceStatus) { s.Proof.DriftDays = 2 }), 1, light{"up to date", ToneGood}},
		{with(func(s *SourceStatus) { s.Streams[1].Behind = true }), 1, light{"behind", ToneTrouble}},
		{with(func(s *SourceStatus) { s.State = StateUnauthorized }), 1, light{"not asked", ToneQuiet}},
		{with(func(s *SourceStatus) { s.State = StateUnreachable }), 2, light{"not asked", ToneQuiet}},
		{with(func(s *SourceStatus) { s.Streams[1].State, s.Lacks = StateOff, []string{"products"} }), 1, light{"no access", ToneTrouble}},
		{with(func(s *SourceStatus) { s.Streams[1].State, s.Streams[1].NoScope = StateOff, true }), 1, light{"off", ToneQuiet}},
		{with(func(s *SourceStatus) { s.Streams[1].State = StateForbidden }), 1, light{"no access", ToneTrouble}},
		{with(func(s *SourceStatus) { s.State, s.Streams[1].State = StateUnauthorized, StateForbidden }), 1, light{"not asked", ToneQuiet}},
		{with(func(s *SourceStatus) { s.Streams[1].State = "some_new_state" }), 1, light{"some new state", ToneQuiet}},
	}
	for i, tt := range tests {
		if got := tt.source.Light(&tt.source.Streams[tt.stream]); (light{got.Label, got.Tone()}) != tt.want {
			t.Errorf("%d: %+v, want %+v", i, got, tt.want)
		}
	}
}

func TestEveryStateHasWords(t *testing.T) {
	for _, state := range []string{
		StateStarting, StateRunning, StateBackfill, StateHeld, StateOff, StateWaiting, StateUnauthorized, StateKeyDisabled,
		StateAPIDisabled, StateForbidden, StateUnreachable, StateFailing, StateUnstored, StateStopped,
	} {
		s := SourceStatus{State: StateRunning, Streams: []StreamStatus{{Name: "products", State: state}}}
		if l := s.Light(&s.Streams[0]); l.Label == "" || (l.Tone() == ToneGood) != (state == StateRunning) {
			t.Errorf("stream %s: %+v", state, l)
		}
		s = SourceStatus{State: state}
		if c := s.Health(); c.Label == "" || c.Text == "" {
			t.Errorf("source %s: %+v", state, c)
		}
	}
}

func TestStatusInJSONSaysWhatIsTheMatter(t *testing.T) {
	s := Status{Sources: []SourceStatus{with(func(s *SourceStatus) { s.Proof.DriftDays = 2 })}}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Health   string
		Concerns []Concern
		Sources  []struct {
			Name, Health string
			Concerns     []Concern
		}
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Health != HealthDrift || got.Sources[0].Health != HealthDrift || got.Sources[0].Name != "bistro" ||
		!slices.Equal(got.Concerns, s.Concerns()) || !slices.Equal(got.Sources[0].Concerns, s.Sources[0].Concerns()) {
		t.Errorf("%v: %s", err, text)
	}
	var back Status
	if err := json.Unmarshal(text, &back); err != nil || len(back.Sources) != 1 || back.Sources[0].Proof.DriftDays != 2 || back.Health() != s.Health() {
		t.Errorf("%v: %+v", err, back)
	}
}

// marked is a daemon's status over a warehouse in trouble.
func marked(w Warehouse, sources ...SourceStatus) Status {
	s := Status{WarehouseUnavailable: w.Unavailable, Damaged: len(w.Damaged) > 0, Problems: []string{"it is gone"}, Sources: sources}
	w.Mark(&s)
	return s
}

// Of a source whose rows cannot be stored nothing is green, and one sentence says so.
func TestNothingIsGreenOverAWarehouseInTrouble(t *testing.T) {
	off, held, refused := 0, 1, StateUnauthorized
	tests := []struct {
		name      string
		warehouse Warehouse
		source    SourceStatus
		kinds     string
		label     string
		lights    string
	}{
		{"away", Warehouse{Unavailable: true}, wellSource("a"), "warehouse", "not stored", "not stored, not stored, not stored, not stored"},
		{"away, and old troubles", Warehouse{Unavailable: true}, with(func(s *SourceStatus) {
			s.Streams[off].State, s.Streams[held].State, s.Streams[2].State, s.Proof.DriftDays = StateOff, StateHeld, StateFailing, 2
		}), "warehouse sweep_held drift", "not stored", "off, not asked, not stored, not stored"},
		{"away, and the key refused", Warehouse{Unavailable: true}, with(func(s *SourceStatus) { s.State = refused }), "refused", "key refused", "not asked, not asked, not asked, not asked"},
		{"away, and served elsewhere", Warehouse{Unavailable: true}, with(func(s *SourceStatus) {
			s.State = StateWaiting
			for i := range s.Streams {
				s.Streams[i].State = StateWaiting
			}
		}), "waiting", "waiting", "waiting, waiting, waiting, waiting"},
		{"away before the first answer", Warehouse{Unavailable: true}, SourceStatus{State: StateStarting}, "warehouse", "not stored", ""},
		{"away in a backfill", Warehouse{Unavailable: true}, with(func(s *SourceStatus) { s.State, s.Streams[2].State, s.Proof = StateBackfill, StateBackfill, nil }), "warehouse", "not stored", "not stored, not stored, not stored, not stored"},
		{"rows lost", Warehouse{Damaged: []string{"products", "ingredients"}}, wellSource("a"), "damage", "rows missing", "up to date, rows missing, up to date, up to date"},
		{"rows lost of what is off", Warehouse{Damaged: []string{"locations"}}, with(func(s *SourceStatus) { s.Streams[off].State = StateOff }), "up_to_date", "up to date", "off, up to date, up to date, up to date"},
		{"both", Warehouse{Unavailable: true, Damaged: []string{"products"}}, wellSource("a"), "warehouse damage", "not stored", "not stored, not stored, not stored, not stored"},
		{"nothing", Warehouse{}, wellSource("a"), "up_to_date", "up to date", "up to date, up to date, up to date, up to date"},
	}
	for _, tt := range tests {
		tt.source = marked(tt.warehouse, tt.source).Sources[0]
		all := tt.source.Concerns()
		if kindsOf(all) != tt.kinds || all[0].Label != tt.label {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, kindsOf(all), all[0].Label, tt.kinds, tt.label)
		}
		var lights []string
		for i := range tt.source.Streams {
			l := tt.source.Light(&tt.source.Streams[i])
			if lights = append(lights, l.Label); tt.warehouse.Unavailable && l.Tone() == ToneGood {
				t.Errorf("%s: %s is green", tt.name, tt.source.Streams[i].Name)
			}
			if note := strings.Join(tt.source.StreamNotes(time.Now(), &tt.source.Streams[i]), "; "); tt.warehouse.Unavailable && strings.Contains(note, "warehouse") {
				t.Errorf("%s: it is said again: %s", tt.name, note)
			}
		}
		if got := strings.Join(lights, ", "); tt.lights != "" && got != tt.lights {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.lights)
		}
	}
}
