package inbound

import (
	"net"
	"net/http"
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

// However many connections one address opens, another gets one. An idle one of its own makes
// room for it, before one of another does.
func TestAnAddressLeavesConnectionsForOthers(t *testing.T) {
	const most = 16
	in := make(incoming, 1)
	l := newListener(in, most, full)
	open := func(last byte) (ours net.Conn, accepted *held) {
		ours, theirs := net.Pipe()
		in <- from{theirs, net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 1}}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return ours, conn.(*held)
	}
	_, waiting := open(2)
	l.state(waiting, http.StateIdle)
	var first *held
	for range OfOneAddress(most) {
		if _, first = open(1); l.by[first.from] > OfOneAddress(most) {
			t.Fatal("too many")
		}
	}
	if !l.take(&held{from: waiting.from}) {
		t.Fatal("another address gets none")
	}
	if l.take(&held{from: first.from}) {
		t.Error("one address gets all")
	}
	l.state(first, http.StateIdle)
	if !l.take(&held{from: first.from}) || l.held[first] || !l.held[waiting] {
		t.Error("its own idle one did not make room")
	}
}
