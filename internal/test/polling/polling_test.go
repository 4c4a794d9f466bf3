package polling

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestForAsksUntilItIsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked := time.Now(), 0
		if !For(t.Context(), func() bool { asked++; return asked == 5 }) || time.Since(began) != 4*every {
			t.Errorf("asked %d times in %s", asked, time.Since(began))
		}
	})
}

func TestForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if For(t.Context(), func() bool { return false }) || time.Since(began) != limit {
			t.Errorf("it ends after %s", time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if For(ctx, func() bool { return false }) || !For(ctx, func() bool { return true }) {
			t.Error("it does not hear the context, or does not ask first")
		}
	})
}
