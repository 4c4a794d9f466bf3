package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

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

// table prints rows that never are wider than the terminal. Its last column holds text of any
// length, which is below its row where it does not fit beside it.
type table struct {
	width    int // of the terminal; 0: any
	indent   string
	least    int        // columns of the terminal that the last column has beside the others
	optional []string   // heads of the columns left out where not all fit, the first one first
	rows     [][]string // the first has the heads
}

// add adds a row, a value for each column. What came from outside stays in its cell.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = text.Visible(fmt.Sprint(v))
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w io.Writer) error {
	lines := t.aligned()
	for t.width > 0 && widest(lines)+t.least > t.width && len(t.optional) > 0 {
		i := slices.Index(t.rows[0], t.optional[0])
		for at, row := range t.rows {
			t.rows[at] = slices.Delete(row, i, i+1)
		}
		t.optional, lines = t.optional[1:], t.aligned()
	}
	var b strings.Builder
	for i, line := range lines {
		last := t.rows[i][len(t.rows[i])-1]
		if t.width == 0 || runewidth.StringWidth(line+last) <= t.width {
			line, last = line+last, ""
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i > 0 && last != "" {
			b.WriteString(wrap(last, t.indent+"  ", t.width))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// aligned are the rows but for the last column.
func (t *table) aligned() []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, t.indent+strings.Join(row[:len(row)-1], "\t")+"\t")
	}
	_ = w.Flush() // a builder takes all
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func widest(lines []string) (width int) {
	for _, line := range lines {
		width = max(width, runewidth.StringWidth(strings.TrimRight(line, " ")))
	}
	return width
}

// wrap breaks text between words into lines that begin with an indent and are no wider
// than the terminal (0: any width). A word that is too long by itself is broken too.
func wrap(text, indent string, width int) string {
	if width == 0 {
		return indent + text + "\n"
	}
	most := max(width-len(indent), 2) // a character may be two columns wide
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		for part := range strings.SplitSeq(runewidth.Wrap(word, most), "\n") {
			n := runewidth.StringWidth(part)
			switch {
			case used == 0:
				b.WriteString(indent)
			case used+1+n > most:
				b.WriteString("\n" + indent)
				used = 0
			default:
				b.WriteString(" ")
				used++
			}
			b.WriteString(part)
			used += n
		}
	}
	return b.String() + "\n"
}
