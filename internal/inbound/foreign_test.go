package inbound

import (
	"net/http"
	"testing"
)

func request(host string, header ...string) *http.Request {
	r := &http.Request{Method: http.MethodGet, Host: host, Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func TestForeign(t *testing.T) {
	const host = "127.0.0.1:8123"
	for name, c := range map[string]struct {
		request *http.Request
		foreign bool
	}{
		"curl":                       {request(host, "User-Agent", "curl/8.5.0", "Accept", "*/*"), false},
		"Node's fetch":               {request(host, "Sec-Fetch-Mode", "cors", "Accept-Language", "*"), false},
		"the address bar":            {request(host, "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"), false},
		"its own page":               {request(host, "Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8123"), false},
		"behind a proxy with TLS":    {request("larder.example", "Origin", "https://larder.example"), false},
		"an image of another site":   {request(host, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"), true},
		"a page on another port":     {request(host, "Sec-Fetch-Site", "same-site"), true},
		"a word nobody knows":        {request(host, "Sec-Fetch-Site", "Same-Origin"), true},
		"two of them":                {request(host, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"), true},
		"a form of another site":     {request(host, "Origin", "https://evil.example"), true},
		"a page in a sandbox":        {request(host, "Origin", "null"), true},
		"another name of this one":   {request(host, "Origin", "http://localhost:8123"), true},
		"another port":               {request(host, "Origin", "http://127.0.0.1:3000"), true},
		"a name that begins with it": {request(host, "Origin", "http://127.0.0.1:8123.evil.example"), true},
		"one that says both":         {request(host, "Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"), true},
		"what is no origin":          {request(host, "Origin", "127.0.0.1:8123"), true},
	} {
		if err := Foreign(c.request); (err != nil) != c.foreign {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	for host, least := range map[string]Names{
		"localhost": Machine, "localhost:8123": Machine, "LOCALHOST.:8123": Machine, "larder.localhost:8123": Machine,
		"127.0.0.1": Machine, "127.0.0.1:8123": Machine, "[::1]:8123": Machine, "[::1]": Machine, "192.168.1.5:8123": Machine, "": Machine,
		"larder:9464": Network, "LARDER": Network,
		"evil.example": Any, "evil.example:8123": Any, "localhost.evil.example": Any, "127.0.0.1.evil.example:8123": Any,
		"evil.example.:8123": Any, "127.1": Any, "1.2.3": Any, ".": Network,
	} {
		for _, n := range []Names{Machine, Network, Any} {
			if err := n.Check(host); (err == nil) != (n >= least) {
				t.Errorf("%q under %d: %v", host, n, err)
			}
		}
	}
	for listen, want := range map[string]Names{"127.0.0.1:1": Machine, "[::1]:1": Machine, "localhost:1": Machine, "127.9.9.9:1": Machine, "0.0.0.0:1": Network, ":1": Network, "10.0.0.1:1": Network} {
		if got := NamesFor(listen, false); got != want {
			t.Errorf("%s: %d, want %d", listen, got, want)
		}
		if got := NamesFor(listen, true); got != Any {
			t.Errorf("%s with a password: %d", listen, got)
		}
	}
}
