package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Truth calls yield for every row that a mirror of a stream must hold, as the
// key sees it, now. The restaurant stands still meanwhile; yield must not ask it for
// anything.
func (s *Sandbox) Truth(keyValue, stream string, yield func(TruthRow) error) error {
	rq, err := s.trusted(keyValue, "/")
	if err != nil {
		return fmt.Errorf("truth of %s: %w", stream, err)
	}
	s.catchUp(rq.key.Business, rq.now)
	if truth := orderingTruths[stream]; truth != nil {
		return truth(s.online, rq, yield)
	}
	rq.open()
	defer rq.view.Close()
	if err := rq.view.Truth(stream, yield); err != nil {
		return fmt.Errorf("truth of %s: %w", stream, err)
	}
	return nil
}

// Stamps are the updated_at of the rows of a cursor list that the key sees in a
// walk, tombstones included, by id. Those without one are left out.
func (s *Sandbox) Stamps(keyValue, stream string) (map[string]Stamp, error) {
	rq, err := s.trusted(keyValue, "/")
	if err != nil {
		return nil, fmt.Errorf("stamps of %s: %w", stream, err)
	}
	rq.open()
	defer rq.view.Close()
	all, err := rq.view.Stamps(stream)
	if err != nil {
		return nil, fmt.Errorf("stamps of %s: %w", stream, err)
	}
	return all, nil
}

// Fetch is GET of a path below /v1 as the key would be answered, without limits,
// faults or counters: the truth about totals, or about anything else.
func (s *Sandbox) Fetch(keyValue, uri string) (status int, body []byte, err error) {
	rq, err := s.trusted(keyValue, uri)
	if err != nil {
		return 0, nil, fmt.Errorf("fetch %s: %w", uri, err)
	}
	w := &memoryWriter{header: http.Header{}}
	rq.w = w
	rt, id, _ := findRoute(http.MethodGet, rq.r.URL.EscapedPath())
	if rt == nil {
		return 0, nil, fmt.Errorf("fetch %s: no such route", uri)
	}
	rq.route, rq.id = rt, id
	status = rq.answer()
	return status, w.body, nil
}

// trusted is a request with a valid key that no limit or fault concerns.
func (s *Sandbox) trusted(keyValue, uri string) (*request, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, uri, http.NoBody)
	if err != nil {
		return nil, err
	}
	rq := &request{s: s, r: r, now: s.now(), trusted: true}
	var ok bool
	if rq.key, ok = s.Valid(keyValue, rq.now); !ok {
		return nil, errors.New("no such key")
	}
	return rq, nil
}
