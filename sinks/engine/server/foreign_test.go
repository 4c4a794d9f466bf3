package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// sent sends a request to the read-only way in as it stands.
func (a *asker) sent(method, path, body string, header ...string) reply {
	a.t.Helper()
	request, err := http.NewRequest(method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			request.Host = header[i+1]
			continue
		}
		request.Header.Set(header[i], header[i+1])
	}
	return a.read(request)
}

// A page that is open in a browser on this machine is refused whatever it asks
// for, and every answer says that no page may use it.
func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	out := outside(t, "", "")
	for name, header := range map[string][]string{
		"a script":             {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"},
		"an image":             {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"},
		"a form":               {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Origin", "https://evil.example", "Content-Type", "text/plain"},
		"another port":         {"Sec-Fetch-Site", "same-site"},
		"an old browser":       {"Origin", "https://evil.example"},
		"a sandboxed frame":    {"Origin", "null"},
		"a preflight":          {"Origin", "https://evil.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true"},
		"a rebound name":       {"Host", "evil.example:8123", "Origin", "http://evil.example:8123"},
		"a rebound name alone": {"Host", "rebind.localhost.evil.example"},
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "HEAD"} {
			for _, path := range []string{"?query=SELECT+1", "ping", "replicas_status", "nothing"} {
				r := out.sent(method, path, "", header...)
				if r.status != http.StatusForbidden || strings.HasPrefix(r.body, "1") || strings.Contains(r.body, "Ok.") {
					t.Errorf("%s: %s /%s: %d %q", name, method, path, r.status, r.body)
				}
				if allowed := r.header.Get("Access-Control-Allow-Origin"); allowed != "" {
					t.Errorf("%s: %s /%s allows %s", name, method, path, allowed)
				}
			}
		}
	}
	for _, r := range []reply{
		out.sent("GET", "?query=SELECT+1", ""), out.sent("GET", "ping", ""), out.sent("GET", "nothing", ""), out.sent("POST", "", "SELEC"),
		out.sent("OPTIONS", "", ""), out.sent("PUT", "", ""), out.sent("GET", "ping", "", "Origin", "null"),
	} {
		if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%d %q: %v", r.status, r.body, r.header)
		}
	}
}

// The requests are those that the programs send: recorded from curl 8, the
// JavaScript client 1.23 and Node's fetch, read in the source of Grafana's
// data source proxy and the Java client, JDBC's base.
func TestProgramsAreNoPages(t *testing.T) {
	out := outside(t, "", "")
	grafana := []string{"User-Agent", "Grafana/12.0.0", "X-Grafana-Referer", "http://grafana.example/d/1", "X-Forwarded-For", "192.0.2.7", "Accept", "application/json, text/plain, */*",
		"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		want               string
	}{
		"curl":                      {"POST", "", "SELECT 1", []string{"User-Agent", "curl/8.5.0", "Accept", "*/*", "Content-Type", "application/x-www-form-urlencoded"}, "1\n"},
		"curl by GET":               {"GET", "?query=SELECT+1", "", []string{"User-Agent", "curl/8.5.0", "Accept", "*/*"}, "1\n"},
		"curl's ping":               {"GET", "ping", "", []string{"Host", "localhost:8123"}, "Ok.\n"},
		"Grafana's ClickHouse":      {"POST", "?database=default&default_format=TSV&max_execution_time=60", "SELECT 1", []string{"User-Agent", "grafana-clickhouse-datasource clickhouse-go/2.50.0 (lv:go/1.26)", "Authorization", "Basic ZGVmYXVsdDo="}, "1\n"},
		"Grafana's proxy":           {"POST", "?database=default", "SELECT 1", grafana, "1\n"},
		"JDBC":                      {"POST", "?query_id=8f5&max_result_rows=0", "SELECT 1", []string{"Content-Type", "text/plain", "X-ClickHouse-Format", "TabSeparated", "X-ClickHouse-Database", "default", "Authorization", "Basic ZGVmYXVsdDo=", "User-Agent", "jdbc-v2/0.9.0 clickhouse-java-v2/0.9.0 (Linux; jvm:21)"}, "1\n"},
		"JDBC with users in heads":  {"POST", "", "SELECT 1", []string{"Content-Type", "text/plain", "X-ClickHouse-User", "default", "X-ClickHouse-Key", ""}, "1\n"},
		"the JavaScript client":     {"POST", "?query_id=4dfe&param_x=1", "SELECT {x:UInt8} \nFORMAT JSONEachRow", []string{"Connection", "keep-alive", "User-Agent", "clickhouse-js/1.23.1 (lv:nodejs/v20.20.2; os:linux)", "Authorization", "Basic ZGVmYXVsdDo=", "Host", "localhost:8123"}, "{\"_CAST('1', 'UInt8')\":1}\n"},
		"the JavaScript ping":       {"GET", "ping", "", []string{"User-Agent", "clickhouse-js/1.23.1 (lv:nodejs/v20.20.2; os:linux)", "Authorization", "Basic ZGVmYXVsdDo="}, "Ok.\n"},
		"Node's fetch":              {"POST", "", "SELECT 1", []string{"Content-Type", "text/plain;charset=UTF-8", "Accept", "*/*", "Accept-Language", "*", "Sec-Fetch-Mode", "cors", "User-Agent", "node"}, "1\n"},
		"the address bar":           {"GET", "?query=SELECT+1", "", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "User-Agent", "Mozilla/5.0"}, "1\n"},
		"by the address of IPv6":    {"GET", "?query=SELECT+1", "", []string{"Host", "[::1]:8123"}, "1\n"},
		"by an address on the LAN":  {"GET", "?query=SELECT+1", "", []string{"Host", "192.168.1.20:8123"}, "1\n"},
		"HTTP/1.0 of a load tester": {"GET", "?query=SELECT+1", "", []string{"Connection", "close"}, "1\n"},
	} {
		if r := out.sent(c.method, c.path, c.body, c.header...); r.status != http.StatusOK || r.body != c.want {
			t.Errorf("%s: %d %q", name, r.status, r.body)
		}
	}
	// With a password any name will do: a browser sends it to no other one.
	named := outside(t, "default", "secret")
	if r := named.sent("GET", "?query=SELECT+1", "", "Host", "warehouse.example.com", "X-ClickHouse-User", "default", "X-ClickHouse-Key", "secret"); r.status != http.StatusOK {
		t.Errorf("with a password: %d %s", r.status, r.body)
	}
	if r := named.sent("GET", "?query=SELECT+1", "", "Origin", "https://evil.example", "X-ClickHouse-User", "default", "X-ClickHouse-Key", "secret"); r.status != http.StatusForbidden {
		t.Errorf("a page with the password: %d %s", r.status, r.body)
	}
}
