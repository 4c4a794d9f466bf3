package app

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/larder-sync/larder/config"
)

// keyLook is how often a key's file is looked at again at most.
const keyLook = 5 * time.Second

// key hands out a source's API key and reads its file anew when it changes, so
// that a rotated key needs no restart. A file that cannot be read leaves the last
// key in use.
type key struct {
	source string
	file   string // empty: the key never changes
	read   func() (config.Secret, error)
	log    *slog.Logger

	mu      sync.Mutex
	value   config.Secret
	stamp   time.Time // of the file that value was read from
	looked  time.Time
	failing bool
}

// newKey reads the key once; its errors belong to the configuration.
func newKey(source, file string, read func() (config.Secret, error), log *slog.Logger) (*key, error) {
	k := &key{source: source, file: file, read: read, log: log, looked: time.Now()}
	k.stamp = stampOf(file)
	v, err := read()
	if err != nil {
		return nil, err
	}
	k.value = v
	return k, nil
}

func stampOf(file string) time.Time {
	if file == "" {
		return time.Time{}
	}
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// reveal returns the key in use.
func (k *key) reveal() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != "" && time.Since(k.looked) >= keyLook {
		k.look()
	}
	return k.value.Reveal()
}

func (k *key) look() {
	k.looked = time.Now()
	stamp := stampOf(k.file)
	if stamp.Equal(k.stamp) {
		return
	}
	v, err := k.read()
	if err != nil {
		if !k.failing {
			k.log.Warn("the key's file has changed and cannot be read; the last key stays in use", "source", k.source, "error", err)
		}
		k.failing = true
		return
	}
	k.failing, k.stamp, k.value = false, stamp, v
	k.log.Info("key read anew", "source", k.source)
}
