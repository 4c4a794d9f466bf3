package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const hidden = "hunter2"

// everywhere prints v in every way a program prints things.
func everywhere(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	fmt.Fprintln(&b, v)
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
		slog.New(h).Info("x", "v", v, slog.Group("g", "v", v))
	}
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(j)
	b.Write(y)
	fmt.Fprint(&b, fmt.Errorf("wrapped: %v %w", v, fmt.Errorf("%v", v)))
	return b.String()
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := NewSecret(hidden)
	dsn := func(text string) DSN {
		d, err := ParseDSN(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	type private struct{ s Secret }
	for name, v := range map[string]any{
		"secret":         s,
		"pointer":        &s,
		"exported field": struct{ Key Secret }{s},
		"private field":  private{s},
		"map":            map[string]Secret{"k": s},
		"slice":          []Secret{s},
		"dsn":            dsn("clickhouse://u:" + hidden + "@h:9000/db"),
		"dsn query":      dsn("https://h:8443/db?username=u&password=" + hidden),
		"config":         &Config{Sources: []Source{{Key: s}}, Warehouse: Warehouse{DSN: dsn("http://u:" + hidden + "@h/db")}},
	} {
		t.Run(name, func(t *testing.T) {
			out := everywhere(t, v)
			hex := fmt.Sprintf("%x", hidden)
			if strings.Contains(out, hidden) || strings.Contains(strings.ToLower(out), hex) {
				t.Errorf("the secret shows:\n%s", out)
			}
			if name != "private field" && !strings.Contains(out, "***") {
				t.Errorf("no *** in:\n%s", out)
			}
		})
	}
	if s.Reveal() != hidden {
		t.Error("Reveal does not reveal")
	}
}

func TestDSN(t *testing.T) {
	tests := []struct{ in, shown, password, withFile string }{
		{"embedded:./larder-data", "embedded:./larder-data", "", "embedded:./larder-data"},
		{"clickhouse://u:hunter2@h:9000/db?secure=true", "clickhouse://u:***@h:9000/db?secure=true", "hunter2", "clickhouse://u:new@h:9000/db?secure=true"},
		{"https://u@h:8443/db", "https://u@h:8443/db", "", "https://u:new@h:8443/db"},
		{"http://h:8123/db", "http://h:8123/db", "", "http://default:new@h:8123/db"},
		{"https://h/db?password=hunter2", "https://h/db?password=***", "hunter2", "https://default:new@h/db?password=hunter2"},
	}
	for _, tt := range tests {
		d, err := ParseDSN(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if d.String() != tt.shown {
			t.Errorf("%s shows as %s, want %s", tt.in, d, tt.shown)
		}
		if d.Password().Reveal() != tt.password {
			t.Errorf("%s: password = %q", tt.in, d.Password().Reveal())
		}
		if got := d.Reveal(NewSecret("new")); got != tt.withFile {
			t.Errorf("%s with a password file = %s, want %s", tt.in, got, tt.withFile)
		}
	}
}

func TestReadSecrets(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Setenv("A_KEY", " from-env\n")
	t.Setenv("A_QUOTED_KEY", `"`+hidden+`"`)
	tests := []struct {
		name   string
		source Source
		want   string
		fails  string
	}{
		{"file", Source{KeyFile: file("k", "svc_live_1\r\n")}, "svc_live_1", ""},
		{"environment", Source{KeyEnv: "A_KEY"}, "from-env", ""},
		{"literal", Source{Key: NewSecret("lit")}, "lit", ""},
		{"empty file", Source{KeyFile: file("e", "\n")}, "", "is empty"},
		{"two lines", Source{KeyFile: file("two", "hunter2\nhunter2")}, "", "white space inside"},
		{"byte order mark", Source{KeyFile: file("bom", "\ufeffsvc_live_1\r\n")}, "svc_live_1", ""},
		{"padded", Source{KeyFile: file("padded", "svc_live_aGk==\n")}, "svc_live_aGk==", ""},
		{"UTF-16", Source{KeyFile: file("utf16", "\xff\xfeh\x00u\x00")}, "", "is in UTF-16: save it as UTF-8"},
		{"zero-width space", Source{KeyFile: file("zwsp", hidden+"\u200b\n")}, "", "holds an invisible character (U+200B)"},
		{"byte order mark inside", Source{KeyFile: file("bom2", hidden+"\ufeff")}, "", "holds an invisible character (U+FEFF)"},
		{"a letter that only looks like one", Source{KeyFile: file("homoglyph", hidden+"а")}, "", "holds a character that is not ASCII"},
		{"not UTF-8", Source{KeyFile: file("latin", hidden+"\xe9")}, "", "holds a character that is not ASCII"},
		{"quotes", Source{KeyFile: file("quotes", "\""+hidden+"\"\n")}, "", "has quotes around the secret"},
		{"one quote", Source{KeyFile: file("quote", hidden+"'")}, "", "has quotes around the secret"},
		{"quotes of a word processor", Source{KeyFile: file("curly", "„"+hidden+"”")}, "", "has quotes around the secret"},
		{"quotes in the environment", Source{KeyEnv: "A_QUOTED_KEY"}, "", "environment variable A_QUOTED_KEY has quotes around the secret"},
		{"quotes in the configuration", Source{Key: NewSecret("'" + hidden + "'")}, "", "key has quotes around the secret"},
		{"KEY=", Source{KeyFile: file("env", "LARDER_KEY="+hidden+"\n")}, "", "begins with a name and ="},
		{"export KEY=", Source{KeyFile: file("export", "export KEY=\""+hidden+"\"\n")}, "", "begins with a name and ="},
		{"key:", Source{KeyFile: file("yaml", "key: "+hidden+"\n")}, "", "begins with a name and ="},
		{"Bearer", Source{KeyFile: file("bearer", "Bearer "+hidden)}, "", "white space inside"},
		{"unset variable", Source{KeyEnv: "LARDER_TEST_UNSET"}, "", "environment variable LARDER_TEST_UNSET is empty"},
		{"no file", Source{KeyFile: filepath.Join(dir, "none")}, "", "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.source.ReadKey()
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), hidden) {
					t.Errorf("err = %v, want %s", err, tt.fails)
				}
				return
			}
			if err != nil || got.Reveal() != tt.want {
				t.Errorf("key = %q, %v", got.Reveal(), err)
			}
		})
	}
	next := Source{NextKeyFile: filepath.Join(dir, "later")}
	if k, err := next.ReadNextKey(); err != nil || !k.IsZero() {
		t.Errorf("next key before its file exists: %v, %v", k, err)
	}
	for _, read := range map[string]func(path string) (Secret, error){
		"next key":            func(path string) (Secret, error) { return (&Source{NextKeyFile: path}).ReadNextKey() },
		"webhook secret":      func(path string) (Secret, error) { return (&Webhook{SecretFile: path}).Read() },
		"next webhook secret": func(path string) (Secret, error) { return (&Webhook{NextSecretFile: path}).ReadNext() },
	} {
		if _, err := read(file("quoted", `"`+hidden+`"`)); err == nil || !strings.Contains(err.Error(), "has quotes around") || strings.Contains(err.Error(), hidden) {
			t.Errorf("quotes: %v", err)
		}
		if s, err := read(file("bom", "\ufeff"+hidden+"\r\n")); err != nil || s.Reveal() != hidden {
			t.Errorf("byte order mark: %v", err)
		}
	}
	if p, err := (&Web{PasswordFile: file("password", "\ufeff'pass=wörd'\r\n")}).ReadPassword(); err != nil || p.Reveal() != "'pass=wörd'" {
		t.Errorf("a password may have quotes, = and any letter: %v", err)
	}
	file("later", "second")
	if k, err := next.ReadNextKey(); err != nil || k.Reveal() != "second" {
		t.Errorf("next key = %q, %v", k.Reveal(), err)
	}
}
