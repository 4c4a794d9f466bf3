package config

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md")

// The tables of the documentation are the fields of Config, their defaults and their comments.
func TestReferenceIsCurrent(t *testing.T) {
	const file = "../docs/configuration.md"
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]setting{}
	source, rest := defaultSource(), defaults()
	all["sources"] = source.settings()
	for _, s := range rest.settings() {
		section, key, _ := strings.Cut(s.key, ".")
		all[section] = append(all[section], setting{key, s.kind, s.allowed, s.value})
	}
	is := was
	for section, settings := range all {
		prefix := section + "."
		if section == "sources" {
			prefix = ""
		}
		is = withTable(t, is, section, tableOf(settings, prefix, comments(t)))
	}
	if *update {
		if err := os.WriteFile(file, is, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(was, is) {
		t.Errorf("%s is stale; write it with: go test ./config -run Reference -update", file)
	}
}

// withTable is a document with another table of a section.
func withTable(t *testing.T, doc []byte, section, table string) []byte {
	t.Helper()
	head, below, found := strings.Cut(string(doc), "\n## "+section+"\n")
	prose, old, foundTable := strings.Cut(below, "| key |")
	if !found || !foundTable {
		t.Fatalf("docs/configuration.md has no table below ## %s", section)
	}
	_, rest, _ := strings.Cut(old, "\n\n")
	return []byte(head + "\n## " + section + "\n" + prose + table + "\n" + rest)
}

func tableOf(settings []setting, prefix string, docs map[string]string) string {
	var b strings.Builder
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, s := range settings {
		kind := s.kind
		if kind == "" {
			kind = map[reflect.Type]string{
				reflect.TypeFor[string](): "text", reflect.TypeFor[[]string](): "list of text", reflect.TypeFor[int](): "whole number",
				reflect.TypeFor[bool](): "true or false", reflect.TypeFor[float64](): "number", reflect.TypeFor[time.Duration](): "duration",
				reflect.TypeFor[Bytes](): "size", reflect.TypeFor[DSN](): "DSN", reflect.TypeFor[Secret](): "secret",
			}[s.value.Type()]
		}
		value := "`" + s.String() + "`"
		if value == "`\"\"`" {
			value = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.key, kind, value, strings.ReplaceAll(docs[prefix+s.key], "|", `\|`))
	}
	return b.String()
}

// comments are those of the fields, by key: warehouse.dsn, and name of a source.
func comments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var fields func(of string) map[string]string
	fields = func(of string) map[string]string {
		object := file.Scope.Lookup(of)
		if object == nil {
			return nil
		}
		docs := map[string]string{}
		for _, f := range object.Decl.(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
			if f.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			key := reflect.StructTag(tag).Get("koanf")
			if section, ok := f.Type.(*ast.Ident); ok {
				for k, doc := range fields(section.Name) {
					docs[key+"."+k] = doc
				}
			}
			docs[key] = strings.Replace(strings.Join(strings.Fields(f.Doc.Text()), " "), "see [Streams]", "`"+strings.Join(Streams, "`, `")+"`", 1)
		}
		return docs
	}
	docs := fields("Config")
	maps.Copy(docs, fields("Source"))
	return docs
}
