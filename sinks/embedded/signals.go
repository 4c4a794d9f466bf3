package embedded

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The signals whose handlers the engine resets to the system's default when it
// is told to install none. Go needs its own: without it a nil pointer ends the
// process instead of becoming a panic that can be recovered.
var goSignals = []syscall.Signal{
	syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGILL, syscall.SIGBUS,
	syscall.SIGSYS, syscall.SIGFPE, syscall.SIGTSTP, syscall.SIGTRAP, syscall.SIGURG,
}

// action holds any platform's struct sigaction (16 to 152 bytes).
type action [256]byte

// keepingSignals runs f and puts Go's signal handlers back after it.
func keepingSignals(f func()) error {
	symbol, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
	if err != nil {
		return errors.New("the C library has no sigaction")
	}
	var sigaction func(sig int32, set, old unsafe.Pointer) int32
	purego.RegisterFunc(&sigaction, symbol)

	saved := make([]action, len(goSignals))
	for i, sig := range goSignals {
		sigaction(int32(sig), nil, unsafe.Pointer(&saved[i]))
	}
	f()
	for i, sig := range goSignals {
		sigaction(int32(sig), unsafe.Pointer(&saved[i]), nil)
	}
	return nil
}
