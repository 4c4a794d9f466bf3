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

// Keys are the keys of a source and the secrets of its webhooks, and the source as it was
// configured and is served.
type Keys struct {
	configured    *config.Source
	source        syncer.Source
	keys, secrets []*key
}

// Secrets are the secrets of webhooks that are good now; none when the source takes none.
func (k Keys) Secrets() (all []string) {
	for _, secret := range k.secrets {
		all = append(all, secret.reveal())
	}
	return all
}

// Reread reads the files anew, as a request or a webhook would.
func (k Keys) Reread() {
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

// Read reads the keys of all sources, but not anew those that are where they were before. Its
// errors name every key that cannot be read: they are the configuration's.
func (r Reader) Read(before map[string]Keys) (sources []syncer.Source, all map[string]Keys, err error) {
	all = map[string]Keys{}
	wrong := &config.Error{}
	for i := range r.Config.Sources {
		s := &r.Config.Sources[i]
		keys, err := r.source(s, before)
		if err == nil {
			keys.secrets, err = r.WebhookSecrets(s)
		}
		if err != nil {
			wrong.Problems = append(wrong.Problems, r.Config.NoKey(s, err))
			continue
		}
		sources = append(sources, keys.source)
		all[s.Name] = keys
	}
	if len(wrong.Problems) > 0 {
		return nil, nil, wrong
	}
	return sources, all, nil
}

func (r Reader) source(s *config.Source, before map[string]Keys) (k Keys, err error) {
	k = Keys{configured: s, source: syncer.Source{
		Name: s.Name, BaseURL: s.BaseURL,
		Streams: s.Streams, Locations: s.Locations, BudgetShare: s.BudgetShare, ErasesBeyond: s.PersonalDataWritten,
	}}
	if k.source.Personal, err = r.Policy(s); err != nil {
		return k, &config.SecretError{Setting: "warehouse.personal_data_key_file", Err: err}
	}
	if old, ok := before[s.Name]; ok {
		if s.SameKey(old.configured) {
			k.source.Key, k.source.NextKey, k.source.Revision, k.keys = old.source.Key, old.source.NextKey, old.source.Revision, old.keys
			return k, nil
		}
		k.source.Revision = old.source.Revision + 1
	}
	first, err := newKey("key_file", s.Name, s.KeyFile, s.ReadKey, r.Log)
	if err != nil {
		return k, err
	}
	k.source.Key, k.keys = first.reveal, []*key{first}
	if s.NextKeyFile != "" {
		next, err := newKey("next_key_file", s.Name, s.NextKeyFile, s.ReadNextKey, r.Log)
		if err != nil {
			return k, &config.SecretError{Setting: "next_key_file", Err: err}
		}
		k.source.NextKey, k.keys = next.reveal, append(k.keys, next)
	}
	return k, nil
}

// WebhookSecrets are the secrets of a source's webhooks, which are read anew as keys are; none
// when it takes none.
func (r Reader) WebhookSecrets(s *config.Source) (secrets []*key, err error) {
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
