package embedded

import (
	"errors"

	"github.com/ebitengine/purego"
)

// setEngineZone gives the engine the time zone UTC. It does not start in a TZ that is misspelt,
// or in POSIX form, which the C library takes. Go has its own copy of the environment: what
// people see stays in their zone, and so do programs that are started.
func setEngineZone() error {
	symbol, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return errors.New("the C library has no setenv")
	}
	var setenv func(name, value string, overwrite int32) int32
	purego.RegisterFunc(&setenv, symbol)
	if setenv("TZ", "UTC", 1) != 0 {
		return errors.New("the C library cannot set TZ for the engine")
	}
	return nil
}
