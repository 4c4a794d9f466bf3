package text

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// The forms of the log (see config.Log): text for people, JSON for machines.
const (
	LogText = "text"
	LogJSON = "json"
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
	switch format {
	case LogText:
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: forPeople})), nil
	case LogJSON:
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: forMachines})), nil
	default:
		return nil, fmt.Errorf("log format %q; allowed: text, json", format)
	}
}

// forMachines gives durations as numbers of seconds, with the unit in the name: took
// becomes took_seconds.
func forMachines(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		us := a.Value.Duration().Round(time.Microsecond).Microseconds()
		return slog.Float64(a.Key+"_seconds", float64(us)/1e6) // one division: Duration.Seconds makes 1.5030000000000001 of 1.503
	}
	return a
}

// forPeople writes lists with commas, and what Go would print as its structs as JSON.
func forPeople(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindAny {
		return a
	}
	switch v := a.Value.Any().(type) {
	case nil, error, fmt.Stringer, encoding.TextMarshaler:
		return a
	case []string:
		return slog.String(a.Key, strings.Join(v, ", "))
	default:
		text, err := json.Marshal(v)
		if err != nil || text[0] != '{' && text[0] != '[' {
			return a
		}
		return slog.String(a.Key, string(text))
	}
}
