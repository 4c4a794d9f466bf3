package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEnvelopeIsReadStrictly(t *testing.T) {
	cases := []struct {
		name, body string
		kind       BodyKind
		reason     string
	}{
		{"empty", ``, BodyEmpty, "it is empty"},
		{"blank", " \n\t ", BodyEmpty, "it is empty"},
		{"html", "\n<!doctype html><html>", BodyHTML, "it is HTML, not JSON"},
		{"a word", `Service Unavailable`, BodySyntax, "invalid character 'S' at start of value"},
		{"an array", `[]`, BodyShape, "it is not an object"},
		{"null", `null`, BodyShape, "it is not an object"},
		{"no data", `{"next_cursor":null,"has_more":false}`, BodyShape, `no "data"`},
		{"data null", `{"data":null,"next_cursor":null,"has_more":false}`, BodyShape, `"data" is not an array`},
		{"data an object", `{"data":{},"next_cursor":null,"has_more":false}`, BodyShape, `"data" is not an array`},
		{"no has_more", `{"data":[],"next_cursor":null}`, BodyShape, `no "has_more"`},
		{"has_more text", `{"data":[],"has_more":"true"}`, BodyShape, `the value at "/has_more" does not fit bool`},
		{"has_more null", `{"data":[],"has_more":null}`, BodyShape, `no "has_more"`},
		{"cursor a number", `{"data":[],"next_cursor":7,"has_more":true}`, BodyShape, `the value at "/next_cursor" does not fit string`},
		{"data twice", `{"data":[],"data":[],"has_more":true}`, BodyShape, `"data" comes twice`},
		{"data twice, escaped", `{"data":[],"d\u0061ta":[],"has_more":true}`, BodyShape, `"data" comes twice`},
		{"has_more twice", `{"data":[],"has_more":true,"has_more":false}`, BodyShape, `"has_more" comes twice`},
		{"has_more null and true", `{"data":[],"has_more":null,"has_more":true}`, BodyShape, `"has_more" comes twice`},
		{"cursor twice", `{"data":[{}],"next_cursor":"a","next_cursor":null,"has_more":false}`, BodyShape, `"next_cursor" comes twice`},
		{"cut in a row", `{"data":[{"id":"a`, BodyTruncated, "it ends in the middle"},
		{"cut in an escape", `{"data":[{"id":"a\u00`, BodyTruncated, "it ends in the middle"},
		{"cut in a word", `{"data":[tru`, BodyTruncated, "it ends in the middle"},
		{"cut behind a number", `{"data":[1`, BodyTruncated, "it ends in the middle"},
		{"cut before the end", `{"data":[],"has_more":false`, BodyTruncated, "it ends in the middle"},
		{"garbage behind", `{"data":[],"has_more":false} x`, BodySyntax, "invalid character 'x' after top-level value"},
		{"twice", `{"data":[],"has_more":false}{}`, BodySyntax, "invalid character '{' after top-level value"},
		{"comma at the end", `{"data":[1,],"has_more":false}`, BodySyntax, "invalid character ',' at start of value"},
		{"comma in the object", `{"data":[{"a":1,}],"has_more":false}`, BodySyntax, `invalid character '}' at start of string (expecting '"')`},
		{"no comma", `{"data":[1 2],"has_more":false}`, BodySyntax, "invalid character '2' after array element (expecting ',' or ']')"},
		{"no colon", `{"data" [],"has_more":false}`, BodySyntax, "invalid character '[' after object name (expecting ':')"},
		{"single quotes", `{'data':[]}`, BodySyntax, `invalid character '\'' at start of value`},
		{"NaN", `{"data":[NaN]}`, BodySyntax, "invalid character 'N' at start of value"},
		{"leading zero", `{"data":[012]}`, BodySyntax, "invalid character '1' after array element (expecting ',' or ']')"},
		{"bare dot", `{"data":[1.]}`, BodySyntax, "invalid character ']' in number (expecting digit)"},
		{"line break in a string", "{\"data\":[\"a\nb\"]}", BodySyntax, `invalid character '\n' in string (expecting non-control character)`},
		{"broken escape", `{"data":["\x41"]}`, BodySyntax, "invalid escape sequence `\\x` in string"},
		{"too deep", `{"data":[` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `]}`, BodySyntax, "exceeded max depth"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parsePage([]byte(c.body))
			shape, ok := errors.AsType[*BodyError](err)
			if !ok || shape.Kind != c.kind || shape.Reason != c.reason {
				t.Errorf("got %+v (%v), want %s: %s", shape, err, c.kind, c.reason)
			}
		})
	}
}

// What one envelope has is an unknown field in another, and may hold anything.
func TestUnknownFieldsOfEnvelopes(t *testing.T) {
	odd := `"currency":7,"group_by":{},"totals":[],"Data":1,"HAS_MORE":"x","x":[{"data":1,"data":2}],`
	if page, err := parsePage([]byte(`{` + odd + `"from":1,"to":[],"data":[1],"next_cursor":null,"has_more":false}`)); err != nil || len(page.Rows) != 1 {
		t.Errorf("page %+v: %v", page, err)
	}
	if s, err := parseSnapshot([]byte(`{` + odd + `"from":1,"to":[],"has_more":"no","next_cursor":7,"data":[1,2]}`)); err != nil || len(s.Rows) != 2 {
		t.Errorf("snapshot %+v: %v", s, err)
	}
	if r, err := parseReport([]byte(`{"totals":[],"has_more":7,"next_cursor":{},"currency":"RON","from":"a","to":"b","group_by":"day","data":[1]}`), false); err != nil || len(r.Rows) != 1 {
		t.Errorf("report %+v: %v", r, err)
	}
	if r, err := parseReport([]byte(`{"group_by":7,"has_more":7,"next_cursor":{},"currency":"RON","from":"a","to":"b","totals":{},"data":[1]}`), true); err != nil || len(r.Rows) != 1 {
		t.Errorf("report %+v: %v", r, err)
	}
	me, err := parseMe([]byte(`{"App":7,"app":{"ID":5,"id":"a","name":"k","mode":"live"},"business":{"id":"b"},"SCOPES":null,"scopes":["sales:read"],"location_ids":[],"Rate_Limits":"none"}`))
	if err != nil || me.App.ID != "a" || len(me.Scopes) != 1 {
		t.Errorf("key %+v: %v", me, err)
	}
}

func TestReportNeedsItsTotals(t *testing.T) {
	body := []byte(`{"currency":"RON","from":"2026-01-01","to":"2026-01-02","group_by":"day","data":[{"a":1}],"totals":{"orders":3}}`)
	r, err := parseReport(body, true)
	if err != nil {
		t.Fatal(err)
	}
	if r.Currency != "RON" || string(r.Totals) != `{"orders":3}` || len(r.Rows) != 1 {
		t.Errorf("read %+v", r)
	}
	if &body[bytes.Index(body, r.Totals)] != &r.Totals[0] {
		t.Error("the totals are a copy")
	}
	for _, wrong := range []string{`{"data":[]}`, `{"data":[],"totals":[]}`, `{"data":[],"totals":{},"totals":{}}`, `{"data":[],"totals":{},"currency":"a","currency":"b"}`} {
		if _, err := parseReport([]byte(wrong), true); err == nil {
			t.Errorf("a daily report was taken: %s", wrong)
		}
	}
	body = append(append([]byte(`{"totals":[`), bytes.Repeat([]byte(`"1",`), 1<<20)...), `1],"totals":7,"data":[1]}`...)
	if got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r, err := parseReport(body, false); err != nil || len(r.Rows) != 1 || r.Totals != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp(); got > 1<<20 {
		t.Errorf("totals that nobody asks for take %d bytes", got)
	}
}

// FuzzBody holds the reading of bodies against the standard library: both must take and
// refuse the same.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"data":[{"a":[1,-2.5e+3,"\u00e9\n"]},null,true],"has_more":false}`, `{}`, `[1,`, "\xff", `{"a":1}x`, `"\\"`, string(orderPage(2))} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sameAsStandard(t, body)
	})
}

func sameAsStandard(t interface {
	Errorf(string, ...any)
}, body []byte) {
	err := parseObject(body, &struct{}{})
	want := json.Valid(body) && bytes.TrimLeft(body, blanks)[0] == '{'
	if (err == nil) != want {
		t.Errorf("%q: %v, the standard library takes it: %v", body, err, want)
	}
}

func TestBrokenPagesAreRefused(t *testing.T) {
	whole := orderPage(3)
	rapid.Check(t, func(t *rapid.T) {
		body := append([]byte{}, whole...)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			if len(body) == 0 {
				break
			}
			i := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				body[i] = rapid.Byte().Draw(t, "byte")
			case 1:
				body = append(body[:i], body[i+1:]...)
			case 2:
				body = body[:max(i, 1)]
			}
		}
		sameAsStandard(t, body)
	})
}

func TestRowsComeOutAsReceived(t *testing.T) {
	body := orderPage(200)
	page, err := parsePage(body)
	if err != nil {
		t.Fatal(err)
	}
	var std struct{ Data []json.RawMessage }
	if err := json.Unmarshal(body, &std); err != nil {
		t.Fatal(err)
	}
	for i, row := range page.Rows {
		if string(row) != string(std.Data[i]) {
			t.Fatalf("row %d: %s, want %s", i, row, std.Data[i])
		}
		if cap(row) != len(row) {
			t.Fatalf("row %d: appending to it would write into the next", i)
		}
	}
	if !page.HasMore || page.NextCursor != "b2Zmc2V0OjIwMA==" || len(page.Rows) != 200 {
		t.Errorf("page: %d rows, cursor %q", len(page.Rows), page.NextCursor)
	}
}

// A page at rest has no rows, or the last few once more.
func TestASmallPageTakesLittleMemory(t *testing.T) {
	for n := range 3 {
		p, err := parsePage(orderPage(n))
		if err != nil || p.Rows == nil || len(p.Rows) != n || cap(p.Rows) > 4 {
			t.Errorf("a page of %d rows: %d in memory for %d: %v", n, len(p.Rows), cap(p.Rows), err)
		}
	}
}
