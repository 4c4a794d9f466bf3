package mapping

import (
	"slices"

	"github.com/larder-sync/larder/sinks"
)

// scalar appends a value that was read; a null is an error here.
func (m *Mapper) scalar(s *scalar, value []byte) error {
	v := &m.vectors[s.col]
	if s.kind == sinks.Bool {
		if value[0] != 't' && value[0] != 'f' {
			return m.bad(value, "want true or false")
		}
		n := int64(0)
		if value[0] == 't' {
			n = 1
		}
		v.AppendInt(n)
		return nil
	}
	text := value
	if s.number {
		if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
			return m.bad(value, "want a number")
		}
	} else {
		if value[0] != '"' {
			return m.bad(value, "want a string")
		}
		text, _ = m.text(value)
	}
	if s.enum != nil && !slices.Contains(s.enum, string(text)) {
		m.note(s.path, DriftValue, m.kept(value))
	}
	finer, reason := s.parse(v, text)
	if reason != "" {
		return m.bad(value, reason)
	}
	if finer {
		m.note(s.path, DriftDigits, m.kept(value))
	}
	return nil
}

// parse appends the value that the text stands for, or returns why it cannot. finer
// reports whether digits that its column cannot hold were cut.
func (s *scalar) parse(v *sinks.Vector, text []byte) (finer bool, reason string) {
	var n int64
	switch s.kind {
	case sinks.Text:
		v.AppendText(text)
		return false, ""
	case sinks.Instant:
		n, finer, reason = parseInstant(text)
	case sinks.Day:
		n, reason = parseDay(text)
	default:
		var wide sinks.Int128
		wide, finer, reason = s.decimal(text)
		if n = int64(wide.Lo); reason == "" && s.kind == sinks.Quantity {
			v.AppendWide(wide)
			return finer, ""
		}
	}
	if reason == "" {
		v.AppendInt(n)
	}
	return finer, reason
}
