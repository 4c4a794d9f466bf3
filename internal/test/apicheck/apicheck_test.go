package apicheck

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/larder-sync/larder/docs"
	"github.com/larder-sync/larder/internal/sandbox/answers"
)

func TestTheDescriptionIsOpenAPI31(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("version %s", doc.OpenAPI)
	}
}

// limited is the headers of an answer to a valid key.
func limited() http.Header {
	return http.Header{"X-Ratelimit-Limit": {"120"}, "X-Ratelimit-Remaining": {"119"}}
}

func allergens(row string) []byte { return []byte(`{"data":[` + row + `]}`) }

func TestWhatIsNotAsDescribedIsFound(t *testing.T) {
	daily := func(method string) []byte {
		const zero = `"orders":0,"net_sales":"0.00","items":"0.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00","deposits":"0.00","refunds":"0.00"`
		return []byte(`{"currency":"RON","from":"2026-01-01","to":"2026-01-01","data":[],"totals":{` + zero +
			`,"payments":{"cash":"0.00","card":"0.00","card_at_counter":"0.00","online":"0.00","voucher":"0.00","protocol":"0.00","other":"0.00"` + method +
			`},"by_type":{"dine_in":"0.00","takeaway":"0.00","delivery":"0.00"},"by_channel":{"pos":"0.00","platform_a":"0.00","platform_b":"0.00","direct":"0.00"}}}`)
	}
	const named, cancelled = `{"code":"gluten","name":"Gluten"}`, `{"error":{"code":"cannot_cancel","message":"","display_message":"","details":{"status":`
	for name, c := range map[string]struct {
		want string // part of the error; "" for an answer that is right
		a    answers.Answer
	}{
		"right":              {"", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens(named)}},
		"no rows":            {"", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens("")}},
		"an unknown field":   {"false schema", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens(`{"code":"a","name":"b","new":1}`)}},
		"a missing field":    {"missing property 'name'", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens(`{"code":"a"}`)}},
		"a null":             {"got null", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens(`{"code":"a","name":null}`)}},
		"an unknown status":  {"no such answer", answers.Answer{Route: "GET /allergens", Status: 418, Header: limited()}},
		"an unknown route":   {"no such answer", answers.Answer{Route: "GET /tables", Status: 200, Header: limited()}},
		"no JSON":            {"EOF", answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: []byte(`{"data":[`)}},
		"a missing header":   {"X-RateLimit-", answers.Answer{Route: "GET /allergens", Status: 200, Header: http.Header{}, Body: allergens(named)}},
		"limits of no key":   {"before the key", answers.Answer{Route: "GET /allergens", Status: 401, Header: limited(), Body: []byte(`{"error":{"code":"unauthorized"}}`)}},
		"another error":      {"none of", answers.Answer{Route: "GET /allergens", Status: 401, Header: http.Header{}, Body: []byte(`{"error":{"code":"not_found"}}`)}},
		"details":            {"", answers.Answer{Route: "POST /orders/{order_id}/cancel", Status: 409, Header: limited(), Body: []byte(cancelled + `"ready"}}}`)}},
		"an unknown value":   {"must be one of", answers.Answer{Route: "POST /orders/{order_id}/cancel", Status: 409, Header: limited(), Body: []byte(cancelled + `"eaten"}}}`)}},
		"an expected value":  {"", answers.Answer{Route: "POST /orders/{order_id}/cancel", Status: 409, Header: limited(), NewValues: true, Body: []byte(cancelled + `"eaten"}}}`)}},
		"an unknown detail":  {"false schema", answers.Answer{Route: "POST /orders/{order_id}/cancel", Status: 409, Header: limited(), Body: []byte(cancelled + `"ready","x":1}}}`)}},
		"a body where none":  {"no body", answers.Answer{Route: "GET /locations/{location_id}/menu", Status: 304, Header: http.Header{"Etag": {"x"}, "X-Ratelimit-Limit": {"1"}, "X-Ratelimit-Remaining": {"1"}}, Body: []byte("{}")}},
		"an error elsewhere": {"missing property 'details'", answers.Answer{Status: 404, Body: []byte(`{"error":{"code":"not_found","message":"","display_message":""}}`)}},

		"limits of a disabled key":   {"before the key", answers.Answer{Route: "GET /allergens", Status: 403, Header: limited(), Body: []byte(`{"error":{"code":"api_key_disabled"}}`)}},
		"no limits of a valid key":   {"X-RateLimit-Limit is missing", answers.Answer{Route: "GET /allergens", Status: 403, Header: http.Header{}, Body: []byte(`{"error":{"code":"location_forbidden"}}`)}},
		"an unknown key of a map":    {"must be one of", answers.Answer{Route: "GET /sales/daily", Status: 200, Header: limited(), Body: daily(`,"crypto":"1.00"`)}},
		"an expected key of a map":   {"", answers.Answer{Route: "GET /sales/daily", Status: 200, Header: limited(), NewValues: true, Body: daily(`,"crypto":"1.00"`)}},
		"the keys of a map, no more": {"", answers.Answer{Route: "GET /sales/daily", Status: 200, Header: limited(), Body: daily("")}},
	} {
		err := Check(c.a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

func TestEventsThatAreNotAsDescribedAreFound(t *testing.T) {
	const app, id = `{"id":"a","name":"b","mode":"live"}`, "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	ping := func(id, kind, rest string) string {
		return `{"id":"` + id + `","type":"` + kind + `","created_at":"2026-01-01T00:00:00Z","test":false,"data":{"app":` + app + `,"message":"x"` + rest + `}}`
	}
	for name, c := range map[string]struct{ kind, signature, body, want string }{
		"right":            {"ping", "t=1,v1=" + strings.Repeat("0f", 32), ping(id, "ping", ""), ""},
		"no signature":     {"ping", "", ping(id, "ping", ""), "Service-Signature: is missing"},
		"signed otherwise": {"ping", "t=1,v1=F", ping(id, "ping", ""), "does not match pattern"},
		"no ULID":          {"ping", "t=1,v1=" + strings.Repeat("0f", 32), ping("evt_1", "ping", ""), "does not match pattern"},
		"an unknown field": {"ping", "t=1,v1=" + strings.Repeat("0f", 32), ping(id, "ping", `,"new":1`), "false schema"},
		"an unknown type":  {"order.eaten", "t=1,v1=" + strings.Repeat("0f", 32), ping(id, "order.eaten", ""), "must be one of"},
	} {
		header := http.Header{"User-Agent": {"Service-Webhooks/1.0"}, "Service-Event-Id": {id}, "Service-Event-Type": {c.kind}, "Service-Signature": {c.signature}}
		err := CheckEvent(header, []byte(c.body))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// recorder is a test that fails without failing.
type recorder struct {
	testing.TB
	cleanup func()
	failed  int
}

func (r *recorder) Cleanup(f func()) { r.cleanup = f }
func (r *recorder) Error(...any)     { r.failed++ }

func TestAnAnswerWithAFieldNotSeenBeforeIsChecked(t *testing.T) {
	r := &recorder{}
	inspect := Inspect(r)
	a := answers.Answer{Route: "GET /allergens", Status: 200, Header: limited(), Body: allergens(`{"code":"gluten","name":"Gluten"}`)}
	for range 40 {
		inspect(a)
	}
	a.Body = allergens(`{"code":"gluten","name":null}`)
	inspect(a)
	a.Body = allergens(`{"code":"gluten","name":"Gluten","new":"x"}`)
	inspect(a)
	if r.cleanup(); r.failed != 2 {
		t.Errorf("%d faults found, want 2", r.failed)
	}
}

// A value that is wrong, of a kind that was seen, has no new field to be found by.
func TestAnswersAreCheckedLaterToo(t *testing.T) {
	r := &recorder{}
	inspect := Inspect(r)
	a := answers.Answer{Route: "POST /orders/{order_id}/cancel", Status: 409, Header: limited()}
	for i := range 200 {
		status := "ready"
		if i > 100 {
			status = "eaten"
		}
		a.Body = []byte(`{"error":{"code":"cannot_cancel","message":"","display_message":"","details":{"status":"` + status + `"}}}`)
		inspect(a)
	}
	if r.cleanup(); r.failed != 1 {
		t.Errorf("%d faults found, want 1", r.failed)
	}
}

// TestEverySandboxOfATestIsChecked holds that a new test does not leave Inspect out.
func TestEverySandboxOfATestIsChecked(t *testing.T) {
	err := filepath.WalkDir("../../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "apicheck_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		made, checked := bytes.Count(text, []byte("sandbox.New(")), bytes.Count(text, []byte("apicheck.Inspect("))
		if made > checked {
			t.Errorf("%s makes %d sandboxes and checks %d: set Options.Inspect to apicheck.Inspect(t)", path, made, checked)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
