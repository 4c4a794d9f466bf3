package polling

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Page asks for a page until it answers with a status and words, and returns it. Whoever
// serves it may not have begun, or may close connections without an answer.
func Page(t testing.TB, url string, code int, words string) string {
	t.Helper()
	var body, last string
	if !For(t.Context(), func() bool {
		got, text, err := get(t.Context(), url)
		body, last = text, fmt.Sprintf("%d %s", got, text)
		if err != nil {
			last = err.Error()
		}
		return err == nil && got == code && strings.Contains(text, words)
	}) {
		t.Fatalf("GET %s: want %d with %q, last:\n%s", url, code, words, last)
	}
	return body
}

// Fetch asks for a page once.
func Fetch(t testing.TB, url string) (code int, body string) {
	t.Helper()
	code, body, err := get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return code, body
}

func get(ctx context.Context, url string) (code int, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}
