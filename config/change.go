package config

import "fmt"

// WithReloaded is c with what a running daemon takes over from next.
func (c *Config) WithReloaded(next *Config) *Config {
	merged := *c
	merged.Sources, merged.Schedule, merged.Log.Level = next.Sources, next.Schedule, next.Log.Level
	merged.File, merged.Digest, merged.Warnings = next.File, next.Digest, next.Warnings
	merged.origins = next.origins
	return &merged
}

// AtNextStart returns the changes in next that a running daemon does not take over, without
// secrets.
func (c *Config) AtNextStart(next *Config) (all []string) {
	change := func(key, before, after string) { all = append(all, fmt.Sprintf("%s: %s -> %s", key, before, after)) }
	after := next.settings()
	for i, before := range c.WithReloaded(next).settings() {
		if before.String() != after[i].String() {
			change(before.key, before.String(), after[i].String())
		}
	}
	a, b := c.Warehouse.DSN, next.Warehouse.DSN
	if a.String() == b.String() && a.Reveal(Secret{}) != b.Reveal(Secret{}) {
		change("warehouse.dsn", a.String(), "the same with another password")
	}
	return all
}

// SameKey reports whether both sources' keys are read from the same places.
func (s *Source) SameKey(other *Source) bool {
	return s.KeyFile == other.KeyFile && s.KeyEnv == other.KeyEnv && s.NextKeyFile == other.NextKeyFile &&
		s.Key.Reveal() == other.Key.Reveal()
}
