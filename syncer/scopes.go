package syncer

// StreamScopes are the scopes of which a key needs any one to read a stream; none
// when every key may read it.
type StreamScopes struct {
	Stream string
	Scopes []string
}

// Scopes returns what each stream needs of a key, in the order of status.
func Scopes() ([]StreamScopes, error) {
	defs, err := definitions()
	if err != nil {
		return nil, err
	}
	all := make([]StreamScopes, len(defs))
	for i, d := range defs {
		all[i] = StreamScopes{Stream: d.name, Scopes: d.scopes}
	}
	return all, nil
}
