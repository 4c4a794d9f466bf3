package credentials

import (
	"log/slog"
	"slices"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer"
)

// Reader turns configured sources into the syncer's.
type Reader struct {
	Config *config.Config
	Log    *slog.Logger
}

// Set is the sources of a configuration.
type Set struct {
	Sources []syncer.Source
	Keys    map[string]Keys // by source
}

// Keys are the keys of a source and the secrets of its webhooks.
type Keys struct{ keys, secrets []*key }

// Secrets are the secrets of webhooks that are good now; none when the source takes none.
func (k Keys) Secrets() (all []string) {
	for _, secret := range k.secrets {
		all = append(all, secret.reveal())
	}
	return all
}

// Look reads the files anew, as a request or a webhook would.
func (k Keys) Look() {
	for _, key := range slices.Concat(k.keys, k.secrets) {
		key.reveal()
	}
}

// Problems describes the files that could not be read when they were last looked at. It
// looks at none, and does not wait for one that does.
func (k Keys) Problems() (found []string) {
	for _, key := range slices.Concat(k.keys, k.secrets) {
		if problem := key.problem.Load(); problem != nil {
			found = append(found, "source "+key.source+": "+*problem)
		}
	}
	return found
}

// Kept is a source as it is configured and served.
type Kept struct {
	Config *config.Source
	Source syncer.Source
	Keys   Keys
}

// Read reads the keys of all sources, but leaves out those of kept sources whose keys are
// where they were. Its errors name every key that cannot be read: they are the
// configuration's.
func (r Reader) Read(kept map[string]Kept) (Set, error) {
	set := Set{Keys: map[string]Keys{}}
	wrong := &config.Error{}
	for i := range r.Config.Sources {
		s := &r.Config.Sources[i]
		source, keys, err := r.source(s, kept)
		if err == nil {
			keys.secrets, err = r.webhookSecrets(s)
		}
		if err != nil {
			wrong.Problems = append(wrong.Problems, r.Config.NoKey(s, err))
			continue
		}
		set.Sources = append(set.Sources, source)
		set.Keys[s.Name] = keys
	}
	if len(wrong.Problems) > 0 {
		return Set{}, wrong
	}
	return set, nil
}

func (r Reader) source(s *config.Source, kept map[string]Kept) (source syncer.Source, keys Keys, err error) {
	source = syncer.Source{
		Name: s.Name, BaseURL: s.BaseURL,
		Streams: s.Streams, Locations: s.Locations, BudgetShare: s.BudgetShare, ErasesBeyond: s.PersonalDataWritten,
	}
	if source.Personal, err = r.Policy(s); err != nil {
		return source, keys, &config.SecretError{Setting: "warehouse.personal_data_key_file", Err: err}
	}
	if old, ok := kept[s.Name]; ok {
		if s.SameKey(old.Config) {
			source.Key, source.NextKey, source.Revision = old.Source.Key, old.Source.NextKey, old.Source.Revision
			return source, Keys{keys: old.Keys.keys}, nil
		}
		source.Revision = old.Source.Revision + 1
	}
	first, err := newKey("key_file", s.Name, s.KeyFile, s.ReadKey, r.Log)
	if err != nil {
		return source, keys, err
	}
	source.Key, keys.keys = first.reveal, []*key{first}
	if s.NextKeyFile != "" {
		next, err := newKey("next_key_file", s.Name, s.NextKeyFile, s.ReadNextKey, r.Log)
		if err != nil {
			return source, keys, &config.SecretError{Setting: "next_key_file", Err: err}
		}
		source.NextKey, keys.keys = next.reveal, append(keys.keys, next)
	}
	return source, keys, nil
}

// webhookSecrets are the secrets of a source's webhooks, which are read anew as keys are; none
// when it takes none.
func (r Reader) webhookSecrets(s *config.Source) (secrets []*key, err error) {
	for _, secret := range []struct {
		setting, file string
		read          func() (config.Secret, error)
	}{
		{"webhook.secret_file", s.Webhook.SecretFile, s.Webhook.Read},
		{"webhook.next_secret_file", s.Webhook.NextSecretFile, s.Webhook.ReadNext},
	} {
		if secret.file == "" {
			continue
		}
		k, err := newKey(secret.setting, s.Name, secret.file, secret.read, r.Log)
		if err != nil {
			return nil, &config.SecretError{Setting: secret.setting, Err: err}
		}
		secrets = append(secrets, k)
	}
	return secrets, nil
}
