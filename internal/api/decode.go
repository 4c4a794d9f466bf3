package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/bytedance/sonic"
)

// decoder keeps no reference to what it reads, so that a decoded row does not
// keep its page in memory.
//
// Names are told apart by case: "Scopes" is a field that the service may add beside
// "scopes".
var decoder = sonic.Config{CopyString: true, ValidateString: true, CaseSensitive: true}.Froze()

// Decode reads one row or object as T. Fields that T does not know are ignored
// (api.md, "Conventions").
func Decode[T any](raw Raw) (T, error) {
	var v T
	if err := decoder.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("decode %T: %w", v, plainly(raw, &v, err))
	}
	return v, nil
}

// plainly is the standard library's error for the same fault: it names the
// field, and does not print the row, though a number whole.
func plainly(raw Raw, v any, err error) error {
	if std := json.Unmarshal(raw, v); std != nil {
		err = std
	}
	return errors.New(brief(err.Error()))
}

// cursors remembers the cursors of a walk by their hashes: 25,000 pages of a
// long backfill take half a megabyte.
type cursors struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

// add notes a cursor and reports whether it is new.
func (s *cursors) add(cursor string) bool {
	if s.hashes == nil {
		s.seed, s.hashes = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	h := maphash.String(s.seed, cursor)
	if _, known := s.hashes[h]; known {
		return false
	}
	s.hashes[h] = struct{}{}
	return true
}
