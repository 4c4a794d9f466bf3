package text

import (
	"io"
	"unicode/utf8"
)

// Writer passes text on with all that cannot be seen in it escaped; line breaks and
// tabs stay. It is the last wall before a terminal, for what no one thought of.
type Writer struct {
	to   io.Writer
	half []byte // the beginning of a character whose rest has not come yet
}

// NewWriter returns a Writer in front of w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Unwrap returns what is written to.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write passes p on.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.half, p...)
	whole := len(text) - unfinished(text)
	w.half = append([]byte(nil), text[whole:]...)
	if whole == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(w.to, VisibleLines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished counts the last bytes that may be the beginning of a character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
