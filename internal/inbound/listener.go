package inbound

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// listener holds a limited number of connections, of which each address leaves an eighth to
// others. When it is full, idle connections are closed for a new one; where that frees none, the
// new connection is answered with full and closed.
type listener struct {
	net.Listener
	most      int
	full      string
	closeIdle func() // closes the connections that wait for their next request

	mu   sync.Mutex
	held int
	by   map[netip.Prefix]int // how many of them each address has
}

// held is a connection that counts until it is closed.
type held struct {
	net.Conn
	release func()
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := AddressOf(conn.RemoteAddr().String())
		added := l.add(from)
		if !added {
			l.closeIdle()
			added = l.add(from)
		}
		if added {
			return &held{conn, sync.OnceFunc(func() { l.remove(from) })}, nil
		}
		// It does not block: the answer fits into the empty send buffer of a new connection.
		if conn.SetDeadline(time.Now().Add(time.Second)) == nil {
			_, _ = io.WriteString(conn, l.full) // closed either way
		}
		_ = conn.Close()
	}
}

func (l *listener) add(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held >= l.most || l.by[from] >= OfOneAddress(l.most) {
		return false
	}
	l.held++
	l.by[from]++
	return true
}

func (l *listener) remove(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	if l.by[from]--; l.by[from] == 0 {
		delete(l.by, from)
	}
}

// Close closes the connection, which is not counted any more.
func (h *held) Close() error {
	h.release()
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
