package config

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// Secret is a value that does not print: fmt, slog, JSON and YAML show ***.
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

// IsZero is true when there is no value.
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

// GoString prints *** for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText prints *** in JSON and in whatever else marshals text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML prints *** in YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue prints *** in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// ReadKey returns the source's API key from where it is configured.
func (s *Source) ReadKey() (Secret, error) {
	switch {
	case s.KeyFile != "":
		return readToken(s.KeyFile)
	case s.KeyEnv != "":
		return cleanToken("environment variable "+s.KeyEnv, os.Getenv(s.KeyEnv))
	default:
		return cleanToken("key", s.Key.Reveal())
	}
}

// ReadNextKey returns the key that is tried when the first one answers 401. It
// is zero when none is configured, or its file does not exist yet: a rotation
// writes it when it begins.
func (s *Source) ReadNextKey() (Secret, error) {
	if s.NextKeyFile == "" {
		return Secret{}, nil
	}
	if _, err := os.Stat(s.NextKeyFile); os.IsNotExist(err) {
		return Secret{}, nil
	}
	return readToken(s.NextKeyFile)
}

// Read returns the secret with which webhooks are signed.
func (w *Webhook) Read() (Secret, error) { return readToken(w.SecretFile) }

// ReadNext returns the second secret; zero when its file does not exist yet.
func (w *Webhook) ReadNext() (Secret, error) {
	if _, err := os.Stat(w.NextSecretFile); os.IsNotExist(err) {
		return Secret{}, nil
	}
	return readToken(w.NextSecretFile)
}

// ReadPassword returns the warehouse's password: the file's, or the DSN's.
func (w *Warehouse) ReadPassword() (Secret, error) {
	if w.PasswordFile == "" {
		return w.DSN.Password(), nil
	}
	return readSecret(w.PasswordFile)
}

// ReadPassword returns the page's password; zero when the page has none.
func (w *Web) ReadPassword() (Secret, error) {
	if w.PasswordFile == "" {
		return Secret{}, nil
	}
	return readSecret(w.PasswordFile)
}

// ReadPersonalKey returns the key of pseudonyms; an error that is [os.ErrNotExist] tells
// that there is none.
func (w *Warehouse) ReadPersonalKey() (Secret, error) { return readSecret(w.PersonalKeyFile()) }

func readToken(path string) (Secret, error) { return readFile(path, cleanToken) }

func readSecret(path string) (Secret, error) { return readFile(path, cleanSecret) }

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
	wrong := func(format string, args ...any) (Secret, error) {
		return Secret{}, fmt.Errorf("%s "+format+"; it must hold the secret and nothing else", append([]any{where}, args...)...)
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return wrong("is in UTF-16: save it as UTF-8 or ASCII")
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, bom))
	const quotes = "\"'`“”„‘’«»"
	switch {
	case assignment.MatchString(text):
		return wrong("begins with a name and = or :, like a line of an environment file: leave only what follows")
	case strings.Trim(text, quotes) != text:
		return wrong("has quotes around the secret: remove them")
	}
	for _, r := range text {
		switch {
		case r > '~' && unicode.IsPrint(r):
			return wrong("holds a character that is not ASCII: copy the secret anew")
		case r > 0x7f:
			return wrong("holds an invisible character (%U): write the secret anew in a plain text editor", r)
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
