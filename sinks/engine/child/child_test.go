package child

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/engine"
)

// What queries freed is kept for a moment only where there is room for it, a person's own
// options stand, and nothing else of this process is inherited.
func TestWhatTheProgramInherits(t *testing.T) {
	t.Setenv("LARDER_TEST_SECRET", "a key")
	for limit, decay := range map[engine.MemoryLimit]string{
		engine.MinMemory: "dirty_decay_ms:0,", ampleMemory - 1: "dirty_decay_ms:0,", ampleMemory: "dirty_decay_ms:1000,", 64 << 30: "dirty_decay_ms:1000,",
	} {
		env, err := environment(int64(limit))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(env, "\n")
		if !strings.Contains(text, allocatorEnv+"="+decay) || !slices.Contains(env, "TZ=UTC") || strings.Contains(text, "SECRET") {
			t.Errorf("an engine of %d MiB is started with\n%s\nwant %s", limit>>20, text, decay)
		}
	}
	t.Setenv(allocatorEnv, "narenas:1")
	if env, err := environment(int64(ampleMemory)); err != nil || !slices.Contains(env, allocatorEnv+"=narenas:1") || strings.Count(strings.Join(env, "\n"), allocatorEnv) != 1 {
		t.Errorf("a person's own options are not kept: %q %v", env, err)
	}
}

// What the program logs is in this process's log, in its form; the end of all else is kept.
func TestWhatTheProgramPrints(t *testing.T) {
	var log bytes.Buffer
	r := &relay{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))}
	slog.New(slog.NewJSONHandler(r, nil)).Warn("the disk refused a write", "table", "w", "rows", 3)
	for _, part := range []string{"{\"msg\":1}\n", strings.Repeat("x", 3*longestTail), "\nCode: ", "49. DB::Exception"} {
		if n, err := r.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d bytes taken, %v", n, err)
		}
	}
	if got, want := log.String(), "level=WARN msg=\"the disk refused a write\" rows=3 table=w\n"; got != want {
		t.Errorf("the log has %q, want %q", got, want)
	}
	if got := r.tail(); !strings.HasPrefix(got, ": xxx") || !strings.HasSuffix(got, "x\nCode: 49. DB::Exception") || len(got) > longestTail+100 {
		t.Errorf("kept are %d bytes: %.20q … %.40q", len(got), got, got[max(0, len(got)-40):])
	}
}

// Of a crash the error has the reason, and the log the first of the stacks that are printed
// behind it.
func TestWhyTheProgramCrashed(t *testing.T) {
	for reason, stack := range map[string]string{
		"SIGSEGV: segmentation violation\nPC=0x494621 m=0 sigcode=0": "goroutine 0 gp=0x1 m=0 mp=0x2 [idle]:\n" + strings.Repeat("runtime.futex(0x3)\n", longestTail),
		"panic: a fault": "goroutine 7 [running]:\nmain.f()\n",
	} {
		r := &relay{}
		if _, err := r.Write([]byte(reason + "\n\n" + stack)); err != nil {
			t.Fatal(err)
		}
		if r.tail() != ": "+reason {
			t.Errorf("the reason is %.100q, want %q", r.tail(), reason)
		}
		if kept := string(r.stack); kept != stack[:min(len(stack), longestTail)] {
			t.Errorf("of the stacks these are kept: %.100q", kept)
		}
	}
}
