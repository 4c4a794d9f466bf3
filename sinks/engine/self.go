package engine

import "os"

// Self is the file of this program, by its name, which people see in a list of processes. Where
// another has been installed in its place, it is the kernel's name of the one that runs.
func Self() (string, error) {
	const running = "/proc/self/exe"
	named, err := os.Executable()
	this, unknown := os.Stat(running)
	if unknown != nil { // not on Linux
		return named, err
	}
	if installed, err := os.Stat(named); err != nil || !os.SameFile(installed, this) {
		return running, nil //nolint:nilerr // the name leads to nothing any more
	}
	return named, nil
}
