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
func Visible(s string) string { return escape(s, func(r rune) bool { return r == ' ' }) }

// VisibleLines is [Visible] for text of several lines: line breaks and tabs stay.
func VisibleLines(s string) string { return escape(s, layout) }

// layout is true of the white space that text of ours is laid out with.
func layout(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

func escape(s string, stays func(rune) bool) string {
	if !needed(s, stays) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	last := rune(0)
	for i, r := range s {
		if stays(r) || seen(last, r) && !wrong(s, i, r) {
			b.WriteRune(r)
			last = r
		} else {
			write(&b, r)
			last = 0
		}
	}
	return b.String()
}

func needed(s string, stays func(rune) bool) bool {
	last := rune(0)
	for i, r := range s {
		if !stays(r) && (!seen(last, r) || wrong(s, i, r)) {
			return true
		}
		last = r
	}
	return false
}

// wrong is true of a replacement character that stands for bytes that are not UTF-8. It is
// written as the character itself is: JSON has no form for such bytes.
func wrong(s string, i int, r rune) bool {
	if r != utf8.RuneError {
		return false
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return size == 1
}

// emojiForm asks for the coloured form of the sign before it, as in many a name. It
// is without a width, and harmless after a sign.
const emojiForm = '\ufe0f'

// seen is true when a person sees r after last.
func seen(last, r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7f
	case r == emojiForm:
		return unicode.Is(unicode.So, last) && last != utf8.RuneError
	case !unicode.IsPrint(r): // controls, marks of direction, codes without a width, strange spaces
		return false
	default:
		return !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != blankPattern
	}
}

// blankPattern counts as a sign, and is blank.
const blankPattern = '\u2800'

func write(b *strings.Builder, r rune) {
	switch r {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
			return
		}
		fmt.Fprintf(b, `\u%04x`, r)
	}
}
