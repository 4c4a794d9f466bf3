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
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// The limits of guessing. A person who mistypes does not notice them; a program that tries a
// list of passwords has 3,600 tries an hour.
const (
	freeGuesses   = 10              // at once, from one address
	guessEvery    = time.Second     // from then on
	guessPatience = 2 * time.Second // for the next guess that is due
	// Addresses that are remembered: 100 bytes and a few hashes each. When more
	// than this many guess at once, the one that was quiet longest is forgotten.
	guessAddresses = 4096
	// Wrong credentials that are remembered for each address. A program that is
	// set up wrongly sends the same one for ever; that is no guessing.
	wrongRemembered = 8
)

// Passwords compares what is given with a user and a password, and slows down
// wrong ones by address (IPv6: by /64). An address that has used up its guesses
// waits until the next one is due, also with the right password: another answer
// would confirm it. All of an address wait alike, so that the right one has its turn while somebody
// guesses. A connection on which it has been given already does not wait.
type Passwords struct {
	right credentials

	mu       sync.Mutex
	guessers *lru.LRU[netip.Prefix, *guesser]
}

// guesser is an address from which a wrong password came.
type guesser struct {
	left  *rate.Limiter
	wrong []credentials // the latest is last
}

// credentials are the hashes of a user and a password.
type credentials struct{ user, password [sha256.Size]byte }

func hashed(user, password string) credentials {
	return credentials{sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))}
}

// NewPasswords returns a Passwords for one user.
func NewPasswords(user, password string) *Passwords {
	guessers, err := lru.NewLRU[netip.Prefix, *guesser](guessAddresses, nil)
	if err != nil {
		panic(err) // its size is not positive
	}
	return &Passwords{right: hashed(user, password), guessers: guessers}
}

// TooManyError refuses an address without regard to the password.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("too many wrong passwords from this address: try again in %s", e.Wait)
}

// Right reports whether user and password are right. It fails with a *TooManyError when the
// address has had no guess left for guessPatience, and when ctx ends.
func (p *Passwords) Right(ctx context.Context, remote, user, password string) (bool, error) {
	given := hashed(user, password)
	// In constant time, whatever the lengths.
	right := subtle.ConstantTimeCompare(given.user[:], p.right.user[:])&subtle.ConstantTimeCompare(given.password[:], p.right.password[:]) == 1
	if password == "" {
		return right, nil // asks for the way in; no guess
	}
	proven, ok := ctx.Value(provenKey{}).(*atomic.Bool)
	if !ok {
		proven = new(atomic.Bool)
	}
	if right && proven.Load() {
		return true, nil
	}
	proven.Store(false) // from now on this connection is slowed down, too
	ctx, cancel := context.WithTimeoutCause(ctx, guessPatience, &TooManyError{Wait: guessEvery})
	defer cancel()
	for from := AddressOf(remote); !p.admit(from, given, right); {
		select {
		case <-time.After(guessEvery / 4):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	proven.Store(right)
	return right, nil
}

// admit reports whether an address may have an answer about what is given. Only wrong ones that
// are new use up its guesses.
func (p *Passwords) admit(from netip.Prefix, given credentials, right bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, found := p.guessers.Get(from)
	switch {
	case found && slices.Contains(g.wrong, given):
		return true
	case found && g.left.Tokens() < 1:
		return false
	case right:
		return true
	case !found:
		g = &guesser{left: rate.NewLimiter(rate.Every(guessEvery), freeGuesses)}
		p.guessers.Add(from, g)
	}
	g.left.Allow()
	g.wrong = append(g.wrong[max(0, len(g.wrong)-wrongRemembered+1):], given)
	return true
}

type provenKey struct{}

// withProven adds to the context of a connection whether the right password was given on it.
func withProven(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, provenKey{}, new(atomic.Bool))
}
