package menus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
)

// version is what is known of the menu that is stored of a location; zero when the last
// one could not be understood.
type version struct {
	ETag   string `json:"etag,omitempty"`
	Digest string `json:"digest,omitempty"`
	Row    uint64 `json:"row,omitempty"` // the version of the row that holds it
}

// position is what a checkpoint stores: the versions by location.
type position struct {
	Menus map[string]version `json:"menus"`
}

func readPosition(cp sinks.Checkpoint) (map[string]version, error) {
	p := position{Menus: map[string]version{}}
	if cp.Position == "" {
		return p.Menus, nil
	}
	if err := json.Unmarshal([]byte(cp.Position), &p); err != nil || p.Menus == nil {
		return map[string]version{}, fmt.Errorf("stored versions of menus: %.100q is not understood: %w", cp.Position, err)
	}
	return p.Menus, nil
}

// Locations are those whose menus a checkpoint lists.
func Locations(cp sinks.Checkpoint) ([]string, error) {
	stored, err := readPosition(cp)
	return slices.Collect(maps.Keys(stored)), err
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// confirms is true when a 304 speaks of the version that was sent, or of none by name: a
// strong ETag and a weak one may be of one menu.
func (v version) confirms(a api.MenuAnswer) bool {
	return a.ETag == "" || strings.TrimPrefix(a.ETag, "W/") == strings.TrimPrefix(v.ETag, "W/")
}
