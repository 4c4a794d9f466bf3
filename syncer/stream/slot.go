package stream

import "context"

// Slot admits as many walks at a time as its capacity, mostly one.
type Slot chan struct{}

// NewSlot makes a slot for one.
func NewSlot() Slot { return make(Slot, 1) }

// Try takes the slot if it is free.
func (s Slot) Try() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// Take waits for the slot.
func (s Slot) Take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run runs f while it holds the slot.
func (s Slot) Run(ctx context.Context, f func(context.Context) error) error {
	if err := s.Take(ctx); err != nil {
		return err
	}
	defer s.Release()
	return f(ctx)
}

// Taken is true while somebody holds the slot.
func (s Slot) Taken() bool { return len(s) > 0 }

// Release gives the slot to the next.
func (s Slot) Release() { <-s }
