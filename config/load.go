package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/maps"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// defaultFiles are looked for in this order when no file is named.
var defaultFiles = []string{"larder.yaml", "/etc/larder/larder.yaml"}

// Request says what to load.
type Request struct {
	File string   // "" looks for [defaultFiles]
	Set  []string // "key=value", stronger than file and environment
	// WithoutSources allows a configuration that names no source: for commands
	// that use the warehouse only.
	WithoutSources bool
	// WithoutEnvironment leaves the environment out: for a configuration that must not
	// lead anywhere else.
	WithoutEnvironment bool
}

// Load reads the configuration: defaults, then the file, then the environment
// (LARDER_ and __ between levels, sources counted from 0:
// LARDER_SOURCES__0__NAME), then Set. It fails with an [*Error] that names
// everything wrong with it at once.
//
// Relative paths begin at the configuration file's folder; without a file, at the working
// directory.
func Load(req Request) (*Config, error) {
	c := defaults()
	c.origins = map[string]origin{}
	l := &loader{Config: &c, written: koanf.New(".")}
	if err := l.readLayers(req); err != nil {
		return nil, err
	}
	if l.written.Get("shard") == "auto" { // the short form of shard.auto
		l.written.Delete("shard")
		if err := l.written.Set("shard.auto", true); err != nil {
			return nil, fmt.Errorf("read shard: %w", err)
		}
	}
	l.refuseUnknown()
	l.decode("", c.settings())
	if c.Warehouse.DSN.database() != "" && !l.written.Exists("warehouse.database") {
		c.Warehouse.Database = c.Warehouse.DSN.database()
	}
	l.decodeSources()
	l.check(req)
	if len(l.problems) > 0 {
		slices.SortStableFunc(l.problems, func(a, b Problem) int { return a.line - b.line })
		return nil, &Error{Problems: l.problems, LogFormat: c.Log.Format}
	}
	c.resolvePaths()
	c.warn()
	return &c, nil
}

// A loader is one load: what is written in all layers, and what is wrong with it.
type loader struct {
	*Config
	written  *koanf.Koanf // by key: warehouse.dsn, sources.0.name
	problems []Problem
	misspelt []string // sections, by their right names
}

// add notes what is wrong with a key, of which the first problem counts.
func (l *loader) add(key, format string, args ...any) {
	p := l.problem(key, fmt.Sprintf(format, args...))
	if !slices.ContainsFunc(l.problems, func(other Problem) bool { return other.Key == p.Key }) {
		l.problems = append(l.problems, p)
	}
}

// readLayers merges file, environment and flags; the later one wins.
func (l *loader) readLayers(req Request) error {
	content, err := l.findFile(req.File)
	if err != nil {
		return err
	}
	if err := l.readFile(content); err != nil {
		return err
	}
	if !req.WithoutEnvironment {
		if err := l.written.Load(env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: l.fromEnvironment}), nil); err != nil {
			return fmt.Errorf("read environment: %w", err)
		}
	}
	flags := map[string]any{}
	for _, s := range req.Set {
		key, value, ok := strings.Cut(s, "=")
		if key == "" || !ok {
			return refused("", Problem{Origin: "--set", Message: fmt.Sprintf("%q; allowed: key=value, as in --set web.listen=127.0.0.1:9000", s)})
		}
		flags[key] = value
		l.origins[key] = origin{name: "--set"}
	}
	if err := l.written.Load(confmap.Provider(flags, "."), nil); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	return nil
}

// refused is a file that is not read further.
func refused(file string, p Problem) *Error {
	p.File = file
	return &Error{Problems: []Problem{p}}
}

// findFile reads the named file, or the first of the default ones that is there.
func (l *loader) findFile(named string) (content []byte, err error) {
	files := defaultFiles
	if named != "" {
		files = []string{named}
	}
	for _, f := range files {
		content, err = os.ReadFile(f)
		switch {
		case err == nil:
			l.File, l.Digest = f, sha256.Sum256(content)
			return content, nil
		case named != "":
			return nil, refused("", Problem{Message: fmt.Sprintf("configuration file %s: %v; correct --config, or leave it out to use %s",
				f, withoutPath(err), strings.Join(defaultFiles, " or "))})
		case !errors.Is(err, os.ErrNotExist):
			return nil, refused("", Problem{Message: fmt.Sprintf("configuration file: %v", err)})
		}
	}
	return nil, nil
}

// withoutPath is the reason of an error about a file that is named already.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

func (l *loader) readFile(content []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return refused(l.File, notYAML(err))
	}
	if len(doc.Content) == 0 { // empty, or comments only
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return refused(l.File, Problem{Origin: origin{line: root.Line}.String(), Message: "not a mapping; allowed: the sections of docs/configuration.md, as in sources: and warehouse:"})
	}
	var tree map[string]any
	if err := root.Decode(&tree); err != nil {
		return refused(l.File, notYAML(err))
	}
	if list, ok := tree["sources"].([]any); ok { // as a section, of which environment and flags can change one entry
		byIndex := map[string]any{}
		for i, source := range list {
			byIndex[strconv.Itoa(i)] = source
		}
		tree["sources"] = byIndex
	}
	l.noteLines("", root)
	byKey, _ := maps.Flatten(tree, nil, ".") // a key may be written in one: warehouse.dsn
	if err := l.written.Load(confmap.Provider(byKey, "."), nil); err != nil {
		return fmt.Errorf("read %s: %w", l.File, err)
	}
	for key := range byKey {
		if !l.written.Exists(key) {
			l.add(key, "written twice: as a value, and as a section with keys below it")
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// notYAML keeps the parser's line and words, without its own prefixes.
func notYAML(err error) Problem {
	message := err.Error()
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok && len(typed.Errors) > 0 {
		message = typed.Errors[0]
	}
	at := yamlLine.FindStringSubmatch(message)
	line, _ := strconv.Atoi(at[1]) // none: 0
	return Problem{Origin: origin{line: line}.String(), Message: "not YAML: " + message[len(at[0]):]}
}

// noteLines notes where the keys below a node are.
func (l *loader) noteLines(path string, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i, item := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			key := strings.TrimPrefix(path+"."+n.Content[i-1].Value, ".")
			l.origins[key] = origin{line: n.Content[i-1].Line}
			l.noteLines(key, item)
		case n.Kind == yaml.SequenceNode && path == "sources":
			key := path + "." + strconv.Itoa(i)
			l.origins[key] = origin{line: item.Line}
			l.noteLines(key, item)
		}
	}
}

const envPrefix = "LARDER_"

// fromEnvironment turns LARDER_WEB__LISTEN into web.listen. Every key has a section, so a variable
// without __ is none of ours but LARDER_SHARD=auto: LARDER_ENGINE, or what Kubernetes sets for a service called larder
// (LARDER_SERVICE_HOST). LARDER_WEB_LISTEN is a mistake, and a warning.
func (l *loader) fromEnvironment(name, value string) (string, any) {
	rest := strings.ToLower(strings.TrimPrefix(name, envPrefix))
	if key := strings.ReplaceAll(rest, "__", "."); key != rest || rest == "shard" && value == "auto" {
		l.origins[key] = origin{name: name}
		return key, value
	}
	for _, key := range knownKeys {
		if key != rest && strings.ReplaceAll(key, ".", "_") == rest {
			right := envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
			l.Warnings = append(l.Warnings, fmt.Sprintf("environment variable %s is ignored; it is called %s", name, right))
		}
	}
	return "", nil
}

func (c *Config) resolvePaths() {
	if c.File == "" {
		return
	}
	base, err := filepath.Abs(filepath.Dir(c.File))
	if err != nil { // no working directory: relative paths stay as they are
		return
	}
	files := c.settings()
	for i := range c.Sources {
		files = append(files, c.Sources[i].settings()...)
	}
	for _, s := range files {
		if s.kind == "file" {
			s.value.SetString(under(base, s.value.String()))
		}
	}
	c.Warehouse.DSN.dir = under(base, c.Warehouse.DSN.dir)
}

func under(base, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
