package embedded

import "context"

// Examined is how many parts were looked into and found sound; it forgets them.
func (e *Engine) Examined() int {
	e.damages.looking.Lock()
	defer e.damages.looking.Unlock()
	n := len(e.damages.sound)
	clear(e.damages.sound)
	return n
}

// LookForDamage looks as it does every few seconds.
func (e *Engine) LookForDamage(ctx context.Context) error {
	return e.pool.use(ctx, Session{Database: "default"}, e.lookForDamage)
}
