package credentials

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/config"
)

// A source whose key of pseudonyms can be neither made nor read is not served: without the key, what is
// stored would be taken for more than is kept, and erased.
func TestAKeyOfPseudonymsThatIsALinkToNowhere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "larder.yaml")
	text := "sources: [{name: a, base_url: https://host/v1, key_env: K, personal_data: pseudonymise}]\nwarehouse: {dsn: \"embedded:./data\"}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	key := cfg.Warehouse.PersonalKeyFile()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), key); err != nil {
		t.Fatal(err)
	}
	policy, err := Reader{Config: cfg, Log: slog.New(slog.DiscardHandler)}.Policy(&cfg.Sources[0])
	if err == nil || !strings.Contains(err.Error(), "file "+key+": ") || !strings.Contains(err.Error(), "it must hold the key of pseudonyms") {
		t.Errorf("%+v, %v", policy, err)
	}
}
