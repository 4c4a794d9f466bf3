package inbound

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// listener holds a limited number of connections, of which each address leaves an eighth to
// others. Beyond either bound an idle connection is closed for a new one: one of its own address
// where that has its share, else any. Where none is idle, the new one is answered with full and closed.
type listener struct {
	net.Listener
	most int
	full string

	mu   sync.Mutex
	held map[*held]bool
	by   map[netip.Prefix]int // how many of them each address has
}

// held is a connection that counts until it is closed.
type held struct {
	net.Conn
	of   *listener
	from netip.Prefix
	idle atomic.Bool // waits for its next request
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		h := &held{Conn: conn, of: l, from: AddressOf(conn.RemoteAddr().String())}
		if l.add(h) {
			return h, nil
		}
		// It does not block: the answer fits into the empty send buffer of a new connection.
		if conn.SetDeadline(time.Now().Add(time.Second)) == nil {
			_, _ = io.WriteString(conn, l.full) // closed either way
		}
		_ = conn.Close()
	}
}

// add counts a new connection, after an idle one was closed for it where there are enough.
func (l *listener) add(h *held) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.by[h.from] >= OfOneAddress(l.most); own || len(l.held) >= l.most {
		var idle *held
		for other := range l.held {
			if other.idle.Load() && (!own || other.from == h.from) {
				idle = other
				break
			}
		}
		if idle == nil {
			return false
		}
		l.remove(idle)
		_ = idle.Conn.Close() // it is not counted any more, also on an error
	}
	l.held[h] = true
	l.by[h.from]++
	return true
}

// remove stops counting a connection; it may be called repeatedly.
func (l *listener) remove(h *held) {
	if !l.held[h] {
		return
	}
	delete(l.held, h)
	if l.by[h.from]--; l.by[h.from] == 0 {
		delete(l.by, h.from)
	}
}

// noteIdle is the server's ConnState.
func noteIdle(conn net.Conn, state http.ConnState) {
	if h, ok := conn.(*held); ok {
		h.idle.Store(state == http.StateIdle)
	}
}

// Close closes the connection, which is not counted any more.
func (h *held) Close() error {
	h.of.mu.Lock()
	h.of.remove(h)
	h.of.mu.Unlock()
	return h.Conn.Close()
}

// CloseWrite lets a server end an answer so that it is read although the request
// was not.
func (h *held) CloseWrite() error {
	if half, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
