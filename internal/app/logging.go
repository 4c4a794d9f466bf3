package app

import (
	"fmt"
	"io"
	"log/slog"
)

// LogLevel returns a level that can change while it is in use (see config.Log).
func LogLevel(name string) (*slog.LevelVar, error) {
	var l slog.LevelVar
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return nil, fmt.Errorf("log level %q; allowed: debug, info, warn, error", name)
	}
	return &l, nil
}

// NewLogger returns a logger of the given form (see config.Log).
func NewLogger(w io.Writer, format string, level slog.Leveler) (*slog.Logger, error) {
	opts := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	default:
		return nil, fmt.Errorf("log format %q; allowed: text, json", format)
	}
}
