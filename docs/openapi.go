// Package docs carries those documents of this folder that programs serve.
//
// Contents: embedded files alone.
package docs

import _ "embed" // for OpenAPI

// OpenAPI is the API's description in OpenAPI 3.1, as YAML. Callers must not change it.
//
//go:embed openapi.yaml
var OpenAPI []byte
