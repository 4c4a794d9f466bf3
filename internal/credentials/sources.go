package credentials

import (
	"log/slog"

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
	Secrets map[string]func() []string // of webhooks, by source: those that are good now
}

// Kept is a source as it is configured and served.
type Kept struct {
	Config *config.Source
	Source syncer.Source
}

// Read reads the keys of all sources, but leaves out those of kept sources whose keys are
// where they were. Its errors name every key that cannot be read: they are the
// configuration's.
func (r Reader) Read(kept map[string]Kept) (Set, error) {
	set := Set{Secrets: map[string]func() []string{}}
	wrong := &config.Error{File: r.Config.File}
	for i := range r.Config.Sources {
		s := &r.Config.Sources[i]
		source, err := r.source(s, kept)
		var secrets func() []string
		if err == nil {
			secrets, err = r.webhookSecrets(s)
		}
		if err != nil {
			wrong.Problems = append(wrong.Problems, r.Config.NoKey(s, err))
			continue
		}
		set.Sources = append(set.Sources, source)
		if secrets != nil {
			set.Secrets[s.Name] = secrets
		}
	}
	if len(wrong.Problems) > 0 {
		return Set{}, wrong
	}
	return set, nil
}

func (r Reader) source(s *config.Source, kept map[string]Kept) (syncer.Source, error) {
	source := syncer.Source{
		Name: s.Name, BaseURL: s.BaseURL,
		Streams: s.Streams, Locations: s.Locations, BudgetShare: s.BudgetShare, ErasesBeyond: s.PersonalDataWritten,
	}
	var err error
	if source.Personal, err = r.Policy(s); err != nil {
		return syncer.Source{}, &config.SecretError{Setting: "warehouse.personal_data_key_file", Err: err}
	}
	if old, ok := kept[s.Name]; ok {
		if s.SameKey(old.Config) {
			source.Key, source.NextKey, source.Revision = old.Source.Key, old.Source.NextKey, old.Source.Revision
			return source, nil
		}
		source.Revision = old.Source.Revision + 1
	}
	first, err := newKey("key", s.Name, s.KeyFile, s.ReadKey, r.Log)
	if err != nil {
		return syncer.Source{}, err
	}
	source.Key = first.reveal
	if s.NextKeyFile != "" {
		next, err := newKey("key", s.Name, s.NextKeyFile, s.ReadNextKey, r.Log)
		if err != nil {
			return syncer.Source{}, &config.SecretError{Setting: "next_key_file", Err: err}
		}
		source.NextKey = next.reveal
	}
	return source, nil
}

// webhookSecrets makes what tells the secrets of a source's webhooks, which are read anew as
// keys are; nil when it takes none.
func (r Reader) webhookSecrets(s *config.Source) (func() []string, error) {
	if s.Webhook.SecretFile == "" {
		return nil, nil
	}
	first, err := newKey("webhook secret", s.Name, s.Webhook.SecretFile, s.Webhook.Read, r.Log)
	if err != nil {
		return nil, &config.SecretError{Setting: "webhook.secret_file", Err: err}
	}
	if s.Webhook.NextSecretFile == "" {
		return func() []string { return []string{first.reveal()} }, nil
	}
	next, err := newKey("webhook secret", s.Name, s.Webhook.NextSecretFile, s.Webhook.ReadNext, r.Log)
	if err != nil {
		return nil, &config.SecretError{Setting: "webhook.next_secret_file", Err: err}
	}
	return func() []string { return []string{first.reveal(), next.reveal()} }, nil
}
