package syncer

// cycle finds a cursor that comes back, in constant memory (Brent's method): the
// next one is compared with the present one and with one remembered at growing
// distances.
type cycle struct {
	kept  string
	steps int
	reach int
}

// repeats tells whether following next would go in circles.
func (c *cycle) repeats(current, next string) bool {
	if next == current || next == c.kept {
		return true
	}
	c.steps++
	if c.steps > c.reach {
		c.kept, c.steps, c.reach = next, 0, 2*c.reach+1
	}
	return false
}
