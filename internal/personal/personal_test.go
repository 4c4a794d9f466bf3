package personal

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// full is an order with everything that tells of a person, and a field that the service added.
const full = `{"id":"o1","external_id":"e1","status":"cancelled","test":false,"type":"delivery",` +
	`"rejection":{"code":"other","message":"Doamnei Secretescu"},"cancellation":{"by":"customer","reason":"call Secretescu"},` +
	`"customer":{"name":"Ana Secretescu","phone":"0722 123 456","email":"ana@secret.example"},` +
	`"delivery":{"address":"Str. Secretă 1","city":"Cluj","notes":"interfon Secretescu","lat":46.77,"lng":23.59},` +
	`"notes":"pentru Secretescu","allergies":"secret","cutlery":true,` +
	`"items":[{"product_id":"p1","name":"Ciorbă","quantity":2,"unit_price":"10.00","options":[{"id":"x1","name":"Ardei","quantity":1,"unit_price":"1.00","for":"Secretescu"}],` +
	`"notes":"fără Secretescu","deposit":"0.00","total":"22.00","guest":"Secretescu"}],` +
	`"totals":{"items":"22.00","deposit":"0.00","tip":"0.00","total":"22.00"},"payment":{"status":"paid","method":"card","reference":"Secretescu"},` +
	`"phone2":"0722123456","customer_key":"forged","created_at":"2026-01-01T08:00:00Z","updated_at":"2026-01-01T08:00:00.000001Z"}`

func policy(t *testing.T, mode Mode) Policy {
	t.Helper()
	p, err := New(mode, []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatIsKeptOfAnOrder(t *testing.T) {
	for mode, want := range map[Mode]string{
		Drop: `{"id":"o1","external_id":"e1","status":"cancelled","test":false,"type":"delivery",` +
			`"rejection":{"code":"other","message":null},"cancellation":{"by":"customer","reason":null},` +
			`"customer":null,"delivery":null,"notes":null,"allergies":null,"cutlery":true,` +
			`"items":[{"product_id":"p1","name":"Ciorbă","quantity":2,"unit_price":"10.00","options":[{"id":"x1","name":"Ardei","quantity":1,"unit_price":"1.00","for":null}],` +
			`"notes":null,"deposit":"0.00","total":"22.00","guest":null}],` +
			`"totals":{"items":"22.00","deposit":"0.00","tip":"0.00","total":"22.00"},"payment":{"status":"paid","method":"card","reference":null},` +
			`"phone2":null,"customer_key":null,"created_at":"2026-01-01T08:00:00Z","updated_at":"2026-01-01T08:00:00.000001Z"}`,
		Keep: full,
	} {
		if got := string(policy(t, mode).Order([]byte(full))); got != want {
			t.Errorf("%s:\n got  %s\n want %s", mode, got, want)
		}
	}
	if got := string((Policy{}).Order([]byte(full))); got != string(policy(t, Drop).Order([]byte(full))) {
		t.Errorf("a policy that nobody has made keeps %s", got)
	}
}

// Every form of an instant is kept that the mapping reads: an order without its instants
// would go to quarantine.
func TestInstantsOfEveryFormAreKept(t *testing.T) {
	for _, at := range []string{
		"2026-01-01T08:00:00.123456789Z", "2026-01-01T08:00:00,5Z", "2026-01-01T08:00+00", "2026-01-01T08:00:00.123456789012345678+02:00", "2026-01-01T08:00:00",
	} {
		order := `{"id":"o1","updated_at":"` + at + `","number":"\ud83c"}`
		if got := string((Policy{}).Order([]byte(order))); got != order {
			t.Errorf("kept %s of %s", got, order)
		}
	}
}

func TestPseudonyms(t *testing.T) {
	p := policy(t, Pseudonymise)
	kept := string(p.Order([]byte(full)))
	var order struct {
		Customer    any    `json:"customer"`
		CustomerKey string `json:"customer_key"`
		Delivery    map[string]any
	}
	// The one that the service sent comes later in the order, and is null.
	if strings.Contains(kept, "forged") || strings.Contains(kept, "ecret") || strings.Contains(kept, "123456") {
		t.Errorf("kept %s", kept)
	}
	without := strings.Replace(full, `"customer_key":"forged",`, "", 1)
	if err := json.Unmarshal(p.Order([]byte(without)), &order); err != nil || order.Customer != nil || order.CustomerKey != p.CustomerKey("+40722123456") {
		t.Errorf("%+v, %v", order, err)
	}
	if order.Delivery["city"] != "Cluj" || order.Delivery["address"] != nil || order.Delivery["lat"] != nil {
		t.Errorf("delivery %+v", order.Delivery)
	}
	other, err := New(Pseudonymise, []byte("another key, as long"))
	if err != nil || other.CustomerKey("0722123456") == p.CustomerKey("0722123456") {
		t.Errorf("another key makes the same pseudonym (%v)", err)
	}
}

func TestOnePhoneInAllItsForms(t *testing.T) {
	p := policy(t, Pseudonymise)
	for _, same := range [][]string{
		{"+40722123456", "0722123456", "0722 123 456", "0722.123.456", "0040722123456", "+40 (0) 722 123-456", "40722123456", "722123456", " +40722123456"},
		{"+49 30 1234567", "0049301234567"},
		{"112"},
	} {
		for _, phone := range same {
			if p.CustomerKey(phone) != p.CustomerKey(same[0]) || p.CustomerKey(phone) == "" {
				t.Errorf("%q is not %q: %s", phone, same[0], normalise(phone))
			}
		}
	}
	if p.CustomerKey("+40722123456") == p.CustomerKey("+40722123457") || p.CustomerKey("none") != "" {
		t.Error("two phones have one pseudonym, or no phone has one")
	}
}

func TestAKeyThatIsTooShort(t *testing.T) {
	if _, err := New(Pseudonymise, []byte("short")); err == nil {
		t.Error("taken")
	}
	if _, err := New("all", nil); err == nil {
		t.Error("an unknown mode was taken")
	}
}

// The columns that are kept are those of which the mapping of a redacted order is not null.
func TestColumnsThatAreKept(t *testing.T) {
	for mode, want := range map[Mode]string{
		Drop:         "id status rejection_code items.name items.options_id totals_total payment_method cutlery",
		Pseudonymise: "id status customer_key delivery_city items.options_unit_price",
		Keep:         "customer_name delivery_lat items.notes anything",
	} {
		for name := range strings.FieldsSeq(want) {
			if !policy(t, mode).KeepsColumn(name) {
				t.Errorf("%s does not keep %s", mode, name)
			}
		}
	}
	for mode, want := range map[Mode]string{
		Drop:         "customer_name customer_key delivery_city rejection_message items.notes payment_reference notes items_name items.options.id",
		Pseudonymise: "customer_phone delivery_address delivery_notes delivery_lat allergies",
	} {
		for name := range strings.FieldsSeq(want) {
			if policy(t, mode).KeepsColumn(name) {
				t.Errorf("%s keeps %s", mode, name)
			}
		}
	}
}

// What is stored keeps its pseudonym while pseudonyms are kept, however often it is gone
// through, and one that the service has forged does not stay.
func TestWhatStaysOfWhatIsStored(t *testing.T) {
	p := policy(t, Pseudonymise)
	without := strings.Replace(full, `"customer_key":"forged",`, "", 1)
	stored := p.Order([]byte(without))
	if again := p.Stored(stored); string(again) != string(stored) {
		t.Errorf("stored\n%s\nbecomes\n%s", stored, again)
	}
	if got := p.Stored([]byte(without)); string(got) != string(stored) {
		t.Errorf("all of it becomes\n%s", got)
	}
	if got := string(p.Stored([]byte(strings.Replace(full, "forged", strings.Repeat("f", 64), 1)))); strings.Contains(got, "ffff") {
		t.Errorf("a forged pseudonym stays: %s", got)
	}
	if phone, key := CustomerOf([]byte(`{"customer":{"phone":"0722"},"customer_key":"` + strings.Repeat("f", 64) + `"}`)); phone != "0722" || key != "" {
		t.Errorf("beside a phone: customer %q, %q", phone, key)
	}
	dropped := policy(t, Drop).Stored(stored)
	if phone, key := CustomerOf(dropped); phone != "" || key != "" || strings.Contains(string(dropped), p.CustomerKey("0722123456")) {
		t.Errorf("dropped: %s", dropped)
	}
	if phone, key := CustomerOf([]byte(without)); phone != "0722 123 456" || key != "" {
		t.Errorf("customer %q, %q", phone, key)
	}
}

func TestForgottenOrders(t *testing.T) {
	f := NewForgotten()
	if got := string(f.Order([]byte(full))); got != full {
		t.Errorf("nothing is forgotten, and of an order is kept %s", got)
	}
	if err := f.Add(t.Context(), "o2", "o3"); err != nil {
		t.Fatal(err)
	}
	for raw, gone := range map[string]bool{
		full: false, strings.Replace(full, "o1", "o2", 1): true,
		`{"notes":"Secretescu","id":"o1","id":"\u006f3"}`: true, // whichever is meant
		// One without an id may be of anybody.
		`["Secretescu"]`: true, `{"id":`: true, `{"id":7,"notes":"Secretescu"}`: true,
	} {
		if got := string(f.Order([]byte(raw))); (got != raw) != gone || gone && strings.Contains(got, "Secretescu") {
			t.Errorf("%s\nbecomes\n%s", raw, got)
		}
	}
	if got := string(f.OrderOf("o2", []byte(full))); strings.Contains(got, "Secretescu") {
		t.Errorf("asked for as o2: %s", got)
	}
	var none *Forgotten
	release, err := none.Storing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if got := string(none.Order([]byte(full))); got != full {
		t.Errorf("kept %s", got)
	}
}

// Add waits for rows that are on their way: what it returns behind has been handed over.
func TestForgettingWaitsForRowsUnderWay(t *testing.T) {
	f := NewForgotten()
	release, err := f.Storing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Add(t.Context(), "o1") }()
	for f.storing.TryAcquire(1) { // until Add waits
		f.storing.Release(1)
		runtime.Gosched()
	}
	select {
	case err := <-done:
		t.Errorf("it did not wait: %v", err)
	default:
	}
	if !f.Has("o1") {
		t.Error("rows that come meanwhile are not redacted")
	}
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Add(stop, "o2"); !errors.Is(err, context.Canceled) {
		t.Errorf("an Add that is stopped: %v", err)
	}
	if _, err := f.Storing(stop); !errors.Is(err, context.Canceled) {
		t.Errorf("storing behind an Add, stopped: %v", err)
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What has another shape than the API's description says keeps its kind alone, so that the mapping still
// sees that it is wrong.
func TestValuesOfAWrongKind(t *testing.T) {
	p := policy(t, Drop)
	for raw, want := range map[string]string{
		`{"id":{"name":"Ana"},"status":["Ana"]}`:                                                       `{"id":{},"status":[]}`,
		`{"items":"Ana","totals":5,"payment":true,"rejection":[1]}`:                                    `{"items":"","totals":0,"payment":false,"rejection":[]}`,
		`{"items":[{"quantity":"Ana","unit_price":"Ana","name":7}],"test":"Ana","updated_at":"Ana 7"}`: `{"items":[{"quantity":"","unit_price":"","name":0}],"test":"","updated_at":""}`,
		`{"items":["Ana",{"name":{"x":"Ana"}},null]}`:                                                  `{"items":["",{"name":{}},null]}`,
		`{"customer":"Ana","delivery":"Ana","notes":{"a":["Ana"]}}`:                                    `{"customer":null,"delivery":null,"notes":null}`,
		`{"customer":{"phone":1},"\u0063ustomer":{"phone":"0722"}}`:                                    `{"customer":null,"\u0063ustomer":null}`,
		`"Ana"`: `""`, `["Ana"]`: `[]`, `null`: `null`, `12`: `0`,
		` { "id" : "a" , "cutlery" : null } `: `{"id":"a","cutlery":null}`,
		`{"id":"a`:                            `null`, ``: `null`, `{"id" "a"}`: `null`,
	} {
		if got := string(p.Order([]byte(raw))); got != want {
			t.Errorf("%s:\n got  %s\n want %s", raw, got, want)
		}
	}
}

// Nothing but what is listed comes through, whatever is given.
func FuzzOrder(f *testing.F) {
	f.Add(full)
	f.Add(strings.ReplaceAll(full, `"name"`, `"n\u0061me"`))
	f.Add(`{"items":[[{"notes":"SECRET"}]]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, mode := range []Mode{Drop, Pseudonymise} {
			kept := policy(t, mode).Order([]byte(raw))
			var order map[string]any
			if json.Unmarshal(kept, &order) != nil {
				if json.Valid([]byte(raw)) && !json.Valid(kept) {
					t.Fatalf("%q became %q", raw, kept)
				}
				continue
			}
			for name, v := range order {
				allowed := pseudonymous.fields[name] != nil && name != "customer" || name == CustomerKeyField
				if v != nil && !allowed {
					t.Fatalf("%q keeps %q of %q", mode, name, raw)
				}
			}
		}
	})
}
