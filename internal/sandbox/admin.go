package sandbox

import "net/http"

func (s *Sandbox) serveAdmin(w http.ResponseWriter, r *http.Request) {
	writeError(w, r, fail(codeNotFound))
}
