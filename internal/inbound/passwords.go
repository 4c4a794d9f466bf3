package inbound

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// The limits of guessing. A person who mistypes does not notice them; a program that tries a
// list of passwords has 3,600 tries an hour.
const (
	freeGuesses   = 10          // at once, from one address
	guessEvery    = time.Second // from then on
	guessPatience = 2 * time.Second
	// Addresses that are remembered: 100 bytes and a few hashes each. When more
	// than this many guess at once, the one that was quiet longest is forgotten.
	guessAddresses = 4096
	// Wrong credentials that are remembered for each address. A program that is
	// set up wrongly sends the same one for ever; that is no guessing.
	wrongRemembered = 8
)

// Passwords compares what is given with a user and a password, and slows down
// wrong ones by address (IPv6: by /64). An address that has used up its guesses
// is refused until the next one is due, even with the right password: another answer
// would confirm it. Who knows the password waits a second or two after somebody at the same
// address has guessed, and not at all on a connection on which it has been given already.
type Passwords struct {
	user, password [sha256.Size]byte
	addresses      *lru.Cache[netip.Prefix, *guesser]
}

// guesser is an address from which a wrong password came.
type guesser struct {
	mu    sync.Mutex
	left  *rate.Limiter
	wrong [][sha256.Size]byte // the latest is last
}

// NewPasswords returns a Passwords for one user.
func NewPasswords(user, password string) *Passwords {
	addresses, err := lru.New[netip.Prefix, *guesser](guessAddresses)
	if err != nil {
		panic(err) // its size is not positive
	}
	return &Passwords{user: sha256.Sum256([]byte(user)), password: sha256.Sum256([]byte(password)), addresses: addresses}
}

// TooManyError refuses an address without looking at the password.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("too many wrong passwords from this address: try again in %s", e.Wait)
}

// Right reports whether user and password are right. It fails with a *TooManyError when they
// were not compared, and when ctx ends.
func (p *Passwords) Right(ctx context.Context, remote, user, password string) (bool, error) {
	if password == "" {
		return p.same(user, password), nil // asks for the way in; no guess
	}
	caller := callerOf(ctx)
	if caller.known.Load() {
		if p.same(user, password) {
			return true, nil
		}
		caller.known.Store(false) // from now on this connection is slowed down, too
	}
	right, err := p.guess(ctx, AddressOf(remote), user, password)
	if right {
		caller.known.Store(true)
	}
	return right, err
}

func (p *Passwords) guess(ctx context.Context, from netip.Prefix, user, password string) (bool, error) {
	g, found := p.addresses.Get(from)
	if !found {
		if p.same(user, password) {
			return true, nil
		}
		fresh := &guesser{left: rate.NewLimiter(rate.Every(guessEvery), freeGuesses)}
		if g, found, _ = p.addresses.PeekOrAdd(from, fresh); !found {
			g = fresh
		}
	}
	given := sha256.Sum256([]byte(user + "\x00" + password))
	ctx, cancel := context.WithTimeoutCause(ctx, guessPatience, &TooManyError{Wait: guessEvery})
	defer cancel()
	for {
		right, looked := g.try(given, func() bool { return p.same(user, password) })
		if looked {
			return right, nil
		}
		select {
		case <-time.After(guessEvery / 4):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// try looks at what is given if a guess is left. Only wrong ones use it up.
func (g *guesser) try(given [sha256.Size]byte, same func() bool) (right, looked bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.wrong, given) {
		return false, true
	}
	if g.left.Tokens() < 1 {
		return false, false
	}
	if same() {
		return true, true
	}
	g.left.Allow()
	if len(g.wrong) == wrongRemembered {
		g.wrong = slices.Delete(g.wrong, 0, 1)
	}
	g.wrong = append(g.wrong, given)
	return false, true
}

// same compares in constant time, whatever the lengths.
func (p *Passwords) same(user, password string) bool {
	u, w := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(u[:], p.user[:])&subtle.ConstantTimeCompare(w[:], p.password[:]) == 1
}

// caller is what is known of a connection.
type caller struct {
	known atomic.Bool
	raw   syscall.RawConn // nil where there is none
}

type callerKey struct{}

func withCaller(ctx context.Context, conn net.Conn) context.Context {
	c := new(caller)
	if h, ok := conn.(*held); ok {
		conn = h.Conn
	}
	if s, ok := conn.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn() // without it, net/http alone notices when the client leaves
	}
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return new(caller)
}
