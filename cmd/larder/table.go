package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/larder-sync/larder/internal/text"
)

// sizeOf is how wide and how high a terminal is; 0 for what is none, where lines may be of any
// length.
func sizeOf(w io.Writer) (width, height int) {
	if interactive(w) {
		width, height, _ = term.GetSize(int(unescaped(w).(*os.File).Fd())) // an error: not known, below 0
	}
	return max(width, 0), max(height, 0)
}

func widthOf(w io.Writer) int {
	width, _ := sizeOf(w)
	return width
}

// column is one of a table. Where not all fit, those with the highest rank are left out first;
// one of rank 0 always stays.
type column struct {
	head string
	rank int
}

// table prints rows that never are wider than the terminal. Its last column holds text
// of any length: it is beside the others when all of it fits, and else wraps there, or below
// its row.
type table struct {
	width   int // of the terminal; 0: any
	indent  string
	below   bool // the last column goes below its row, rather than be narrow
	columns []column
	rows    [][]string
	widths  []int // of the columns by themselves
}

// add adds a row, a value for each column. What came from outside stays in its cell.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = text.Visible(fmt.Sprint(v))
	}
	t.measure(row)
	t.rows = append(t.rows, row)
}

const (
	gap = 2
	// narrowest is how narrow a last column may become before another one goes.
	narrowest = 24
)

func (t *table) print(w io.Writer) error {
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.head
	}
	t.measure(heads)
	shown, last := t.fit()
	var b strings.Builder
	if last == 0 {
		heads[len(heads)-1] = ""
	}
	for _, row := range append([][]string{heads}, t.rows...) {
		t.line(&b, shown, last, row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fit chooses the columns that fit, and how wide the last one is; 0 is below its row.
func (t *table) fit() (shown []int, last int) {
	for i := range len(t.columns) - 1 {
		shown = append(shown, i)
	}
	want := t.widths[len(t.columns)-1]
	for {
		used := len(t.indent)
		for _, i := range shown {
			used += t.widths[i] + gap
		}
		switch left := t.width - used; {
		case t.width == 0 || left >= want:
			return shown, want
		case !t.below && left >= narrowest:
			return shown, left
		case t.below && left >= -gap:
			return shown, 0
		}
		drop := -1
		for at, i := range shown {
			if t.columns[i].rank > 0 && (drop < 0 || t.columns[i].rank > t.columns[shown[drop]].rank) {
				drop = at
			}
		}
		if drop < 0 {
			return shown, 0
		}
		shown = slices.Delete(shown, drop, drop+1)
	}
}

// measure makes the columns as wide as a row needs them.
func (t *table) measure(row []string) {
	if t.widths == nil {
		t.widths = make([]int, len(t.columns))
	}
	for i, cell := range row {
		t.widths[i] = max(t.widths[i], runewidth.StringWidth(cell))
	}
}

func (t *table) line(b *strings.Builder, shown []int, last int, row []string) {
	text := row[len(row)-1]
	line := t.indent
	for _, i := range shown {
		line += row[i] + strings.Repeat(" ", t.widths[i]-runewidth.StringWidth(row[i])+gap)
	}
	if last == 0 {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if text != "" {
			b.WriteString(wrap(text, t.indent+"  ", t.width))
		}
		return
	}
	wrapped := wrap(text, strings.Repeat(" ", runewidth.StringWidth(line)), t.width)
	b.WriteString(strings.TrimRight(line+strings.TrimLeft(wrapped, " "), " \n") + "\n")
}

// wrap breaks text between words into lines that begin with an indent and are no wider
// than the terminal (0: any width). A word that is too long by itself is broken too.
func wrap(text, indent string, width int) string {
	if width == 0 {
		return indent + text + "\n"
	}
	most := max(width-len(indent), 1)
	var b strings.Builder
	line, used := "", 0
	flush := func() {
		b.WriteString(indent + line + "\n")
		line, used = "", 0
	}
	for word := range strings.FieldsSeq(text) {
		for {
			n := runewidth.StringWidth(word)
			switch {
			case used > 0 && used+1+n <= most:
				line, used = line+" "+word, used+1+n
			case used > 0:
				flush()
				continue
			case n <= most:
				line, used = word, n
			default:
				head := runewidth.Truncate(word, most, "")
				if head == "" { // not even one character
					head = word[:len(string([]rune(word)[:1]))]
				}
				line, word = head, word[len(head):]
				flush()
				continue
			}
			break
		}
	}
	if used > 0 {
		flush()
	}
	return b.String()
}
