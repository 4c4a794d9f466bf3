package replace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
)

// part is what is known of a part that is stored: of a whole list, or of the menu of a location;
// zero when the last menu could not be understood.
type part struct {
	ETag   string   `json:"etag,omitempty"`
	Digest string   `json:"digest,omitempty"`
	Row    uint64   `json:"row,omitempty"` // of a menu: the version of the row that holds it
	IDs    []string `json:"ids,omitempty"` // of a list, those of rows that could not be understood included
}

// whole is the key of a part that is a whole list; other keys are locations.
const whole = ""

// parts are those of a stream, by key.
type parts map[string]part

// idsOf are the ids of the rows of a part.
func (p parts) idsOf(key string) []string {
	if _, known := p[key]; known && key != whole {
		return []string{key}
	}
	return p[key].IDs
}

// position is the parts as a checkpoint stores them.
func (p parts) position() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // they hold texts and numbers
	}
	return string(text)
}

func readPosition(cp sinks.Checkpoint) (parts, error) {
	stored := parts{}
	from := json.NewDecoder(strings.NewReader(cp.Position))
	from.DisallowUnknownFields() // as another version has stored them
	if err := from.Decode(&stored); err != nil {
		return parts{}, fmt.Errorf("what is stored of %s: %.100q is not understood: %w", cp.Stream, cp.Position, err)
	}
	return stored, nil
}

// IDs are the ids of the rows that a checkpoint lists.
func IDs(cp sinks.Checkpoint) ([]string, error) {
	stored, err := readPosition(cp)
	var ids []string
	for key := range stored {
		ids = append(ids, stored.idsOf(key)...)
	}
	slices.Sort(ids)
	return ids, err
}

// confirms reports whether a 304 speaks of the version that was sent, or of none by name: a
// strong ETag and a weak one may be of one menu.
func (p part) confirms(a api.MenuAnswer) bool {
	return a.ETag == "" || strings.TrimPrefix(a.ETag, "W/") == strings.TrimPrefix(p.ETag, "W/")
}

// digestOf is the same for the same rows in any order.
func digestOf(rows [][]byte) string {
	sorted := slices.SortedFunc(slices.Values(rows), bytes.Compare)
	sum := sha256.Sum256(bytes.Join(sorted, []byte{0}))
	return hex.EncodeToString(sum[:])
}
