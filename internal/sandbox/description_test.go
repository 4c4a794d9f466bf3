package sandbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/larder-sync/larder/internal/sandbox/answers"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
)

// described is what the tests read of the description, which is served in both forms.
type described struct {
	OpenAPI string                             `json:"openapi" yaml:"openapi"`
	Paths   map[string]map[string]describedOne `json:"paths" yaml:"paths"`
}

// describedOne is an operation, or the parameters of a path.
type describedOne struct {
	Scopes []string `json:"x-scopes" yaml:"x-scopes"`
}

// UnmarshalYAML leaves the parameters of a path out.
func (o *describedOne) UnmarshalYAML(node *yaml.Node) error {
	type plain describedOne
	if node.Kind != yaml.MappingNode {
		return nil
	}
	return node.Decode((*plain)(o))
}

// UnmarshalJSON leaves the parameters of a path out.
func (o *describedOne) UnmarshalJSON(text []byte) error {
	type plain describedOne
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, (*plain)(o))
}

func (h *harness) at(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestTheDescriptionIsServed(t *testing.T) {
	h := newHarness(t, Options{Orders: -1, Record: true})
	var fromYAML, fromJSON described
	for path, into := range map[string]func([]byte) error{
		descriptionYAML: func(b []byte) error { return yaml.Unmarshal(b, &fromYAML) },
		descriptionJSON: func(b []byte) error { return json.Unmarshal(b, &fromJSON) },
	} {
		w := h.at("GET", path)
		kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if want := "application/" + path[len("/openapi."):]; w.Code != 200 || kind != want {
			t.Errorf("%s: status %d, %s", path, w.Code, kind)
		}
		if err := into(w.Body.Bytes()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if w.Header().Get("X-RateLimit-Limit") != "" || len(h.Requests()) != 0 {
			t.Errorf("%s was counted", path)
		}
		if w := h.at("HEAD", path); w.Code != 200 || w.Body.Len() != 0 {
			t.Errorf("HEAD %s: status %d, %d bytes", path, w.Code, w.Body.Len())
		}
		if w := h.at("POST", path); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: status %d", path, w.Code)
		}
	}
	if fromJSON.OpenAPI != "3.1.0" || fromJSON.OpenAPI != fromYAML.OpenAPI || len(fromJSON.Paths) != len(fromYAML.Paths) {
		t.Errorf("the forms differ: %s with %d paths and %s with %d", fromYAML.OpenAPI, len(fromYAML.Paths), fromJSON.OpenAPI, len(fromJSON.Paths))
	}
}

func TestTheDescriptionHasTheRoutes(t *testing.T) {
	var d described
	if err := json.Unmarshal(descriptionAsJSON(), &d); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, item := range d.Paths {
		for method := range item {
			if method == "parameters" {
				continue
			}
			operations++
			rt, _, _ := findRoute(strings.ToUpper(method), path)
			if rt == nil {
				t.Errorf("%s %s is no route", method, path)
			}
		}
	}
	if operations != len(routes) {
		t.Errorf("%d operations, %d routes", operations, len(routes))
	}
	for _, rt := range routes {
		path := "/" + strings.Join(rt.parts, "/")
		op, ok := d.Paths[path][strings.ToLower(rt.method)]
		if !ok || !slices.Equal(op.Scopes, rt.scopes) {
			t.Errorf("%s %s: described %v with the scopes %v; it opens with %v", rt.method, path, ok, op.Scopes, rt.scopes)
		}
	}
}

// The codes of the description are those that the sandbox answers with, and one that is not
// the API's.
func TestTheDescriptionHasTheErrors(t *testing.T) {
	var d struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						Code struct {
							Values []string `json:"x-extensible-enum"`
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(descriptionAsJSON(), &d); err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for code, text := range errorTexts {
		if code != refusal.Method {
			want = append(want, code)
		}
		if http.StatusText(text.status) == "" {
			t.Errorf("%s has the status %d", code, text.status)
		}
	}
	got := d.Components.Schemas.Error.Properties.Code.Values
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("codes %q, want %q", got, want)
	}
}

// What a test fetches as the truth is no answer: no key is admitted, and no limit is counted.
func TestTheTruthIsNotInspected(t *testing.T) {
	n := 0
	s := must(New(Options{Inspect: func(answers.Answer) { n++ }, Orders: 20}))(t)
	key := s.Key(0, RoleMain).Value
	for _, uri := range []string{"/sales/products", "/sales/orders/none"} {
		if _, _, err := s.Fetch(key, uri); err != nil {
			t.Fatal(err)
		}
	}
	if n > 0 {
		t.Errorf("%d answers were inspected", n)
	}
}
