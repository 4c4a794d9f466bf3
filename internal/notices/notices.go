// Package notices carries the licences of all that the binary contains, for who has the
// binary alone (`larder version --notices`).
//
// Contents: the generated text.
package notices

import _ "embed" // the text

// Text is the licences of third parties.
//
//go:embed THIRD-PARTY-NOTICES.txt
var Text string
