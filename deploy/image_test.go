package deploy

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var byDigest = regexp.MustCompile(`(?m)^ARG [A-Z]+_IMAGE=\S+:\S+@sha256:[0-9a-f]{64}$`)

// The image has pinned bases, a user who is not root, and a probe that needs no shell.
func TestImage(t *testing.T) {
	file := read(t, "Dockerfile")
	froms := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(file, -1)
	for _, from := range froms {
		if !regexp.MustCompile(`^\$\{[A-Z]+_IMAGE\}$`).MatchString(from[1]) {
			t.Errorf("FROM %s is not pinned at the top", from[1])
		}
	}
	if len(froms) != 3 || len(byDigest.FindAllString(file, -1)) != 3 {
		t.Errorf("%d stages, %d bases pinned by digest", len(froms), len(byDigest.FindAllString(file, -1)))
	}
	last := file[strings.LastIndex(file, "\nFROM "):]
	for _, want := range []string{"\nUSER 65532:65532\n", `CMD ["/usr/local/bin/larder", "status", "--ready"]`, "\nENTRYPOINT [\"/usr/local/bin/larder\"]\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("the image lacks %q", want)
		}
	}
	if strings.Contains(last, "\nRUN ") {
		t.Error("the last stage runs something, and has no shell for it")
	}
}

// Everything that the binary is built from gets into the image's build.
func TestImageContext(t *testing.T) {
	var allowed []string
	for line := range strings.Lines(read(t, "../.dockerignore")) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			allowed = append(allowed, name)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-C", "..", "-deps", "-json=Dir,Module,GoFiles,EmbedFiles", "./cmd/larder").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir                 string
			Module              *struct{ Main bool }
			GoFiles, EmbedFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		found++
		rel, err := filepath.Rel(root, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(rel, "/")
		for _, name := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			file := filepath.ToSlash(filepath.Join(rel, name))
			if !slices.Contains(allowed, top) && !slices.Contains(allowed, file) || strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s is kept out by .dockerignore", file)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d packages found", found)
	}
}
