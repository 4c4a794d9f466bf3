package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"testing"
)

// A view that changed without its number would stay as it is in every warehouse.
func TestChangedViewsHaveANewNumber(t *testing.T) {
	actual, err := hashOfViews()
	if err != nil {
		t.Fatal(err)
	}
	if viewsHash != actual {
		t.Errorf("the views have changed: raise ViewsVersion above %d (once for each release) and set viewsHash to %q", ViewsVersion, actual)
	}
}

// hashOfViews is that of the files that ViewsVersion stands for.
func hashOfViews() (string, error) {
	sum := sha256.New()
	for _, pattern := range []string{"columns/*.sql", "views/*.sql"} {
		files, err := fs.Glob(schemaFiles, pattern)
		if err != nil {
			return "", fmt.Errorf("list views: %w", err)
		}
		for _, file := range files {
			text, err := schemaFiles.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("read views: %w", err)
			}
			fmt.Fprintf(sum, "schema/%s %d\n%s", file, len(text), text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
