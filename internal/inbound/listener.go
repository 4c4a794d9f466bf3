package inbound

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// listener holds a limited number of connections, of which each address leaves an eighth to
// others. When it is full, the connection that has been idle longest is closed for a new one; without
// an idle one, the new connection is answered with full and closed.
type listener struct {
	net.Listener
	most     int
	full     string
	refusing chan struct{} // one for each connection that is being refused

	mu   sync.Mutex
	held map[*held]bool
	by   map[netip.Prefix]int // how many of them each address has
}

// maxRefusing is how many refused connections are kept open at once until their request has
// been read. Further ones get the same answer and are closed at once. A client that is still
// sending then may find the connection reset before it has read the answer.
const maxRefusing = 8

func newListener(l net.Listener, most int, full string) *listener {
	return &listener{
		Listener: l, most: most, full: full, refusing: make(chan struct{}, maxRefusing),
		held: map[*held]bool{}, by: map[netip.Prefix]int{},
	}
}

// held is a connection that counts.
type held struct {
	net.Conn
	of   *listener
	from netip.Prefix
	idle time.Time // since when it waits for its next request; zero while it does not
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		h := &held{Conn: conn, of: l, from: AddressOf(conn.RemoteAddr().String())}
		if l.take(h) {
			return h, nil
		}
		l.refuse(conn)
	}
}

// take counts a new connection, and closes an idle one for it when the listener is full.
func (l *listener) take(h *held) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if alone := l.by[h.from] >= OfOneAddress(l.most); alone || len(l.held) >= l.most {
		longest := l.longestIdle(h.from, alone)
		if longest == nil {
			return false
		}
		l.drop(longest)
		_ = longest.Conn.Close() // it is not counted any more, also on an error
	}
	l.held[h] = true
	l.by[h.from]++
	return true
}

// longestIdle is the connection that has been idle longest, of one address or of all; nil for none.
func (l *listener) longestIdle(from netip.Prefix, alone bool) (longest *held) {
	for h := range l.held {
		if !h.idle.IsZero() && (!alone || h.from == from) && (longest == nil || h.idle.Before(longest.idle)) {
			longest = h
		}
	}
	return longest
}

// drop stops counting a connection; it may be called repeatedly.
func (l *listener) drop(h *held) {
	if !l.held[h] {
		return
	}
	delete(l.held, h)
	if l.by[h.from]--; l.by[h.from] == 0 {
		delete(l.by, h.from)
	}
}

// Close closes the connection, which is not counted any more.
func (h *held) Close() error {
	h.of.mu.Lock()
	h.of.drop(h)
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

// state is the server's ConnState: it notes which connections are idle.
func (l *listener) state(conn net.Conn, state http.ConnState) {
	h, ok := conn.(*held)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.idle = (time.Time{}); state == http.StateIdle {
		h.idle = time.Now()
	}
}

// refuse answers and closes without holding up the next one.
func (l *listener) refuse(conn net.Conn) {
	select {
	case l.refusing <- struct{}{}:
		go func() {
			defer func() { <-l.refusing }()
			l.answerAndDrain(conn)
		}()
	default:
		_ = l.answer(conn) // closed either way
		_ = conn.Close()
	}
}

// answer writes the full answer. It does not block: it fits into the empty send buffer of a new connection.
func (l *listener) answer(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err := io.WriteString(conn, l.full)
	return err
}

// answerAndDrain reads the request, for a second, before it closes the connection: closed with unread
// bytes, TCP resets the connection, and the client may lose the answer.
func (l *listener) answerAndDrain(conn net.Conn) {
	defer conn.Close()
	if l.answer(conn) != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10)) // whatever it was
	}
}
