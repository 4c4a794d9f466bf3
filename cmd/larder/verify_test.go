package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// What is behind by schedule is told apart from what differs, with when it is asked for
// again and how to ask now, in text and in JSON.
func TestStaleRowsAreToldApart(t *testing.T) {
	until := time.Date(2026, 4, 2, 3, 41, 0, 0, time.Local)
	report := syncer.VerifyReport{Sources: []syncer.SourceVerify{{Source: "bistro", Streams: []syncer.StreamVerify{{
		StreamOutcome: syncer.StreamOutcome{Stream: "sales_products"}, Rows: 900, Stale: 312, StaleUntil: until, StaleNow: "larder reconcile --source bistro", Done: true,
	}}}}}
	finding := syncer.Finding{Kind: syncer.FoundStale, Source: "bistro", Stream: "sales_products", ID: "2026-03-01/p/42", Field: "net",
		API: []byte(`"2.00"`), Mirror: []byte(`"1.00"`), Hint: "asked for again by schedule on 2026-04-02 03:41"}
	for asJSON, wants := range map[bool][]string{
		false: {
			"stale: bistro sales_products 2026-03-01/p/42 net: API \"2.00\", mirror \"1.00\"\n",
			"312 rows are behind by schedule alone, and are asked for again until 2026-04-02 03:41; to ask now: larder reconcile --source bistro\n",
			"differences: 0, stale by schedule: 312,",
		},
		true: {
			`"kind":"stale"`, `"hint":"asked for again by schedule on 2026-04-02 03:41"`,
			`"differences":0,"stale":312,`, `"stale_until":"2026-04-02T03:41:00`, `"stale_now":"larder reconcile --source bistro"`,
		},
	} {
		var out bytes.Buffer
		p := &findingPrinter{printer: printer{out: &out, json: asJSON}}
		p.print(finding)
		p.summary(report, nil)
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in\n%s", want, out.String())
			}
		}
	}
}
