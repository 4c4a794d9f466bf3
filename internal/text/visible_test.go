package text

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"Hanu' lui Manuc – țuică & mici": "Hanu' lui Manuc – țuică & mici",
		"日本 Bistro ❤️":                   "日本 Bistro ❤️",
		"a\x1b[31mred\x1b[0m":            `a\u001b[31mred\u001b[0m`,
		"\x1b]0;title\x07":               `\u001b]0;title\u0007`,
		"title\u009b31m\u009d":           `title\u009b31m\u009d`, // C1: some terminals obey
		"one\ntwo\tthree\rfour":          `one\ntwo\tthree\rfour`,
		"nul\x00 del\x7f":                `nul\u0000 del\u007f`,
		"evil\u202egnp.exe\u202c":        `evil\u202egnp.exe\u202c`,
		"iso\u2066late\u2069 \u200fmark": `iso\u2066late\u2069 \u200fmark`,
		"zero\u200bwidth\u2060\ufeff":    `zero\u200bwidth\u2060\ufeff`,
		"soft\u00adhyphen":               `soft\u00adhyphen`,
		"filler\u3164\u115f\u2800":       `filler\u3164\u115f\u2800`, // letters and signs by their class
		"joiner\u034f x\ufe0f":           `joiner\u034f x\ufe0f`,
		"no\u00a0break\u3000wide":        `no\u00a0break\u3000wide`,
		"line\u2028paragraph\u2029":      `line\u2028paragraph\u2029`,
		"tag\U000e0041":                  `tag\udb40\udc41`,
		"private\ue000":                  `private\ue000`,
		"bytes\xff\xc3(":                 `bytes\ufffd\ufffd(`,
		"said \ufffd itself":             `said \ufffd itself`,
		`back\slash`:                     `back\slash`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%+q) = %s, want %s", text, got, want)
		}
	}
	if got := VisibleLines("a\tb\n\x1bc\r\n"); got != "a\tb\n\\u001bc\\r\n" {
		t.Errorf("VisibleLines = %q", got)
	}
}

// A text cut anywhere, even within a character, comes out as a whole one does.
func TestWriterTakesPieces(t *testing.T) {
	text := "ț❤️\x1b[2J日\u202e本\xff\xe2\x82 €\U000e0041\n"
	for first := range len(text) {
		for second := first; second <= len(text); second++ {
			var b bytes.Buffer
			w := NewWriter(&b)
			for _, piece := range []string{text[:first], text[first:second], text[second:]} {
				if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			// The form after a sign is told from the sign: a cut between them escapes it.
			got := strings.ReplaceAll(b.String(), `❤\ufe0f`, "❤️")
			if want := VisibleLines(text); got != want {
				t.Fatalf("cut at %d and %d:\n%s\n%s", first, second, got, want)
			}
		}
	}
}

// Nothing but printable characters comes out, and JSON keeps its value.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff\U000e0041❤️\n")
	f.Fuzz(func(t *testing.T, text string) {
		out := Visible(text)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%+q became %+q", text, out)
		}
		if Visible(out) != out {
			t.Fatalf("twice differs: %+q", out)
		}
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(b, &before) != nil || json.Unmarshal([]byte(VisibleLines(string(b))), &after) != nil || before != after {
			t.Fatalf("JSON %s became %s", b, VisibleLines(string(b)))
		}
	})
}
