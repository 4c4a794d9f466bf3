package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/larder-sync/larder/sinks/engine/exception"
)

const codeNotEnoughSpace = 243

// explained adds where and what to do to the engine's errors about a disk that is
// short of space, which tell neither.
func explained(err error, path string, spare int64) error {
	var thrown *exception.Exception
	if !errors.As(err, &thrown) || thrown.Code != codeNotEnoughSpace {
		return err
	}
	const name = " (NOT_ENOUGH_SPACE)"
	advice := fmt.Sprintf(" The disk of %s is short of space, of which %d MiB are kept free: free some space.", path, spare>>20)
	return &exception.Exception{Code: thrown.Code, Message: strings.Replace(thrown.Message, name, advice+name, 1)}
}
