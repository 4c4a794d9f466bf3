package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bodyOf is a page of one row that takes so many bytes.
func bodyOf(bytes int) string {
	const frame = `{"data":[{"id":"%s"}],"next_cursor":null,"has_more":false}`
	return fmt.Sprintf(frame, strings.Repeat("x", bytes-len(frame)+2))
}

// Bodies that each hold a part and want more must not block each other: here nine of
// them want far more together than there is.
func TestBodiesThatWantMoreThanThereIsAllArrive(t *testing.T) {
	memory := NewMemory(4 << 20)
	body := bodyOf(3 << 20)
	var reading sync.WaitGroup
	for range 3 {
		s := serve(t, answers(200, body), func(o *Options) { o.Memory = memory })
		for range 3 {
			reading.Go(func() {
				page, err := products.Page(t.Context(), s.Client, ListQuery{})
				if err != nil || len(page.Rows) != 1 {
					t.Errorf("%d rows, %v", len(page.Rows), err)
				}
				if used := memory.Used(); used > 4<<20+2*3<<20 {
					t.Errorf("%d bytes taken", used)
				}
				page.Release()
				page.Release()
			})
		}
	}
	reading.Wait()
	if used := memory.Used(); used != 0 {
		t.Errorf("%d bytes are taken at the end", used)
	}
}

func TestMemoryIsTakenBeforeABodyIsReadFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemory(2 << 20)
		s := serve(t, answers(200, bodyOf(1<<20)), func(o *Options) { o.Memory = memory })
		page := func() (p Page) {
			p, err := products.Page(t.Context(), s.Client, ListQuery{})
			if err != nil {
				t.Error(err)
			}
			return p
		}
		first := page()
		if used := memory.Used(); used != 1<<20 {
			t.Errorf("a page of 1 MiB takes %d bytes", used)
		}
		second := make(chan Page, 1)
		go func() { second <- page() }()
		synctest.Wait()
		select {
		case <-second:
			t.Fatal("a client took more than its half")
		default:
		}
		other := serve(t, answers(200, emptyPage), func(o *Options) { o.Memory = memory })
		if _, err := products.Page(t.Context(), other.Client, ListQuery{}); err != nil {
			t.Errorf("a small body beside: %v", err)
		}
		first.Release()
		p := <-second
		p.Release()
		if used := memory.Used(); used != 0 {
			t.Errorf("%d bytes are taken at the end", used)
		}
	})
}

// Whoever fails gives everything back, whatever the reason.
func TestFailedBodiesTakeNothing(t *testing.T) {
	large := bodyOf(3 << 20)
	for name, handler := range map[string]http.HandlerFunc{
		"not JSON":  answers(200, strings.Repeat("x", 3<<20)),
		"too large": answers(200, bodyOf(mostOfList+1)),
		"refusal":   answers(500, large),
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(large)+1))
			_, _ = io.WriteString(w, large)
		},
		"one row": answers(200, `{"id":5,"name":"`+large[:1<<20]+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := NewMemory(1 << 20)
				s := serve(t, handler, func(o *Options) { o.Memory, o.RetryMax = memory, 1 })
				if _, err := products.Page(t.Context(), s.Client, ListQuery{}); err == nil {
					t.Error("no error")
				}
				if _, err := RowAt(t.Context(), s.Client, "/products", "p"); err == nil && name != "one row" {
					t.Error("no error")
				}
				if used := memory.Used(); used != 0 {
					t.Errorf("%d bytes are taken at the end", used)
				}
			})
		})
	}
}

// Who waits for memory can be called off, and no time-out runs meanwhile: the
// service is not at fault.
func TestWaitingForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemory(2 << 20)
		s := serve(t, answers(200, bodyOf(1<<20)), func(o *Options) { o.Memory, o.RetryMax = memory, -1 })
		first, err := products.Page(t.Context(), s.Client, ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("called off"))
		defer cancel()
		began := time.Now()
		if _, err := products.Page(ctx, s.Client, ListQuery{}); err == nil || !strings.Contains(err.Error(), "called off") || time.Since(began) != time.Hour {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		first.Release()
		if used := memory.Used(); used != 0 {
			t.Errorf("%d bytes are taken at the end", used)
		}
	})
}

func TestTimeGoesOnAfterAWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := watch(t.Context(), Timeouts{Header: time.Minute, Idle: 10 * time.Second, Whole: 20 * time.Second})
		defer p.cancel(nil)
		read := func(took time.Duration) {
			defer p.within(phaseIdle, p.timeouts.Idle)()
			time.Sleep(took)
		}
		read(9 * time.Second)
		time.Sleep(time.Hour) // for memory
		read(9 * time.Second)
		if p.ctx.Err() != nil {
			t.Errorf("ended early: %v", context.Cause(p.ctx))
		}
		read(3 * time.Second)
		if err := p.blame(nil); err == nil || !strings.Contains(err.Error(), phaseWhole) {
			t.Errorf("ended by %v", err)
		}
	})
}
