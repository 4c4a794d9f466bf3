package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const verifyOrders = 1_000_000

// verify measures `larder verify` of a million orders beside the daemon that holds
// them: its time, its memory, and its requests against the smallest possible
// number. The world stands still, and the service sets no limits.
func verify(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", strconv.Itoa(verifyOrders), "-no-limits"}, streams: "[sales_orders]"}
	return b.filled(ctx, func(_ *service, d *daemon) error { return measureVerify(ctx, r, d) })
}

// verified is the last line of `larder verify --format json`.
type verified struct {
	Rows        int `json:"rows"`
	Differences int `json:"differences"`
}

func measureVerify(ctx context.Context, r *report, d *daemon) error {
	memoryBefore, err := d.rss()
	if err != nil {
		return err
	}
	cpuBefore, err := d.cpu()
	if err != nil {
		return err
	}
	began, heap, memory := time.Now(), 0.0, 0.0
	var result verified
	ended := make(chan error, 1)
	go func() { ended <- runVerify(ctx, d, &result, "--stream", "sales_orders") }()
	var failed error
	err = until(ctx, 30*time.Minute, 200*time.Millisecond, func() (bool, error) {
		if used, err := d.metric(ctx, "go_memstats_heap_inuse_bytes"); err == nil {
			heap = math.Max(heap, used)
		}
		if used, err := d.rss(); err == nil {
			memory = math.Max(memory, float64(used))
		}
		select {
		case failed = <-ended:
			return true, failed
		default:
			return false, nil
		}
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	cpu, err := d.cpu()
	if err != nil {
		return err
	}
	pages, err := d.metric(ctx, `larder_pages_total{source="",stream="sales_orders",walk="verify"}`)
	if err != nil {
		return err
	}
	r.row("rows compared, tombstones included", "%d", result.Rows)
	r.row("differences", "%d", result.Differences)
	r.row("time", "%.0f s", took.Seconds())
	r.row("rows a second", "%.0f", float64(result.Rows)/took.Seconds())
	r.row("CPU-seconds, Larder and engine", "%.0f", (cpu - cpuBefore).Seconds())
	r.row("pages, smallest possible", "%.0f, %d", pages, (result.Rows+199)/200)
	r.row("Larder's heap in use, highest", "%.0f MB", heap/1e6)
	r.row("memory of the process, engine included: before, highest", "%.0f MB, %.0f MB", float64(memoryBefore)/1e6, memory/1e6)
	if result.Differences > 0 {
		return fmt.Errorf("%d rows differ from the service", result.Differences)
	}
	return nil
}

// runVerify runs the command and reads its summary. That rows differ is no error.
func runVerify(ctx context.Context, d *daemon, into *verified, args ...string) error {
	cmd := exec.CommandContext(ctx, "bin/larder", append([]string{"verify", "--config", d.config, "--format", "json"}, args...)...) //nolint:gosec // our own
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("larder verify: %w", err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return json.Unmarshal(lines[len(lines)-1], into)
}
