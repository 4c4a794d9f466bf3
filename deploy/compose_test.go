package deploy

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// composition is compose.yaml as Compose's own library understands it.
type composition struct {
	Services map[string]service
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]any
	Secrets  map[string]struct{ File string }
}

type service struct {
	Image       string
	Build       *struct{ Context, Dockerfile string }
	User        string
	Environment map[string]string
	ReadOnly    bool     `json:"read_only"`
	CapDrop     []string `json:"cap_drop"`
	SecurityOpt []string `json:"security_opt"`
	Ports       []struct {
		HostIP string `json:"host_ip"`
		Target int
	}
	Networks map[string]any
	Depends  map[string]any `json:"depends_on"`
	Secrets  []given
	Volumes  []mount
}

// given is a secret that a service is given.
type given struct{ Source, Target string }

type mount struct {
	Type, Source, Target string
	ReadOnly             bool `json:"read_only"`
}

// composed lets Compose's library validate the file against its schema and spell it out.
func composed(t *testing.T) composition {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "tool", "-modfile=../.ci/compose/go.mod", "cmd", "-no-interpolation", "-format=json", "compose.yaml")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil || len(out) == 0 { // some of its errors end with 0
		t.Fatalf("compose.yaml: %v, %s", err, errs.String())
	}
	var all composition
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	pinned  = regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+(\.[0-9]+){2,}$`)
	guessed = regexp.MustCompile(`(?i)password|secret|token|_key`)
)

// Images are pinned, nothing is published beyond the machine, secrets are files, and
// whatever a service names is there.
func TestCompose(t *testing.T) {
	all := composed(t)
	for name, s := range all.Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %s is not pinned", name, s.Image)
		}
		if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges", name)
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is published on %q", name, p.Target, p.HostIP)
			}
		}
		for key, value := range s.Environment {
			if guessed.MatchString(key) && !strings.HasPrefix(value, "/run/secrets/") && value != "true" && value != "false" {
				t.Errorf("%s: %s is no file of a secret", name, key)
			}
		}
		s.namesWhatIsThere(t, name, all)
	}
	larder := all.Services["larder"]
	if !larder.ReadOnly || !slices.Equal(larder.CapDrop, []string{"ALL"}) || larder.User != "65532:65532" {
		t.Errorf("larder is not as its image is made for: %+v", larder)
	}
	if all.Networks["inside"].Internal != true || len(all.Services["clickhouse"].Ports)+len(all.Services["clickhouse"].Networks) != 1 {
		t.Error("clickhouse can be reached from outside")
	}
}

func (s service) namesWhatIsThere(t *testing.T, name string, all composition) {
	t.Helper()
	for n := range s.Networks {
		if _, ok := all.Networks[n]; !ok {
			t.Errorf("%s: no network %s", name, n)
		}
	}
	for n := range s.Depends {
		if _, ok := all.Services[n]; !ok {
			t.Errorf("%s: no service %s", name, n)
		}
	}
	for _, x := range s.Secrets {
		if _, ok := all.Secrets[x.Source]; !ok {
			t.Errorf("%s: no secret %s", name, x.Source)
		}
	}
	for _, v := range s.Volumes {
		switch _, ok := all.Volumes[v.Source]; {
		case v.Type == "volume" && !ok:
			t.Errorf("%s: no volume %s", name, v.Source)
		case v.Type == "bind" && !v.ReadOnly:
			t.Errorf("%s may write %s", name, v.Source)
		case v.Type == "bind":
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// What Grafana and Prometheus are given names the services of the composition.
func TestProvisioningFitsCompose(t *testing.T) {
	all := composed(t)
	grafana := all.Services["grafana"]
	var sources struct {
		Datasources []struct {
			Name, UID, Type, URL string
			JSONData             map[string]any    `yaml:"jsonData"`
			Secure               map[string]string `yaml:"secureJsonData"`
		}
	}
	decode(t, "grafana/provisioning/datasources/larder.yaml", &sources)
	if len(sources.Datasources) != 2 {
		t.Fatalf("%d data sources", len(sources.Datasources))
	}
	clickhouse := sources.Datasources[0]
	for key, want := range map[string]any{ // as measured with the plugin, 3.x to 4.20
		"host": "clickhouse", "server": "clickhouse", "port": 8123, "protocol": "http", "secure": false, "username": "grafana",
		"defaultDatabase": "larder", "dialTimeout": "10", "timeout": "10", "queryTimeout": "60",
	} {
		if got := clickhouse.JSONData[key]; got != want {
			t.Errorf("jsonData.%s is %#v, want %#v", key, got, want)
		}
	}
	if clickhouse.Type != "grafana-clickhouse-datasource" || clickhouse.Secure["password"] != "$__file{/run/secrets/clickhouse_grafana}" {
		t.Errorf("the data source is %+v", clickhouse)
	}
	if !slices.ContainsFunc(grafana.Secrets, func(s given) bool { return s.Source == "clickhouse_grafana" }) {
		t.Error("grafana has no secret clickhouse_grafana")
	}
	if plugin := grafana.Environment["GF_PLUGINS_PREINSTALL_SYNC"]; !strings.HasPrefix(plugin, clickhouse.Type+"@") {
		t.Errorf("grafana gets %q", plugin)
	}
	if sources.Datasources[1].URL != "http://prometheus:9090" || all.Services["prometheus"].Image == "" {
		t.Errorf("Prometheus is %+v", sources.Datasources[1])
	}

	var boards struct {
		Providers []struct{ Options struct{ Path string } }
	}
	decode(t, "grafana/provisioning/dashboards/larder.yaml", &boards)
	for _, p := range boards.Providers {
		if !slices.ContainsFunc(grafana.Volumes, func(v mount) bool {
			return v.Target == p.Options.Path && strings.HasSuffix(filepath.Dir(v.Source), "dashboards")
		}) {
			t.Errorf("grafana has no dashboards at %s", p.Options.Path)
		}
	}

	var prometheus struct {
		Scrape []struct {
			Job    string                       `yaml:"job_name"`
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
		Rules []string `yaml:"rule_files"`
	}
	decode(t, "prometheus/prometheus.yaml", &prometheus)
	listen := all.Services["larder"].Environment["LARDER_WEB__LISTEN"]
	if want := "larder" + strings.TrimPrefix(listen, "0.0.0.0"); prometheus.Scrape[0].Job != "larder" || prometheus.Scrape[0].Static[0].Targets[0] != want {
		t.Errorf("Prometheus asks %+v, want %s", prometheus.Scrape, want)
	}
}

// deploy/up makes secrets that nobody else can reach and that stay the same, and tells
// ClickHouse their hashes only.
func TestUpPrepares(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "up")
	if err := os.WriteFile(script, []byte(read(t, "up")), 0o700); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("svc_live_0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	up := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "bash", append([]string{script, "--prepare"}, args...)...).CombinedOutput()
		return string(out), err
	}
	for words, args := range map[string][]string{
		"there is no key yet":              nil,
		"needs the API's address and":      {"https://api.example.com/v1"},
		"it must hold the API key":         {"https://api.example.com/v1", filepath.Join(dir, "none")},
		"must begin with https://":         {"api.example.com/v1", key},
		"must begin with https://, as the": {"https://x/$(id)", key},
	} {
		if out, err := up(args...); err == nil || !strings.Contains(out, words) {
			t.Errorf("up %v: %v, want %q in %s", args, err, words, out)
		}
	}
	if out, err := up("https://api.example.com/v1", key); err != nil || out != "" {
		t.Fatalf("up: %v, %s", err, out)
	}
	if got := read(t, filepath.Join(dir, ".env")); got != "LARDER_BASE_URL=https://api.example.com/v1\n" {
		t.Errorf(".env is %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "secrets")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("secrets: %v, %v", info.Mode(), err)
	}
	first := map[string]string{}
	for name, s := range composed(t).Secrets {
		first[name] = read(t, filepath.Join(dir, "secrets", filepath.Base(s.File)))
	}
	if strings.TrimSpace(first["api_key"]) != "svc_live_0123" || len(first["grafana_admin"]) != 48 || first["clickhouse_larder"] == first["clickhouse_grafana"] {
		t.Errorf("the secrets are %v", first)
	}

	var users struct {
		Users struct {
			Larder, Grafana struct {
				Hash   string   `xml:"password_sha256_hex"`
				Grants []string `xml:"grants>query"`
			}
		} `xml:"users"`
	}
	text := first["clickhouse_users"]
	if err := xml.Unmarshal([]byte(strings.NewReplacer("<larder>", "<Larder>", "</larder>", "</Larder>", "<grafana>", "<Grafana>", "</grafana>", "</Grafana>").Replace(text)), &users); err != nil {
		t.Fatal(err)
	}
	for name, hash := range map[string]string{"clickhouse_larder": users.Users.Larder.Hash, "clickhouse_grafana": users.Users.Grafana.Hash} {
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(first[name]))); hash != want || strings.Contains(text, first[name]) {
			t.Errorf("%s: the hash is %s, want %s", name, hash, want)
		}
	}
	for _, grant := range users.Users.Grafana.Grants {
		if !strings.HasPrefix(grant, "GRANT SELECT ON larder") {
			t.Errorf("Grafana may %s", grant)
		}
	}
	if out, err := up(); err != nil || out != "" {
		t.Errorf("again: %v, %s", err, out)
	}
	for name, s := range composed(t).Secrets {
		if read(t, filepath.Join(dir, "secrets", filepath.Base(s.File))) != first[name] {
			t.Errorf("the second time, %s is another", name)
		}
	}
}
