package reader_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// testParameters binds values in each way that clients have for it: in the URL, and as fields
// of a form, where clickhouse-connect (form_encode_query_params), jdbc-v2
// (client.http.use_form_request_for_query) and @clickhouse/client put them when they are long.
func testParameters(t *testing.T, f *front) {
	var ids []string
	for i := range 700 {
		ids = append(ids, fmt.Sprintf("'ord_%032d'", i))
	}
	some := "[" + strings.Join(ids, ",") + "]" // 29 KB, 41 in a URL
	many := "[" + strings.TrimSuffix(strings.Repeat(strings.Join(ids, ",")+",", 20), ",") + "]"
	const statement = "SELECT length({ids:Array(String)}), has({ids:Array(String)}, {id:String})"
	id := fmt.Sprintf("ord_%032d", 699)

	for name, a := range map[string]asked{
		"URL and body":     {query: url.Values{"param_ids": {some}, "param_id": {id}}, body: []byte(statement)},
		"GET":              {method: http.MethodGet, query: url.Values{"query": {statement}, "param_ids": {some}, "param_id": {id}}},
		"form":             form(t, nil, "query", statement, "param_ids", some, "param_id", id),
		"form and URL":     form(t, url.Values{"query": {statement}, "param_id": {id}}, "param_ids", some),
		"statement in two": form(t, url.Values{"param_id": {id}, "param_ids": {some}}, "query", statement),
	} {
		if answer, body := f.ask(t, a); answer.StatusCode != http.StatusOK || string(body) != "700\t1\n" {
			t.Errorf("%s: %s %.300s", name, answer.Status, body)
		}
	}
	if answer, body := f.ask(t, form(t, nil, "query", statement, "param_ids", many, "param_id", id)); answer.StatusCode != http.StatusOK || string(body) != "14000\t1\n" {
		t.Errorf("14,000 ids in a form: %s %.300s", answer.Status, body)
	}

	long := "SELECT count() FROM sales_orders WHERE id NOT IN (" + strings.Repeat(strings.Join(ids, ",")+",", 20) + "'')"
	if got, want := f.text(t, "", long), f.text(t, "", "SELECT count() FROM sales_orders"); got != want {
		t.Errorf("a statement of %d bytes: %s, not %s", len(long), got, want)
	}

	// Every escape of ClickHouse's interface, and types as clients name them.
	answer, body := f.ask(t, form(t, url.Values{"default_format": {"JSONCompactEachRow"}},
		"query", "SELECT {text:String}, {day:Date32}, {at:DateTime64(3, 'UTC')}, {none:Nullable(String)}, {money:Decimal(18, 2)}, {table:Identifier}.1 FROM (SELECT (7, 8) AS t)",
		"param_text", `a\tb\\c 'd'; -- {x:String}`, "param_day", "2026-10-25", "param_at", "2026-10-25 03:30:00.5", "param_none", `\N`, "param_money", "12.50", "param_table", "t"))
	if want := `["a\tb\\c 'd'; -- {x:String}", "2026-10-25", "2026-10-25 03:30:00.500", null, 12.5, 7]` + "\n"; string(body) != want {
		t.Errorf("values: %s %s", answer.Status, body)
	}

	// What a form could set, the URL could not forbid.
	answer, body = f.ask(t, form(t, nil, "query", "SELECT getSetting('readonly')", "readonly", "0"))
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "Put settings into the URL") {
		t.Errorf("a setting in a form: %s %s", answer.Status, body)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	file, err := w.CreateFormFile("ids", "ids.tsv")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(file, id)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	answer, body = f.ask(t, asked{query: url.Values{"query": {"SELECT * FROM ids"}, "ids_structure": {"id String"}}, body: b.Bytes(), headers: map[string]string{"Content-Type": w.FormDataContentType()}})
	if answer.StatusCode != http.StatusNotImplemented || !strings.Contains(string(body), "param_ids") {
		t.Errorf("an external table: %s %s", answer.Status, body)
	}
}

// form is a request with the names and values of a multipart body, as curl -F sends it.
func form(t *testing.T, query url.Values, fields ...string) asked {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return asked{query: query, body: b.Bytes(), headers: map[string]string{"Content-Type": w.FormDataContentType()}}
}
