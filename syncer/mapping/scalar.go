package mapping

import (
	"slices"

	"github.com/larder-sync/larder/sinks"
)

// scalar appends a value that was read; a null is an error here.
func (m *Mapper) scalar(s *scalar, value []byte) error {
	v, text, first := &m.vectors[s.col], value, value[0]
	switch {
	case s.kind == sinks.Bool:
		if first != 't' && first != 'f' {
			return m.bad(value, "want true or false")
		}
		n := int64(0)
		if first == 't' {
			n = 1
		}
		v.AppendInt(n)
		return nil
	case s.number && first != '-' && (first < '0' || first > '9'):
		return m.bad(value, "want a number")
	case !s.number && first != '"':
		return m.bad(value, "want a string")
	case !s.number:
		text, _ = m.text(value)
	}
	if s.enum != nil && !slices.Contains(s.enum, string(text)) {
		m.note(s.path, DriftValue, m.kept(value))
	}
	var n int64
	var wide sinks.Int128
	var finer bool // digits that the column cannot hold were cut
	var reason string
	switch s.kind {
	case sinks.Text:
		v.AppendText(text)
		return nil
	case sinks.Instant:
		n, finer, reason = parseInstant(text)
	case sinks.Day:
		n, reason = parseDay(text)
	default:
		wide, finer, reason = s.decimal(text)
		n = int64(wide.Lo)
	}
	switch {
	case reason != "":
		return m.bad(value, reason)
	case s.kind == sinks.Quantity:
		v.AppendWide(wide)
	default:
		v.AppendInt(n)
	}
	if finer {
		m.note(s.path, DriftDigits, m.kept(value))
	}
	return nil
}
