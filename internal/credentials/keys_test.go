package credentials

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/config"
)

func TestRotatedKeyNeedsNoRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	at := time.Now()
	put := func(content string) { // the time of the file stays: the content decides
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
		put("first\n")
		k, err := newKey("key_file", s.Name, s.KeyFile, s.ReadKey, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		want := func(value string) {
			t.Helper()
			if got := k.reveal(); got != value {
				t.Errorf("key = %q, want %q", got, value)
			}
		}
		put("second")
		want("first") // it has just been looked at
		time.Sleep(KeyInterval)
		want("second")
		put(" \n") // cut short by whoever writes it
		time.Sleep(KeyInterval)
		want("second")
		time.Sleep(KeyInterval)
		want("second")
		put("third")
		time.Sleep(KeyInterval)
		want("third")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(KeyInterval)
		want("third")
		if n := strings.Count(log.String(), "the one before stays in use"); n != 2 {
			t.Errorf("%d warnings, want one for each trouble:\n%s", n, log.String())
		}
		for _, secret := range []string{"first", "second", "third"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log shows a key:\n%s", log.String())
			}
		}
	})
	if _, err := newKey("key_file", "x", "", func() (config.Secret, error) { return config.Secret{}, os.ErrNotExist }, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key that cannot be read at the start is an error")
	}
}

func TestNextKeyFileMayComeLateAndGoAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "next")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &config.Source{Name: "bistro", NextKeyFile: file}
		k, err := newKey("next_key_file", s.Name, s.NextKeyFile, s.ReadNextKey, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || k.reveal() != "" {
			t.Fatalf("a file that is not there yet: %q, %v", k.reveal(), err)
		}
		for _, step := range []struct {
			do   func() error
			want string
		}{
			{func() error { return os.WriteFile(file, []byte("next\n"), 0o600) }, "next"},
			{func() error { return os.Remove(file) }, "next"},
			{func() error { return os.WriteFile(file, nil, 0o600) }, "next"},
			{func() error { return os.WriteFile(file, []byte("after"), 0o600) }, "after"},
		} {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(KeyInterval)
			if got := k.reveal(); got != step.want {
				t.Errorf("key = %q, want %q", got, step.want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for want, limit := "after", time.Now().Add(missingGrace); time.Now().Before(limit); time.Sleep(KeyInterval) {
			if got := k.reveal(); got != want {
				t.Fatalf("within a minute the key = %q, want %q", got, want)
			}
		}
		time.Sleep(2 * KeyInterval)
		if got := k.reveal(); got != "" {
			t.Errorf("a minute after its file went the next key is %q", got)
		}
		if n := strings.Count(log.String(), "the one before stays in use"); n != 1 {
			t.Errorf("%d warnings, want one for the empty file:\n%s", n, log.String())
		}
	})
}

func TestASecondSecretThatIsTakenAwayIsNotGoodAfterAMinute(t *testing.T) {
	dir := t.TempDir()
	first, next := filepath.Join(dir, "first"), filepath.Join(dir, "next")
	for _, file := range []string{first, next} {
		if err := os.WriteFile(file, []byte(filepath.Base(file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &config.Source{Name: "bistro", Webhook: config.Webhook{SecretFile: first, NextSecretFile: next}}
		secrets, err := Reader{Log: slog.New(slog.DiscardHandler)}.WebhookSecrets(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{first, next} {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		k := Keys{secrets: secrets}
		time.Sleep(KeyInterval)
		if got := k.Secrets(); !slices.Equal(got, []string{"first", "next"}) {
			t.Errorf("%q: they may be on their way to be replaced", got)
		}
		time.Sleep(missingGrace)
		if got := k.Secrets(); !slices.Equal(got, []string{"first", ""}) {
			t.Errorf("%q: only the second may be gone", got)
		}
	})
}
