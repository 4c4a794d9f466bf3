package embedded

import "os"

// allocatorEnv is where the engine's allocator (jemalloc) reads its options when the
// library is loaded.
const allocatorEnv = "JE_MALLOC_CONF"

// allocatorOptions give what queries freed back to the system at once, not after five
// seconds: with hungry queries in turns the process held up to half as much again as the
// engine's limit allows, which ends it in a container (measured; see docs/benchmarks.md).
const allocatorOptions = "dirty_decay_ms:0,muzzy_decay_ms:0"

// withAllocator calls f, which loads the library, with the allocator's options in the
// environment, unless the person has set others.
func withAllocator(f func() error) error {
	if _, set := os.LookupEnv(allocatorEnv); set {
		return f()
	}
	if err := os.Setenv(allocatorEnv, allocatorOptions); err != nil {
		return err
	}
	err := f()
	if unset := os.Unsetenv(allocatorEnv); err == nil {
		err = unset
	}
	return err
}
