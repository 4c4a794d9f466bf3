package proxy

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
)

func TestProxyAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"http://proxy.example:3128": true, "https://proxy.example": true, "proxy.example:3128": true, "10.0.0.1:3128": true, "proxy": true,
		"socks5://u:p@proxy.example:1080": true, "http://u:p%40ss@proxy.example:3128": true,
		"http://u:50%off@proxy.example:3128": false, "proxy.example:port": false, "http://": false, " http://proxy.example:3128": false,
		"htp://proxy.example:3128": false, "http://u:pa ss@proxy.example": false, "http://[::1:3128": false,
	} {
		if isProxy(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// net/http does not use a proxy for this machine, whatever the environment names.
func TestThisMachineNeedsNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://u:50%off@proxy.example:3128")
	to := func(host string) error {
		_, err := FromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
		return err
	}
	if _, ok := errors.AsType[*SettingError](to("pos.example")); !ok {
		t.Error("another machine: no error")
	}
	if err := to("127.0.0.1:1"); err != nil {
		t.Errorf("this machine: %v", err)
	}
}
