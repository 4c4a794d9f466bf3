package config

import "fmt"

// Change is an option whose value differs between two configurations. It holds no
// secret.
type Change struct{ Key, Old, New string }

func (c Change) String() string { return fmt.Sprintf("%s: %s -> %s", c.Key, c.Old, c.New) }

// AtNextStart returns what next says otherwise and a running daemon does not take
// over: all but the sources, the schedule and the level of the log.
func (c *Config) AtNextStart(next *Config) []Change {
	var all []Change
	for _, o := range options {
		if before, after := o.show(c), o.show(next); !o.live && before != after {
			all = append(all, Change{o.Key, before, after})
		}
	}
	a, b := c.Warehouse.DSN, next.Warehouse.DSN
	if a.String() == b.String() && a.Reveal(Secret{}) != b.Reveal(Secret{}) {
		all = append(all, Change{"warehouse.dsn", a.String(), "the same with another password"})
	}
	return all
}

// WithReloaded is c with what a running daemon takes over from next.
func (c *Config) WithReloaded(next *Config) *Config {
	merged := *c
	merged.Sources, merged.Schedule, merged.Log.Level = next.Sources, next.Schedule, next.Log.Level
	merged.File, merged.Digest, merged.Warnings = next.File, next.Digest, next.Warnings
	merged.secretsAt = next.secretsAt
	return &merged
}

// SameKey is true when both sources' keys are read from the same places.
func (s *Source) SameKey(other *Source) bool {
	return s.KeyFile == other.KeyFile && s.KeyEnv == other.KeyEnv && s.NextKeyFile == other.NextKeyFile &&
		s.Key.Reveal() == other.Key.Reveal()
}
