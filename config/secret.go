package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Secret is a value that does not print: fmt, slog, JSON and YAML show ***, by Format or MarshalText.
// The value is behind a pointer, so that a Secret inside an unexported field,
// whose methods fmt cannot call, shows an address at most.
type Secret struct{ value *string }

// NewSecret hides s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{value: &s}
}

// Reveal returns the value, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == nil }

func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return "***"
}

// Format prints *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(s.String())) // a fmt.State reports errors to no one
}

// MarshalText prints *** in JSON and in whatever else marshals text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ReadKey returns the source's API key from where it is configured.
func (s *Source) ReadKey() (Secret, error) {
	switch {
	case s.KeyFile != "":
		return readFile(s.KeyFile, cleanToken)
	case s.KeyEnv != "":
		return cleanToken("environment variable "+s.KeyEnv, os.Getenv(s.KeyEnv))
	default:
		return cleanToken("key", s.Key.Reveal())
	}
}

// ReadNextKey returns the key that is tried when the first one answers 401. It is zero when none is
// configured, or its file does not exist yet: a rotation writes it when it begins.
func (s *Source) ReadNextKey() (Secret, error) { return readNext(s.NextKeyFile) }

// Read returns the secret with which webhooks are signed.
func (w *Webhook) Read() (Secret, error) { return readFile(w.SecretFile, cleanToken) }

// ReadNext returns the second secret; zero when its file does not exist yet.
func (w *Webhook) ReadNext() (Secret, error) { return readNext(w.NextSecretFile) }

// ReadPassword returns the warehouse's password: the file's, or the DSN's.
func (w *Warehouse) ReadPassword() (Secret, error) {
	if w.PasswordFile == "" {
		return w.DSN.Password(), nil
	}
	return readFile(w.PasswordFile, cleanSecret)
}

// ReadPassword returns the page's password; zero when the page has none.
func (w *Web) ReadPassword() (Secret, error) {
	if w.PasswordFile == "" {
		return Secret{}, nil
	}
	return readFile(w.PasswordFile, cleanSecret)
}

// PersonalKeyFile is the file with the key of pseudonyms. The embedded engine has one beside
// its data folder; for a remote warehouse there is none unless it is configured.
func (w *Warehouse) PersonalKeyFile() string {
	if w.PersonalDataKeyFile != "" || !w.DSN.Embedded() {
		return w.PersonalDataKeyFile
	}
	return filepath.Clean(w.DSN.Dir()) + ".personal-data-key"
}

// ReadPersonalKey returns the key of pseudonyms; the error is [os.ErrNotExist] when
// there is none.
func (w *Warehouse) ReadPersonalKey() (Secret, error) {
	return readFile(w.PersonalKeyFile(), cleanSecret)
}

// readNext reads a secret that may appear later.
func readNext(path string) (Secret, error) {
	next, err := readFile(path, cleanToken)
	if errors.Is(err, os.ErrNotExist) {
		return Secret{}, nil
	}
	return next, err
}

func readFile(path string, clean func(where, text string) (Secret, error)) (Secret, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Secret{}, fmt.Errorf("file %s: %w; it must hold the secret and nothing else, readable for this user", path, withoutPath(err))
	}
	return clean("file "+path, string(b))
}

// bom is what editors of Windows put before a text in UTF-8.
const bom = "\ufeff"

// assignment is how a line of an environment file or of YAML begins. No key has = or : inside,
// only = at its end.
var assignment = regexp.MustCompile(`^(export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*[=:]\s*[^=\s]`)

// cleanToken is cleanSecret for an API key or a webhook secret. These are ASCII without quotes,
// so what people and editors put around one is named.
func cleanToken(where, text string) (Secret, error) {
	refuse := func(format string, args ...any) (Secret, error) {
		return Secret{}, fmt.Errorf("%s "+format+"; it must hold the secret and nothing else", append([]any{where}, args...)...)
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return refuse("is in UTF-16: save it as UTF-8 or ASCII")
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, bom))
	const quotes = "\"'`“”„‘’«»"
	switch {
	case assignment.MatchString(text):
		return refuse("begins with a name and = or :, like a line of an environment file: leave only what follows")
	case strings.Trim(text, quotes) != text:
		return refuse("has quotes around the secret: remove them")
	}
	for _, r := range text {
		switch {
		case r > '~' && unicode.IsPrint(r):
			return refuse("holds a character that is not ASCII: copy the secret anew")
		case r > 0x7f:
			return refuse("holds an invisible character (%U): write the secret anew in a plain text editor", r)
		}
	}
	return cleanSecret(where, text)
}

// cleanSecret drops the byte order mark and white space that editors and mounts leave around
// a secret, and refuses what could never be sent in a header.
func cleanSecret(where, text string) (Secret, error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, bom))
	if text == "" {
		return Secret{}, fmt.Errorf("%s is empty; it must hold the secret and nothing else", where)
	}
	for _, r := range text {
		if r <= ' ' || r == 0x7f {
			return Secret{}, fmt.Errorf("%s holds white space inside the secret; it must hold the secret and nothing else", where)
		}
	}
	return NewSecret(text), nil
}
