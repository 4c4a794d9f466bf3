package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s in one line, with all that cannot be seen in it escaped as JSON does it,
// \u001b for ESC: a JSON text stays valid, and means the same. Names, ids and error texts of the
// API end on terminals and pages, where control characters would act, and where codes without a
// width or of another direction would make one text look like another. White space that is more
// than a space is escaped too: a name with a line break would make a row of its own.
func Visible(s string) string { return escape(s, " ") }

// VisibleLines is [Visible] for text of several lines: line breaks and tabs stay.
func VisibleLines(s string) string { return escape(s, " \n\t") }

// escape leaves white space of layout as it is.
func escape(s, layout string) string {
	var b []byte // nil until something is escaped
	last := rune(0)
	for i, r := range s {
		if seen(last, r) || strings.ContainsRune(layout, r) {
			if b != nil {
				b = utf8.AppendRune(b, r)
			}
			last = r
			continue
		}
		if b == nil {
			b = append(make([]byte, 0, len(s)+16), s[:i]...)
		}
		b, last = appendEscaped(b, r), 0
	}
	if b == nil {
		return s
	}
	return string(b)
}

// emojiForm asks for the coloured form of the sign before it, as in many a name. It
// is without a width, and harmless after a sign.
const emojiForm = '\ufe0f'

// seen reports whether a person sees r after last.
func seen(last, r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7f
	case r == emojiForm:
		return unicode.Is(unicode.So, last)
	case r == utf8.RuneError: // also of bytes that are no characters, for which JSON has no form
		return false
	case !unicode.IsPrint(r): // controls, marks of direction, codes without a width, strange spaces
		return false
	default:
		return !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != blankPattern
	}
}

// blankPattern counts as a sign, and is blank.
const blankPattern = '\u2800'

func appendEscaped(b []byte, r rune) []byte {
	switch r {
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		b = fmt.Appendf(b, `\u%04x`, unit)
	}
	return b
}
