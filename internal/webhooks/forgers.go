package webhooks

import (
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/larder-sync/larder/internal/inbound"
)

const (
	// mayForge is how many bad signatures an address may send at once, and a minute.
	mayForge = 30
	// maxForgers is how many addresses are remembered.
	maxForgers = 4096
	// logEvery is how often the log reports bad signatures of a source.
	logEvery = time.Minute
)

// forgers counts bad signatures by address.
type forgers struct {
	mu     sync.Mutex
	seen   *lru.LRU[netip.Prefix, *rate.Limiter]
	logged map[string]time.Time // when the log reported them last, by configured source
}

func newForgers() *forgers {
	seen, err := lru.NewLRU[netip.Prefix, *rate.Limiter](maxForgers, nil)
	if err != nil {
		panic(err) // of a size below one
	}
	return &forgers{seen: seen, logged: map[string]time.Time{}}
}

// count counts a bad signature. tooMany: the address has sent more than it may. log: the source has
// had no log line about it for logEvery.
func (f *forgers) count(source, remote string, now time.Time) (tooMany, log bool) {
	address := inbound.AddressOf(remote)
	f.mu.Lock()
	defer f.mu.Unlock()
	limit, known := f.seen.Get(address)
	if !known {
		limit = rate.NewLimiter(rate.Every(time.Minute/mayForge), mayForge)
		f.seen.Add(address, limit)
	}
	last, before := f.logged[source]
	if log = !before || now.Sub(last) >= logEvery; log {
		f.logged[source] = now
	}
	return !limit.AllowN(now, 1), log
}
