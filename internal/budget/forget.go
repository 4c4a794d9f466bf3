package budget

import (
	"slices"
	"time"
)

// SetShare changes the part of every limit that may be used, in (0,1]. What the
// key has used stays used.
func (k *Key) SetShare(share float64) {
	l := k.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	k.share = validShare(share)
	k.all.setLimit(k.all.limit, k.share)
	k.heavy.setLimit(k.heavy.limit, k.share)
	k.business.limit.setLimit(k.business.limit.limit, k.business.share())
	k.business.serve(l)
}

func validShare(share float64) float64 {
	if share <= 0 || share > 1 {
		return 1
	}
	return share
}

// Forget drops a key that is no longer configured, as soon as nothing that it has
// used counts any more. A [Ledger.Key] of the same name before then is that key
// again, with all it has spent (DESIGN B2).
func (l *Ledger) Forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.keys[name]; ok && !k.forgotten {
		k.forgotten = true
		l.drop(k)
	}
}

// drop removes a forgotten key, now or as soon as nothing of it counts any more. The caller
// holds the lock.
func (l *Ledger) drop(k *Key) {
	if !k.forgotten {
		return
	}
	if k.counts() {
		time.AfterFunc(minute, func() { l.recovered(func() { l.drop(k) }) })
		return
	}
	delete(l.keys, k.name)
	b := k.business
	b.keys = slices.DeleteFunc(b.keys, func(other *Key) bool { return other == k })
	if len(b.keys) > 0 {
		b.limit.setLimit(b.limit.limit, b.share())
		b.serve(l)
	} else if b.name != "" && !b.limit.counts(l.now()) {
		delete(l.businesses, b.name)
	}
}

// counts is true when anything of the key is under way, waits, or is remembered.
func (k *Key) counts() bool {
	now := k.ledger.now()
	if len(k.out) > 0 || k.all.counts(now) || k.heavy.counts(now) {
		return true
	}
	for _, lane := range k.queues {
		for _, q := range lane {
			if len(q) > 0 {
				return true
			}
		}
	}
	return false
}

// counts is true when the window is other than a new one would be.
func (w *window) counts(now instant) bool {
	w.expire(now)
	return w.ours() > 0 || len(w.others) > 0 || w.pausedUntil > now
}
