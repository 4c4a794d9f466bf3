package syncer

import (
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// StreamScopes are the scopes of which a key needs any one to read a stream; none
// when every key may read it.
type StreamScopes struct {
	Stream string
	Scopes []string
}

// Scopes returns what each stream needs of a key, in the order of status.
func Scopes() ([]StreamScopes, error) {
	defs, err := registry.All()
	if err != nil {
		return nil, err
	}
	all := make([]StreamScopes, len(defs))
	for i, d := range defs {
		all[i] = StreamScopes{Stream: d.Name, Scopes: d.Scopes}
	}
	return all, nil
}

// AskedStream is a stream as a report or a status tells of it.
type AskedStream struct {
	Name    string
	Off     bool
	NoScope bool // it is off since the key lacks the scope
}

// Lacks is true when a key lacks what it should have: the scope of a stream that the
// configuration names, or of everything. A key that reads some of what there is lacks
// nothing when the configuration names no streams.
func Lacks(named bool, streams []AskedStream) bool {
	lacks, reads := false, false
	for _, st := range streams {
		lacks = lacks || st.NoScope
		reads = reads || !st.Off && !st.NoScope && st.Name != registry.Key // which every key may read
	}
	return lacks && (named || !reads)
}

// lacks names the source's streams that its key should read, and may not.
func (s *source) lacks(streams []status.StreamStatus) (names []string) {
	var asked []AskedStream
	for i := range streams {
		st := &streams[i]
		asked = append(asked, AskedStream{Name: st.Name, Off: st.State == status.StateOff, NoScope: st.NoScope})
		if st.NoScope {
			names = append(names, st.Name)
		}
	}
	if !Lacks(len(s.cfg.Streams) > 0, asked) {
		return nil
	}
	return names
}
