package cookbook

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

// read asks a question by the reading interface, as those do who read the documents, with
// the clock of the evening, and returns the table that answers it.
func (r *restaurant) read(t *testing.T, sql string) (string, error) {
	t.Helper()
	query := url.Values{"database": {r.database}, "default_format": {clickhouse.DefaultFormat}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.reader+"/?"+query.Encode(), strings.NewReader(clock.In(sql)))
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text[:min(len(text), 500)])
	}
	return string(text), err
}
