package inbound

import (
	"io"
	"net"
	"net/netip"
	"testing"
)

// from is a connection from an address.
type from struct {
	net.Conn
	address net.TCPAddr
}

func (f from) RemoteAddr() net.Addr { return &f.address }

// incoming is a listener of connections that a test makes.
type incoming chan net.Conn

func (in incoming) Accept() (net.Conn, error) { return <-in, nil }
func (incoming) Close() error                 { return nil }
func (incoming) Addr() net.Addr               { return &net.TCPAddr{} }

// However many connections one address opens, another gets one. Idle ones are closed before one is
// refused.
func TestAnAddressLeavesConnectionsForOthers(t *testing.T) {
	const most = 16
	var idle []net.Conn
	in := make(incoming, 2)
	l := &listener{Listener: in, most: most, full: full, by: map[netip.Prefix]int{}, closeIdle: func() {
		for _, conn := range idle {
			conn.Close()
		}
	}}
	open := func(last byte) net.Conn {
		ours, theirs := net.Pipe()
		in <- from{theirs, net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 1}}
		go io.Copy(io.Discard, ours) //nolint:errcheck // it takes the answer of a listener that is full
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	var first net.Conn
	for range OfOneAddress(most) {
		first = open(1)
	}
	// One more of it is refused, so that the next to be accepted is another's.
	ours, theirs := net.Pipe()
	in <- from{theirs, net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}}
	go io.Copy(io.Discard, ours) //nolint:errcheck // as above
	if conn := open(2); conn.RemoteAddr().String() != "192.0.2.2:1" {
		t.Errorf("one address has all: %s", conn.RemoteAddr())
	}
	idle = []net.Conn{first, first}
	if conn := open(1); conn.RemoteAddr().String() != "192.0.2.1:1" || l.held != OfOneAddress(most)+1 {
		t.Errorf("an idle one makes no way: %s, %d are held", conn.RemoteAddr(), l.held)
	}
}
