package inbound

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Foreign says why a request is one that a web page of another origin made, nil
// when it is not. A browser marks each request to a listener on this machine
// (Sec-Fetch-Site) and those that could change something or be read across
// origins (Origin); a page can set neither. curl, Grafana, JDBC and the
// JavaScript client of ClickHouse send neither. Grafana's data source proxy passes
// on Sec-Fetch-Site as its own page sent it, same-origin, and takes Origin away.
func Foreign(r *http.Request) error {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "" && site != "none" && site != "same-origin" {
			return fmt.Errorf("a page of another site asked for this (Sec-Fetch-Site: %.40q)", site)
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin == "" {
			continue
		}
		// Not the scheme: with a proxy in front, the browser uses the proxy's.
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return fmt.Errorf("a page of another site asked for this (Origin: %.100q)", origin)
		}
	}
	return nil
}

// Navigates reports whether somebody followed a link, or typed the address: the
// answer is shown to them, and no script of another site reads it.
func Navigates(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// CheckName says why a request under a name (Host) to a listener is refused, nil when it is not. A web
// page can make a name of its own lead to this machine (DNS rebinding); the browser then takes
// the page and the listener for one origin, and only the name in Host shows the difference.
//
// A listener on loopback answers as localhost, names below it, and addresses, which no name server
// gives away. One that a network reaches also answers as names without a dot, as containers and
// services have: nobody owns one of those in the public DNS. One with a password answers as any: a
// browser binds a password to a name, so that another name does not come with it.
func CheckName(host, listen string, password bool) error {
	if password || host == "" { // HTTP/1.0; a browser always sends one
		return nil
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return nil
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	if !OnLoopback(listen) && !strings.Contains(name, ".") {
		return nil
	}
	return fmt.Errorf("without a password this answers as localhost or by its address only, not as %.100q", host)
}

// OnLoopback reports whether only this machine reaches a listen address.
func OnLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && Loopback(host)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Secure sets what every answer carries: a browser takes it for what its type
// says, and hands it to no page of another origin.
func Secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
