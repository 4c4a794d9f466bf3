package server

import "testing"

// A query that asks for less keeps its own limit; more is not given.
func TestTheLimitOfAQuery(t *testing.T) {
	for given, want := range map[string]string{"": "1000", "10": "10", "5000": "1000", "0": "1000"} {
		q := &request{settings: map[string]string{}}
		if given != "" {
			q.settings["max_memory_usage"] = given
		}
		if err := q.limitMemory(1000); err != nil || q.settings["max_memory_usage"] != want {
			t.Errorf("%q: %v %v", given, q.settings, err)
		}
	}
	if err := (&request{settings: map[string]string{"max_memory_usage": "all"}}).limitMemory(1000); err == nil {
		t.Error("taken")
	}
}
