package memory

// Limit is how much memory there is for this process.
type Limit struct {
	Bytes     int64  // 0: it could not be found out
	Container bool   // a control group's limit: beyond it the kernel ends the process
	Where     string // what says so: a file of the control group, or the machine
}

// Find returns the smallest limit of the control groups that the process is in,
// and of those around them; without one, the machine's memory.
func Find() Limit {
	total := machine()
	if l := groups("/"); l.Bytes > 0 && (total == 0 || l.Bytes < total) {
		return l
	}
	return Limit{Bytes: total, Where: "the machine's memory"}
}
