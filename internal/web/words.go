package web

import (
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/text"
)

func ago(now, t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case now.Sub(t) < 2*time.Second:
		return "just now"
	case now.Sub(t) >= 2*time.Hour && now.Sub(t) < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(now.Sub(t).Hours()))
	default:
		return text.Span(now.Sub(t)) + " ago"
	}
}

func exactly(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
