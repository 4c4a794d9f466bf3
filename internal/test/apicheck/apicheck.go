// Package apicheck holds the answers of sandboxes against docs/openapi.yaml: for tests of all
// packages.
//
// Contents: the description made strict, which answers are checked, and how.
package apicheck

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox/answers"
)

// Inspect is for [sandbox.Options]: it checks a sample of the answers, and the test fails at
// its end for those that are not as described.
func Inspect(t testing.TB) func(answers.Answer) {
	c := &checker{}
	t.Cleanup(func() {
		for _, fault := range c.found() {
			t.Error(fault)
		}
	})
	return c.inspect
}

// checker collects what is wrong with the answers of one sandbox.
type checker struct {
	mu     sync.Mutex // guards what follows
	faults []string
}

// mostFaults of one test are enough to see what is wrong.
const mostFaults = 5

func (c *checker) inspect(a answers.Answer) {
	if !taken.take(a) {
		return
	}
	err := Check(a)
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) < mostFaults {
		c.faults = append(c.faults, fmt.Sprintf("the answer %d of %q is not as docs/openapi.yaml describes it: %v", a.Status, a.Route, err))
	}
}

func (c *checker) found() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.faults)
}

// CheckEvent returns what is wrong with the request of a webhook.
func CheckEvent(header http.Header, body []byte) error {
	d, err := strict()
	if err != nil {
		return err
	}
	name := "order"
	if header.Get("Service-Event-Type") == "ping" {
		name = "ping"
	}
	parameters, _ := d.at("webhooks", name, "post")["parameters"].([]any)
	for _, p := range parameters {
		described, pointer := d.resolve(p.(map[string]any), "")
		if err := d.accepts(pointer+"/schema", header.Get(described["name"].(string))); err != nil {
			return fmt.Errorf("the header %s: %w", described["name"], err)
		}
	}
	return d.validate("#/webhooks/"+name+"/post/requestBody/content/application~1json/schema", body)
}

// Check returns what is wrong with one answer.
func Check(a answers.Answer) error {
	// The error of a method that an address does not have is not the API's.
	d, err := described(a.NewValues || a.Route == "")
	if err != nil {
		return err
	}
	if a.Route == "" {
		return d.validate("#/components/schemas/ErrorBody", a.Body)
	}
	return d.check(a)
}
