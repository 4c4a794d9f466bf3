// Package proxy finds the proxy that the environment names.
//
// What may live here: which proxy a request goes through. What may not: requests.
package proxy

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// FromEnvironment is [http.ProxyFromEnvironment], which leaves out a proxy whose address it
// cannot read: requests would go past it. The error is a [*SettingError].
func FromEnvironment(req *http.Request) (*url.URL, error) {
	name := strings.ToUpper(req.URL.Scheme) + "_PROXY"
	text := os.Getenv(name)
	if text == "" {
		name = strings.ToLower(name)
		text = os.Getenv(name)
	}
	if text != "" && !isProxy(text) && !loopback(req.URL.Hostname()) {
		return nil, &SettingError{name}
	}
	return http.ProxyFromEnvironment(req)
}

// isProxy reports whether net/http can use the address of a proxy, which may be without a scheme.
func isProxy(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	at, err := url.Parse(text)
	return err == nil && at.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, at.Scheme)
}

// loopback reports whether a host is this machine, to which no proxy is used.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SettingError is a variable of the environment with something else than a proxy's address.
// The variable may hold a password, and is not repeated.
type SettingError struct{ name string }

func (e *SettingError) Error() string {
	return e.name + " is not the address of a proxy, so nothing was sent: write it as http://host:port, or http://user:password@host:port " +
		"with % and other special characters of the password as %25 and the like, or unset it"
}
