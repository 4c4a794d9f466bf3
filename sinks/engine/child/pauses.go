package child

import "time"

const (
	firstPause = 200 * time.Millisecond // doubled each time
	longPause  = time.Minute
	soundTime  = time.Minute // after which a program that ends was sound
)

// Pauses are those before a program that ends is started again: none at first, then ever
// longer ones up to a minute, and none after a program that was sound.
type Pauses struct{ next time.Duration }

// Next is the pause after a program that has run for so long.
func (p *Pauses) Next(ran time.Duration) time.Duration {
	if ran > soundTime {
		p.next = 0
	}
	pause := p.next
	p.next = min(max(firstPause, 2*pause), longPause)
	return pause
}
