package credentials

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/config"
)

const (
	// KeyInterval is how often a key's file is read again at most.
	KeyInterval = 5 * time.Second
	// missingGrace is how long the key of a next_key_file that is gone stays in use: the
	// file may be on its way to be replaced.
	missingGrace = time.Minute
)

// key hands out a source's API key and reads its file anew every few seconds, so that
// a rotated key needs neither restart nor reload. The content decides, not the time
// of the file: tools that copy times along would hide a new key. A file that cannot be
// read, is empty or is missing leaves the last key in use. Only a next_key_file may be
// missing: it is there from the beginning of a rotation to its end.
type key struct {
	setting string // that names the file
	source  string
	file    string // empty: the key never changes
	read    func() (config.Secret, error)
	log     *slog.Logger
	problem atomic.Pointer[string] // why the file cannot be read now; nil: it can

	mu           sync.Mutex
	value        config.Secret
	readAt       time.Time
	missingSince time.Time // of a next_key_file; zero while it is there
}

// newKey reads the key once; its errors belong to the configuration.
func newKey(setting, source, file string, read func() (config.Secret, error), log *slog.Logger) (*key, error) {
	v, err := read()
	if err != nil {
		return nil, err
	}
	return &key{setting: setting, source: source, file: file, read: read, log: log, value: v, readAt: time.Now()}, nil
}

// reveal returns the key in use.
func (k *key) reveal() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != "" && time.Since(k.readAt) >= KeyInterval {
		k.reread()
	}
	return k.value.Reveal()
}

func (k *key) reread() {
	k.readAt = time.Now()
	v, err := k.read()
	if err != nil {
		problem := fmt.Sprintf("%s: %v; the one before stays in use", k.setting, err)
		if k.problem.Swap(&problem) == nil {
			k.log.Warn(problem, "source", k.source)
		}
		return
	}
	k.problem.Store(nil)
	switch {
	case !v.IsZero():
		k.missingSince = time.Time{}
	case k.missingSince.IsZero():
		k.missingSince = time.Now()
		return
	case time.Since(k.missingSince) < missingGrace:
		return
	}
	if v.Reveal() != k.value.Reveal() {
		k.value = v
		k.log.Info(k.setting+" read anew", "source", k.source, "file", k.file, "there", !v.IsZero())
	}
}
