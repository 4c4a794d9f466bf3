package control

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/syncer"
)

// stuckPasser is a syncer whose passes end with their context.
type stuckPasser struct{ begun chan struct{} }

func (stuckPasser) Status() syncer.Status { return syncer.Status{} }

func (e stuckPasser) until(ctx context.Context) error {
	close(e.begun)
	<-ctx.Done()
	return context.Cause(ctx)
}

func (e stuckPasser) RunOnce(ctx context.Context, _ syncer.Selection, _ func(syncer.Status)) (syncer.Report, error) {
	return syncer.Report{}, e.until(ctx)
}

func (e stuckPasser) Verify(ctx context.Context, _ syncer.Selection, _ func(syncer.Finding), _ func(syncer.VerifyProgress)) (syncer.VerifyReport, error) {
	return syncer.VerifyReport{}, e.until(ctx)
}

func (e stuckPasser) Reconcile(ctx context.Context, _ syncer.ReconcileRequest, _ func(syncer.ReconcileReport)) (syncer.ReconcileReport, error) {
	return syncer.ReconcileReport{}, e.until(ctx)
}

func (e stuckPasser) Forget(ctx context.Context, _ syncer.ForgetRequest) (syncer.ForgetReport, error) {
	return syncer.ForgetReport{}, e.until(ctx)
}

// A status is answered whatever pass is under way, unless it was asked for behind that one.
func TestAStatusIsAnsweredBesideAPass(t *testing.T) {
	for route, answered := range map[string]bool{routeSync: true, routeVerify: true, routeReconcile: true, routeForget: true, routeSync + "?pass=other": true, routeSync + "?pass=mine": false} {
		synctest.Test(t, func(t *testing.T) {
			pass := stuckPasser{make(chan struct{})}
			mux := handler(pass.Status, pass, slog.New(slog.DiscardHandler))
			ctx, end := context.WithCancel(t.Context())
			go mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, route, strings.NewReader("{}")))
			<-pass.begun
			for _, after := range []string{"", "?after=", "?after=mine"} {
				asking, give := context.WithTimeout(t.Context(), time.Minute)
				began, w := time.Now(), httptest.NewRecorder()
				mux.ServeHTTP(w, httptest.NewRequestWithContext(asking, http.MethodGet, routeStatus+after, http.NoBody))
				give()
				var s syncer.Status
				if waited := time.Since(began) > 0; waited == (answered || after != "?after=mine") || json.Unmarshal(w.Body.Bytes(), &s) != nil {
					t.Errorf("beside %s, %q waited %t: %s", route, after, waited, w.Body)
				}
			}
			end()
			synctest.Wait()
		})
	}
}
