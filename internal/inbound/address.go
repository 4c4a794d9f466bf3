package inbound

import "net/netip"

// AddressOf is what somebody can choose addresses from freely, who comes from remote, an
// address with a port: an IPv6 network is given out as a /64, and on this machine each
// process can use all of 127.0.0.0/8. It is the zero Prefix when there is no address.
func AddressOf(remote string) netip.Prefix {
	port, _ := netip.ParseAddrPort(remote) // zero when it is none: all of those together
	address, bits := port.Addr().Unmap().WithZone(""), 32
	switch {
	case address.Is6():
		bits = 64
	case address.IsLoopback():
		bits = 8
	}
	prefix, _ := address.Prefix(bits) // so many every address has
	return prefix
}

// OfOneAddress is how many of most connections one address may have: the others are kept
// for others.
func OfOneAddress(most int) int { return most - most/8 }
