package apicheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/larder-sync/larder/docs"
	"github.com/larder-sync/larder/internal/sandbox/answers"
)

// keyDisabled is the code of a 403 that is made before the key is accepted.
const keyDisabled = "api_key_disabled"

// document is what the compiler calls the description: a name that does not depend on the
// working directory.
const document = "larder:///openapi.json"

// description is docs/openapi.yaml made strict: a field that it does not name is a fault, and
// so is a value, unless newValues are expected.
type description struct {
	root     map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex // guards what follows
	schemas map[string]*jsonschema.Schema
}

var (
	strict = sync.OnceValues(func() (*description, error) { return describe(true) })
	open   = sync.OnceValues(func() (*description, error) { return describe(false) })
)

func described(newValues bool) (*description, error) {
	if newValues {
		return open()
	}
	return strict()
}

func describe(closedValues bool) (*description, error) {
	var parsed map[string]any
	if err := yaml.Unmarshal(docs.OpenAPI, &parsed); err != nil {
		return nil, fmt.Errorf("docs/openapi.yaml: %w", err)
	}
	text, err := json.Marshal(parsed) // numbers as the compiler has them
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.yaml: %w", err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.yaml: %w", err)
	}
	d := &description{root: root.(map[string]any), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	for _, schema := range d.at("components", "schemas") {
		tighten(schema, closedValues, true)
	}
	tighten(d.at("components", "responses"), closedValues, false)
	tighten(d.at("paths"), closedValues, false)
	tighten(d.at("webhooks"), closedValues, false)
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(document, root)
}

// tighten closes objects and enumerations. An object is closed where it is used, so that
// others can be made of it by allOf: open leaves the one at hand as it is.
func tighten(node any, closedValues, open bool) {
	switch node := node.(type) {
	case map[string]any:
		for name, below := range node {
			parts, ok := below.([]any)
			if !ok || name != "allOf" {
				tighten(below, closedValues, false)
				continue
			}
			for _, part := range parts {
				tighten(part, closedValues, true)
			}
		}
		_, refers := node["$ref"].(string)
		_, object := node["properties"].(map[string]any)
		if !open && (refers || object && node["type"] == "object") {
			node["unevaluatedProperties"] = false
		}
		if values, ok := node["x-extensible-enum"].([]any); ok && closedValues {
			node["enum"] = values
		}
		if _, grows := node["additionalProperties"].(map[string]any); grows && node["required"] != nil && closedValues {
			node["propertyNames"] = map[string]any{"enum": node["required"]} // a map by method, type or channel
		}
	case []any:
		for _, below := range node {
			tighten(below, closedValues, false)
		}
	}
}

// at is a part of the description.
func (d *description) at(path ...string) map[string]any {
	node := d.root
	for _, name := range path {
		node, _ = node[name].(map[string]any)
	}
	return node
}

// resolve follows a reference to another part of the description, and returns where it is.
func (d *description) resolve(node map[string]any, pointer string) (map[string]any, string) {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node, pointer
	}
	return d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), ref
}

// check holds an answer of a route against its description.
func (d *description) check(a answers.Answer) error {
	method, path, _ := strings.Cut(a.Route, " ")
	method, status := strings.ToLower(method), strconv.Itoa(a.Status)
	responses := d.at("paths", path, method, "responses")
	named, ok := responses[status].(map[string]any)
	if !ok {
		return fmt.Errorf("the route has no such answer: %s", a.Body)
	}
	response, pointer := d.resolve(named, "#/paths/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(path)+"/"+method+"/responses/"+status)
	if response["content"] == nil {
		if len(a.Body) > 0 {
			return fmt.Errorf("the answer has no body, but: %s", a.Body)
		}
		return d.checkHeaders(response, a, "")
	}
	code, err := codeOf(response, a.Body)
	if err != nil {
		return err
	}
	if err := d.checkHeaders(response, a, code); err != nil {
		return err
	}
	return d.validate(pointer+"/content/application~1json/schema", a.Body)
}

// checkHeaders checks that an answer has its required headers, and none of limits when it was
// made before the key was accepted. Of a 403, the code decides that.
func (d *description) checkHeaders(response map[string]any, a answers.Answer, code string) error {
	headers, _ := response["headers"].(map[string]any)
	for name, header := range headers {
		described, _ := d.resolve(header.(map[string]any), "")
		if described["required"] == true && a.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	early := code == keyDisabled || a.Status == http.StatusUnauthorized || a.Status == http.StatusServiceUnavailable
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		switch has := a.Header.Get(name) != ""; {
		case early && has:
			return fmt.Errorf("%s in an answer made before the key was accepted", name)
		case !has && a.Status == http.StatusForbidden && !early:
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

// codeOf returns the code of an error, which is one of those that the response is for; "" for
// what is no error.
func codeOf(response map[string]any, body []byte) (string, error) {
	codes, ok := response["x-error-codes"].([]any)
	if !ok {
		return "", nil
	}
	var envelope struct{ Error struct{ Code string } }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return "", fmt.Errorf("%w in %s", err, body)
	}
	if !slices.Contains(codes, any(envelope.Error.Code)) {
		return "", fmt.Errorf("the code %q is none of %v", envelope.Error.Code, codes)
	}
	return envelope.Error.Code, nil
}

// accepts holds the text of a header, which is not empty, against the schema at a pointer.
func (d *description) accepts(pointer, text string) error {
	schema, err := d.schema(pointer)
	switch {
	case err != nil:
		return err
	case text == "":
		return errors.New("is missing")
	}
	return schema.Validate(text)
}

// validate holds a body against the schema at a pointer into the description.
func (d *description) validate(pointer string, body []byte) error {
	schema, err := d.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w in %.300s", err, body)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%w\nin %.2000s", err, body)
	}
	return nil
}

// schema compiles a schema at its first use.
func (d *description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(document + pointer)
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.yaml: %w", err)
	}
	d.schemas[pointer] = s
	return s, nil
}
