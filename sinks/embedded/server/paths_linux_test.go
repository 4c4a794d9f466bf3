package server

import (
	"net/http"
	"strings"
	"testing"
)

// TestFunctionsThatTakePathsAreRefused gives paths to every function there is, past the
// server: what touches the file is refused by the server, which looks at no rights of the
// engine and not at the kernel's.
func TestFunctionsThatTakePathsAreRefused(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	c := held(t, engine.engine.Pool(), map[string]string{"max_execution_time": "5"})
	names := listed(t, engine, "SELECT name FROM system.functions WHERE NOT match(lower(name), '^(sleep|throwif|ai)')")
	if len(names) < 1700 {
		t.Fatal(len(names))
	}
	b.touched()
	found := 0
	for _, shape := range []string{
		"?F('x', 'default.{dir}/secret?csv')", "?F('x', 'x', 'default.{dir}/secret?csv')", "?F('default.{dir}/secret?csv')",
		"?F('default.{dir}/secret?csv', 'a', 1, 1)", "?F('default.{dir}/secret?csv', ('a', 'b'), 1)", "?F(['default.{dir}/secret?csv'], 'x')",
		"?F(1, 'default.{dir}/secret?csv')", "?F('default', '{dir}/secret?csv', 'a', 1)", "?F('default', '{dir}/secret?csv', 'a')", "?F('default', '{dir}/secret?csv')",
		"?F('default.{dir}/key')", "?F('default.{dir}/key', 'x')", "?F('default.{dir}/key', 'x', 1)", "?F('x', 'default.{dir}/key')", "?F('default.{dir}/secret?csv', 'x')", "?F('default.{dir}/secret?csv', 'a', 1)",
		"?F('file:{dir}/key')", "?F('{dir}/key', 'x')", "?F(1, 'file:{dir}/key')", "arrayMap(?F, ['default.{dir}/key'], ['file:{dir}/key'])",
		"arrayMap(?F, [toDateTime(0)], ['file:{dir}/key'])",
	} {
		for _, name := range names {
			sql := b.fill("SELECT " + strings.ReplaceAll(shape, "?F", name[0]))
			_, _ = c.Ask(sql, "Null") // most of them make no sense
			if b.touched() == "" {
				continue
			}
			found++
			w := b.ask(engine, http.MethodPost, sql, nil)
			if w.Code != http.StatusForbidden && !strings.Contains(w.Body.String(), "There is no time zone") {
				t.Errorf("%s: %d %q", sql, w.Code, w.Body)
			}
			b.touched()
		}
	}
	if found < 60 {
		t.Errorf("%d functions touched a file: does the bait notice?", found)
	}
}
