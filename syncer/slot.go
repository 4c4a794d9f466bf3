package syncer

import "context"

// slot admits one walk at a time.
type slot chan struct{}

func newSlot() slot { return make(slot, 1) }

// try takes the slot if it is free.
func (s slot) try() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// take waits for the slot.
func (s slot) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s slot) free() { <-s }
