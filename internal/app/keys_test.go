package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/config"
)

func TestRotatedKeyNeedsNoRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	put := func(content string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &config.Source{Name: "bistro", KeyFile: file}
		put("first\n", time.Now())
		k, err := newKey(s.Name, s.KeyFile, s.ReadKey, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		want := func(value string) {
			t.Helper()
			if got := k.reveal(); got != value {
				t.Errorf("key = %q, want %q", got, value)
			}
		}
		put("second", time.Now().Add(time.Second))
		want("first") // it has just been looked at
		time.Sleep(keyLook)
		want("second")
		put(" \n", time.Now().Add(2*time.Second)) // cut short by whoever writes it
		time.Sleep(keyLook)
		want("second")
		time.Sleep(keyLook)
		want("second")
		put("third", time.Now().Add(3*time.Second))
		time.Sleep(keyLook)
		want("third")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(keyLook)
		want("third")
		if n := strings.Count(log.String(), "cannot be read"); n != 2 {
			t.Errorf("%d warnings, want one for each trouble:\n%s", n, log.String())
		}
		for _, secret := range []string{"first", "second", "third"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log shows a key:\n%s", log.String())
			}
		}
	})
	if _, err := newKey("x", "", func() (config.Secret, error) { return config.Secret{}, os.ErrNotExist }, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key that cannot be read at the start is an error")
	}
}
