package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

const (
	kills      = 30
	killOrders = 50_000
	killSeed   = 7
)

// oftenYAML has the daemon ask for what has changed more often than it would.
const oftenYAML = "schedule: {incremental: \"@every 5s\"}\n"

// kill runs the daemon at the documented limits against a world that moves, and
// kills it at random instants; then the world stops, the daemon catches up, and
// every row is compared.
func kill(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", strconv.Itoa(killOrders), "-live", "-pace", "50"}, more: oftenYAML}
	return b.made(ctx, func(s *service, d *daemon) error {
		random := rand.New(rand.NewPCG(killSeed, 0))
		for range kills {
			if err := d.start(ctx); err != nil {
				return err
			}
			err := wait(ctx, 2*time.Second+time.Duration(random.Int64N(int64(8*time.Second))))
			d.kill()
			if err != nil {
				return err
			}
		}
		if err := d.start(ctx); err != nil {
			return err
		}
		defer d.stop()
		return measureKill(ctx, r, s, d)
	})
}

func measureKill(ctx context.Context, r *report, s *service, d *daemon) error {
	if err := until(ctx, 10*time.Minute, time.Second, func() (bool, error) { return ordersDone(ctx, d) }); err != nil {
		return err
	}
	if err := s.post(ctx, "/bench/freeze", ""); err != nil {
		return err
	}
	if err := wait(ctx, 20*time.Second); err != nil { // several walks of everything
		return err
	}
	c, err := s.counters(ctx)
	if err != nil {
		return err
	}
	r.row("kill -9", "%d, seed %d", kills, killSeed)
	r.row("pages fetched again, a kill and stream with a backfill", "%.2f", float64(c.Stats.DuplicatePages)/kills)
	r.row("answers 429", "%d", c.Stats.RateLimited)
	return r.compared(ctx, s, d)
}

// compared compares streams of every kind, and fails where a row differs.
func (r *report) compared(ctx context.Context, s *service, d *daemon) error {
	for _, stream := range []string{"sales_orders", "products", "categories", "ingredients"} {
		rows, wrong, err := compare(ctx, s, d, stream)
		if err != nil {
			return fmt.Errorf("compare %s: %w", stream, err)
		}
		r.row(stream+": rows compared, differences", "%d, %d", rows, wrong)
		if wrong > 0 {
			return fmt.Errorf("%s: %d rows differ from the service", stream, wrong)
		}
	}
	return nil
}

// compare holds every row that the service has against the view, whole, and
// every row of the mirror against the service.
func compare(ctx context.Context, s *service, d *daemon, stream string) (rows, wrong int, err error) {
	truth, err := liveTruth(ctx, s, stream)
	if err != nil {
		return 0, 0, err
	}
	mirrored, err := d.stored(ctx, "SELECT id, base64Encode(_raw) FROM larder_raw."+stream+" FINAL")
	if err != nil {
		return 0, 0, err
	}
	for _, row := range mirrored {
		if truth[row[0]] != row[1] {
			wrong++
		}
		delete(truth, row[0])
	}
	return len(mirrored), wrong + len(truth), nil
}

// liveTruth is the JSON of every live row, in base64, by id.
func liveTruth(ctx context.Context, s *service, stream string) (map[string]string, error) {
	live := map[string]string{}
	err := s.truth(ctx, stream, func(id string, row []byte) error {
		live[id] = base64.StdEncoding.EncodeToString(row)
		return nil
	})
	return live, err
}

// truth yields every live row of a stream as the service has it now.
func (s *service) truth(ctx context.Context, stream string, yield func(id string, row []byte) error) error {
	address := fmt.Sprintf("%s/admin/truth?stream=%s&key=%s", s.root(), stream, url.QueryEscape(mainKey(s).Value))
	return ask(ctx, http.MethodGet, address, "", func(body io.Reader) error {
		for dec := json.NewDecoder(bufio.NewReader(body)); dec.More(); {
			var row sandbox.TruthRow
			if err := dec.Decode(&row); err != nil {
				return err
			}
			if row.Row != nil {
				if err := yield(row.ID, row.Row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
