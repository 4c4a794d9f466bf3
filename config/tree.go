package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// origin is where a value was written.
type origin struct {
	line int    // of the file; 0: not from the file
	name string // of the environment variable or flag
}

func (o origin) String() string {
	if o.line > 0 {
		return "line " + strconv.Itoa(o.line)
	}
	return o.name
}

// outside is true of what an environment variable or a flag says.
func (o origin) outside() bool { return o.name != "" }

// tree is all layers in one, by path (warehouse.dsn, sources.0.name).
type tree struct {
	values   map[string]any
	origin   map[string]origin
	warnings []string
	digest   Digest // of the file
}

func (t *tree) get(path string) (any, bool) {
	v, ok := t.values[path]
	return v, ok
}

// originOf is where a value was written; that of a missing one is its section's.
func (t *tree) originOf(path string) origin {
	for q := path; q != ""; q = parent(q) {
		if o, ok := t.origin[q]; ok {
			return o
		}
	}
	return origin{}
}

// sources returns the indexes of the sources, in order.
func (t *tree) sources() []int {
	seen := map[int]bool{}
	for path := range t.values {
		if rest, ok := strings.CutPrefix(path, "sources."); ok {
			index, _, _ := strings.Cut(rest, ".")
			if i, err := strconv.Atoi(index); err == nil {
				seen[i] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// readLayers merges file, environment and flags; the later one wins.
func readLayers(file string, req Request) (*tree, error) {
	t := &tree{origin: map[string]origin{}}
	k := koanf.New(".")
	if file != "" {
		if err := t.loadFile(k, file); err != nil {
			return nil, err
		}
	}
	if !req.WithoutEnvironment {
		provider := env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: t.envKey})
		if err := k.Load(provider, nil); err != nil {
			return nil, fmt.Errorf("read environment: %w", err)
		}
	}
	if err := t.loadFlags(k, req.Set); err != nil {
		return nil, err
	}
	t.values = k.All()
	return t, nil
}

func (t *tree) loadFile(k *koanf.Koanf, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return &Error{Problems: []Problem{{Message: fmt.Sprintf("configuration file: %v", err)}}}
	}
	t.digest = sha256.Sum256(content)
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return yamlError(file, err)
	}
	if len(doc.Content) == 0 { // empty, or comments only
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return &Error{File: file, Problems: []Problem{{Origin: origin{line: root.Line}.String(), Message: "not a mapping; allowed: the sections of docs/configuration.md, as in sources: and warehouse:"}}}
	}
	var m map[string]any
	if err := root.Decode(&m); err != nil {
		return yamlError(file, err)
	}
	if list, ok := m["sources"].([]any); ok {
		m["sources"] = indexed(list)
	}
	t.noteLines("", root)
	if err := k.Load(confmap.Provider(m, ""), nil); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// indexed turns the list of sources into a section, so that environment and
// flags can change one entry.
func indexed(list []any) map[string]any {
	m := map[string]any{}
	for i, v := range list {
		m[strconv.Itoa(i)] = v
	}
	return m
}

func (t *tree) noteLines(path string, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := join(path, n.Content[i].Value)
			t.origin[key] = origin{line: n.Content[i].Line}
			t.noteLines(key, n.Content[i+1])
		}
	case n.Kind == yaml.SequenceNode && path == "sources":
		for i, item := range n.Content {
			key := join(path, strconv.Itoa(i))
			t.origin[key] = origin{line: item.Line}
			t.noteLines(key, item)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

const envPrefix = "LARDER_"

// envKey turns LARDER_WEB__LISTEN into web.listen. Every option has a section,
// so a variable without __ is not meant for us: LARDER_ENGINE, or what Kubernetes
// sets for a service called larder (LARDER_SERVICE_HOST).
func (t *tree) envKey(name, value string) (string, any) {
	rest := strings.ToLower(strings.TrimPrefix(name, envPrefix))
	if !strings.Contains(rest, "__") {
		t.warnNearMiss(name, rest)
		return "", nil
	}
	path := strings.ReplaceAll(rest, "__", ".")
	t.origin[path] = origin{name: name}
	return path, value
}

// warnNearMiss warns of names like LARDER_WEB_LISTEN, which is not LARDER_WEB__LISTEN.
func (t *tree) warnNearMiss(name, rest string) {
	for _, o := range options {
		if strings.ReplaceAll(o.Key, ".", "_") == rest {
			right := envPrefix + strings.ToUpper(strings.ReplaceAll(o.Key, ".", "__"))
			t.warnings = append(t.warnings, fmt.Sprintf("environment variable %s is ignored; it is called %s", name, right))
		}
	}
}

func (t *tree) loadFlags(k *koanf.Koanf, set []string) error {
	m := map[string]any{}
	for _, s := range set {
		key, value, _ := strings.Cut(s, "=")
		if key == "" || key == s {
			return &Error{Problems: []Problem{{Origin: "--set", Message: fmt.Sprintf("%q; allowed: key=value, as in --set web.listen=127.0.0.1:9000", s)}}}
		}
		m[key] = value
		t.origin[key] = origin{name: "--set"}
	}
	if err := k.Load(confmap.Provider(m, "."), nil); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError keeps the parser's line and words, without its own prefixes.
func yamlError(file string, err error) error {
	message, at := strings.TrimPrefix(err.Error(), "yaml: "), ""
	var typed *yaml.TypeError
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		message = typed.Errors[0]
	}
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		at = "line " + message[m[2]:m[3]]
		message = message[m[1]:]
	}
	return &Error{File: file, Problems: []Problem{{Origin: at, Message: "not YAML: " + message}}}
}
