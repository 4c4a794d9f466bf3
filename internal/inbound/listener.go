package inbound

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// listener holds a limited number of connections, of which each address leaves an eighth to
// others. When it is full, one that waits for its next request makes room; if none does, the
// new one gets an answer that says so and is closed, so that nobody waits without an answer.
type listener struct {
	net.Listener
	most int
	full string

	mu       sync.Mutex
	held     int
	by       map[netip.Prefix]int // how many of them each address has
	idle     *list.List           // of *held; the longest idle is first
	refusing int                  // connections that are being refused
}

// maxRefusing is how many refused connections are kept open at once until their request has
// been read. Further ones get the same answer and are closed at once. A client that is still
// sending then may find the connection reset before it has read the answer.
const maxRefusing = 8

func newListener(l net.Listener, most int, full string) *listener {
	return &listener{Listener: l, most: most, full: full, idle: list.New(), by: map[netip.Prefix]int{}}
}

// held is a connection that counts.
type held struct {
	net.Conn
	of   *listener
	from netip.Prefix
	at   *list.Element // in idle; nil while it is not
	gone bool          // closed; counts no more
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from := AddressOf(conn.RemoteAddr().String()); l.take(from) {
			return &held{Conn: conn, of: l, from: from}, nil
		}
		l.refuse(conn)
	}
}

// take counts one more, in the place of an idle one if need be.
func (l *listener) take(from netip.Prefix) bool {
	l.mu.Lock()
	full, fullOfOne := l.held >= l.most, l.by[from] >= OfOneAddress(l.most)
	if !full && !fullOfOne {
		l.held++
		l.by[from]++
		l.mu.Unlock()
		return true
	}
	longest := l.longestIdle(from, fullOfOne)
	l.mu.Unlock()
	if longest == nil {
		return false
	}
	_ = longest.Close() // its place is free either way
	return l.take(from)
}

// longestIdle is the one that waits longest for its next request, of an address alone or of
// all; nil for none.
func (l *listener) longestIdle(from netip.Prefix, alone bool) *held {
	for at := l.idle.Front(); at != nil; at = at.Next() {
		if h := at.Value.(*held); !alone || h.from == from {
			return h
		}
	}
	return nil
}

// Close frees the place, however often it is called.
func (h *held) Close() error {
	h.of.mu.Lock()
	if !h.gone {
		h.gone = true
		h.of.held--
		if h.of.by[h.from]--; h.of.by[h.from] == 0 {
			delete(h.of.by, h.from)
		}
		h.of.awake(h)
	}
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

func (l *listener) awake(h *held) {
	if h.at != nil {
		l.idle.Remove(h.at)
		h.at = nil
	}
}

// state is the server's ConnState: it knows which connections are idle.
func (l *listener) state(conn net.Conn, state http.ConnState) {
	h, ok := conn.(*held)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awake(h)
	if state == http.StateIdle && !h.gone {
		h.at = l.idle.PushBack(h)
	}
}

// refuse answers and closes without holding up the next one.
func (l *listener) refuse(conn net.Conn) {
	l.mu.Lock()
	quiet := l.refusing == maxRefusing
	if !quiet {
		l.refusing++
	}
	l.mu.Unlock()
	if quiet {
		_ = l.answer(conn) // closed either way
		_ = conn.Close()
		return
	}
	go func() {
		l.tell(conn)
		l.mu.Lock()
		l.refusing--
		l.mu.Unlock()
	}()
}

// answer holds nobody up: a connection that has just begun has room for it.
func (l *listener) answer(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err := io.WriteString(conn, l.full)
	return err
}

// tell reads on for a moment: a connection closed with a request unread takes the
// answer away from who sent it.
func (l *listener) tell(conn net.Conn) {
	defer conn.Close()
	if l.answer(conn) != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10)) // whatever it was
	}
}
