package damage

// Examined is how many parts were looked into and found sound; it forgets them.
func (p *Parts) Examined() int {
	p.looking.Lock()
	defer p.looking.Unlock()
	n := len(p.sound)
	clear(p.sound)
	return n
}
