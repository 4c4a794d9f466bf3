package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// ask is a query of the warehouse, a value for each row.
func (w *world) ask(t *testing.T, sql string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := w.app.Query(t.Context(), sql, "TSV", &out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// hostileRow makes the JSON of a product with another id, whose field is another value.
type hostileRow func(field, value string) string

// hostileRows changes a product that the mirror holds.
func (s *siege) hostileRows(t *testing.T) hostileRow {
	t.Helper()
	whole := s.mirrored(t)[listOf{sandbox.StreamProducts, s.Key(0, sandbox.RoleMain).BusinessID}][s.Restaurant(0).IDs(sandbox.StreamProducts)[0]]
	return func(change, value string) string {
		raw, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		fields["id"] = json.RawMessage(`"hostile"`)
		var b strings.Builder
		for name, v := range fields {
			if name == change {
				v = json.RawMessage(value)
			}
			fmt.Fprintf(&b, ",%q:%s", name, v)
		}
		if _, known := fields[change]; !known {
			fmt.Fprintf(&b, ",%q:%s", change, value)
		}
		return "{" + b.String()[1:] + "}"
	}
}

// Rows that cannot be stored go to quarantine with their JSON, the field and the
// reason; their neighbours land, and what can be stored exactly does.
func (s *siege) rows(t *testing.T) {
	row := s.hostileRows(t)
	s.quarantines(t, row)
	s.storesExactly(t, row)
	s.storesLarge(t, row)
	s.attackWith(on("/products", s.tampering(withRows(`{"id":"hostile","deleted":true,"deleted_at":null,"updated_at":null}`))))
	if says := s.failure(t, "products"); says != "" {
		t.Error(says)
	}
	s.behave()
	s.whole(t)
}

func (s *siege) quarantines(t *testing.T, row hostileRow) {
	digits := strings.Repeat("9", 1_000_000)
	cases := []struct{ name, row, field, reason string }{
		{"a number of a million digits", row("calories", digits), "calories", "does not fit in 64 bits"},
		{"money of a million digits", row("price", `"`+digits+`.00"`), "price", "more than 16 digits before the point"},
		{"an exponent of a million", row("vat_rate", "1e1000000"), "vat_rate", "more than 28 digits before the point"},
		{"an exponent of 400 million", row("vat_rate", "1E+400000000"), "vat_rate", "more than 28 digits before the point"},
		{"a tiny exponent", row("calories", "1E-400000000"), "calories", "want a whole number"},
		{"a day that is none", row("updated_at", `"2026-02-31T00:00:00Z"`), "updated_at", "no such day"},
		{"invalid UTF-8", row("name", "\"\xff\xfe\""), "name", "UTF-8"},
		{"deep nesting", row("diets", strings.Repeat("[", 400)+strings.Repeat("]", 400)), "diets.0", "want a string"},
		{"an array for an object", row("channels", "[]"), "channels", "want an object"},
		{"an object for an array", row("diets", "{}"), "diets", "want an array"},
		{"a key twice", row("name", `"a","name":"b"`), "name", "there twice"},
		{"an id of a megabyte", strings.Replace(row("x", "0"), `"hostile"`, `"`+strings.Repeat("i", 1<<20)+`"`, 1), "id", "longer than 1024 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s.attackWith(on("/products", s.tampering(withRows(c.row))))
			defer s.behave()
			began := time.Now()
			if says := s.failure(t, "products"); says != "" {
				t.Fatalf("the walk failed: %.500s", says)
			}
			open := s.ask(t, "SELECT field, reason, length(raw) FROM larder.quarantine WHERE source = 'r0' ORDER BY fetched_at DESC LIMIT 1")
			field, reason, _ := strings.Cut(open[0], "\t")
			if field != c.field || !strings.Contains(reason, c.reason) || len(reason) > 600 {
				t.Errorf("quarantine says %.700s", open[0])
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func (s *siege) storesExactly(t *testing.T, row hostileRow) {
	for name, value := range map[string]string{
		"a NUL in a name":          `"a\u0000b"`,
		"a name of a megabyte":     `"` + strings.Repeat("ă", 1<<19) + `"`,
		"control characters":       `"\u001b[31m\u202e\r\n"`,
		"characters beyond 16 bit": `"🍲\ud83c\udf72"`,
		"half of a surrogate pair": `"Pizza \ud83c"`,
	} {
		s.attackWith(on("/products", s.tampering(withRows(row("name", value)))))
		if says := s.failure(t, "products"); says != "" {
			t.Errorf("%s: %.500s", name, says)
		}
		var want string
		if err := json.Unmarshal([]byte(value), &want); err != nil {
			t.Fatal(err)
		}
		if got := s.ask(t, "SELECT hex(name) FROM larder.products WHERE id = 'hostile'")[0]; got != fmt.Sprintf("%X", want) {
			t.Errorf("%s: stored as %.200s", name, got)
		}
	}
}

func (s *siege) storesLarge(t *testing.T, row hostileRow) {
	s.attackWith(on("/products", s.tampering(withRows(row("unknown0", "0"+manyFields(200_000))))))
	if says := s.failure(t, "products"); says != "" {
		t.Errorf("200,000 unknown fields: %.500s", says)
	}
	if got := s.ask(t, "SELECT JSONHas(_raw, 'unknown199999') FROM larder_raw.products FINAL WHERE id = 'hostile'")[0]; got != "1" {
		t.Errorf("200,000 unknown fields: stored %s", got)
	}
	s.attackWith(on("/products", s.tampering(withRows(strings.Repeat(row("name", `"repeated"`)+",", 9999)+row("name", `"repeated"`)))))
	if says := s.failure(t, "products"); says != "" {
		t.Errorf("a row 10,000 times: %.500s", says)
	}
	if got := s.ask(t, "SELECT count(), any(name) FROM larder.products WHERE id = 'hostile'")[0]; got != "1\trepeated" {
		t.Errorf("a row 10,000 times is stored as %s", got)
	}
	if states := s.ask(t, "SELECT count() FROM larder.product_history WHERE id = 'hostile' AND name = 'repeated'")[0]; states != "1" {
		t.Errorf("a row 10,000 times is %s states", states)
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"unknown%d":0`, i+1)
	}
	return b.String()
}

// Pages that are alike under cursors that are always new are followed to the end of the list,
// however many there are.
func (s *siege) manyPagesAlike(t *testing.T) {
	const most = 300
	var pages int
	s.attackWith(on("/products", func(w http.ResponseWriter, r *http.Request) {
		pages++
		answering(200, fmt.Sprintf(`{"data":[{"id":"a","deleted":true,"deleted_at":null,"updated_at":null}],"has_more":%t,"next_cursor":"c%d"}`, pages < most, pages))(w, r)
	}))
	if says := s.failure(t, "products"); says != "" || pages != most {
		t.Errorf("after %d pages: %s", pages, says)
	}
	s.behave()
	s.whole(t)
}

// A service that sends bad rows without end does not fill the warehouse with them: the
// walk stops in front of what is too much, and goes on when the rows are good.
func (s *siege) badRowsWithoutEnd(t *testing.T) {
	page := 0
	s.attackWith(on("/products", func(w http.ResponseWriter, r *http.Request) {
		page++
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, `,{"id":"bad-%d-%d"}`, page, i)
		}
		answering(200, fmt.Sprintf(`{"data":[%s],"has_more":true,"next_cursor":"c%d"}`, b.String()[1:], page))(w, r)
	}))
	if says := s.failure(t, "products"); !strings.Contains(says, "20000 rows in quarantine") {
		t.Errorf("after %d pages: %s", page, says)
	}
	if open := s.ask(t, "SELECT count() FROM larder.quarantine WHERE source = 'r0' AND raw LIKE '%bad-%'")[0]; open != "20000" {
		t.Errorf("%s entries are open", open)
	}
	s.behave()
	s.touched(t)
}
