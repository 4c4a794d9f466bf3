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
	const machine, network, anyone = 0, 1, 2 // who reaches a listener that answers as a name, at least
	listeners := [][]string{{"127.0.0.1:1", "[::1]:1", "localhost:1", "127.9.9.9:1"}, {"0.0.0.0:1", ":1", "10.0.0.1:1"}}
	for host, least := range map[string]int{
		"localhost": machine, "localhost:8123": machine, "LOCALHOST.:8123": machine, "larder.localhost:8123": machine,
		"127.0.0.1": machine, "127.0.0.1:8123": machine, "[::1]:8123": machine, "[::1]": machine, "192.168.1.5:8123": machine, "": machine,
		"larder:9464": network, "LARDER": network,
		"evil.example": anyone, "evil.example:8123": anyone, "localhost.evil.example": anyone, "127.0.0.1.evil.example:8123": anyone,
		"evil.example.:8123": anyone, "127.1": anyone, "1.2.3": anyone, ".": network,
	} {
		for reach, addresses := range listeners {
			for _, listen := range addresses {
				if err := CheckName(host, listen, false); (err == nil) != (reach >= least) {
					t.Errorf("%q on %s: %v", host, listen, err)
				}
				if err := CheckName(host, listen, true); err != nil {
					t.Errorf("%q on %s with a password: %v", host, listen, err)
				}
			}
		}
	}
}
