package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded"
)

// held is a connection of a pool, until the test ends.
func held(t testing.TB, p *embedded.Pool, settings map[string]string) *embedded.Conn {
	t.Helper()
	leased, returned, ended := make(chan *embedded.Conn, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- p.Use(context.Background(), embedded.Session{Database: "larder", Settings: settings}, func(c *embedded.Conn) error {
			leased <- c
			<-returned
			return nil
		})
	}()
	select {
	case c := <-leased:
		t.Cleanup(func() {
			close(returned)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return c
	case err := <-ended:
		t.Fatal(err)
		return nil
	}
}

// asked is the answer of the engine itself, with full rights.
func asked(t testing.TB, s *Server, sql, format string) string {
	t.Helper()
	var out []byte
	err := s.engine.Pool().Use(context.Background(), embedded.Session{Database: "default"}, func(c *embedded.Conn) (err error) {
		out, err = c.Ask(sql, format)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// listed is the answer to a query whose result is texts alone.
func listed(t testing.TB, s *Server, sql string) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(asked(t, s, sql, "JSONCompactEachRow")) {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}
