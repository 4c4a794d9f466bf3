package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/larder-sync/larder/docs"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
)

// Where the API's description is served (docs/openapi.yaml, Versions). It needs no key and counts
// against no limit.
const (
	descriptionYAML = "/openapi.yaml"
	descriptionJSON = "/openapi.json"
)

// descriptionAsJSON is the description in JSON, made at its first use.
var descriptionAsJSON = sync.OnceValue(func() []byte {
	var document map[string]any
	err := yaml.Unmarshal(docs.OpenAPI, &document)
	body, err2 := json.Marshal(document)
	if err != nil || err2 != nil { // it is embedded and tested
		panic(fmt.Sprintf("sandbox: docs/openapi.yaml: %v, %v", err, err2))
	}
	return body
})

func serveDescription(w http.ResponseWriter, r *http.Request, path string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeJSON(w, r, http.StatusMethodNotAllowed, envelope(refusal.Of(refusal.Method)))
		return
	}
	if path == descriptionJSON {
		writeJSON(w, r, http.StatusOK, descriptionAsJSON())
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Length", strconv.Itoa(len(docs.OpenAPI)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(docs.OpenAPI) // the client has gone
	}
}
