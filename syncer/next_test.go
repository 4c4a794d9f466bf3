package syncer

import (
	"net/http"
	"testing"
	"time"

	"github.com/larder-sync/larder/syncer/schedule"
)

func TestAStatusSaysWhenEachStreamIsAskedNext(t *testing.T) {
	inFake(t, func(_ *testing.T, f *fake, w *world) {
		w.schedule = Schedule{Incremental: "@every 30s", Snapshots: "@every 5m"}
		w.run(w.one())
		w.until("mirrored", time.Minute, w.filled)
		begun := w.stream("categories")
		if wait := time.Until(begun.Next); begun.NextWhy != string(schedule.ByTurn) || wait <= 0 || wait > 30*time.Second {
			w.t.Errorf("in %s, %q", wait, begun.NextWhy)
		}
		time.Sleep(time.Until(begun.Next) + time.Second)
		if now := w.stream("categories"); now.LastSuccess.Before(begun.Next) || now.Next.Sub(begun.Next) != 30*time.Second {
			w.t.Errorf("it was to be at %s, was at %s, and will be at %s", begun.Next, now.LastSuccess, now.Next)
		}

		f.on(cats, func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "100")
			fakeError(rw, http.StatusServiceUnavailable, "unavailable")
			return true
		})
		w.until("told to wait", 10*time.Minute, func() bool { return w.stream("categories").NextWhy == string(schedule.Asked) })
		asked := w.stream("categories")
		if asked.Next.Before(time.Now().Add(30*time.Second)) || w.stream("products").NextWhy != string(schedule.ByTurn) {
			w.t.Errorf("in %s; of the products %q", time.Until(asked.Next), w.stream("products").NextWhy)
		}
		f.on(cats, nil)

		f.on("/me", func(rw http.ResponseWriter, _ *http.Request) bool {
			fakeError(rw, http.StatusUnauthorized, "unauthorized")
			return true
		})
		w.until("refused", 10*time.Minute, func() bool { return w.source().State == StateUnauthorized })
		if st := w.stream("products"); st.NextWhy != string(schedule.Probed) || !st.Next.Equal(w.source().NextProbe) {
			w.t.Errorf("at %s, %q; the source at %s", st.Next, st.NextWhy, w.source().NextProbe)
		}
		w.halt()
		if st := w.stream("products"); !st.Next.IsZero() {
			w.t.Errorf("nobody serves it, and it is asked at %s", st.Next)
		}
	})
}
