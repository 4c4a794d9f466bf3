package syncer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// aboutQuarantine are the lines about it.
func aboutQuarantine(lines []string) []string {
	return slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, "quarantine") })
}

// Bad rows are one warning of the walk that found them, with an example and without what
// stands in them; and one line when they are good again.
func TestBadRowsAreOneWarningOfTheirWalk(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		const personal = "Ion Popescu, 0722 111 222"
		rows := manyCategories(700)
		good := slices.Clone(rows)
		for i := range 143 {
			rows[4*i+10] = strings.Replace(rows[4*i+10], `"position":1`, `"position":"`+personal+`"`, 1)
		}
		f.set(cats, rows...)
		f.set("/allergens", `{"code":"a1","name":5,"x":"`+personal+`"}`, `{"code":"a2","name":6}`)
		w.open(w.one())
		sel := Selection{Streams: []string{"categories", "allergens"}}
		w.once(sel)
		lines := aboutQuarantine(log.take())
		slices.Sort(lines)
		want := []string{"rows=143 first.id=c0010 first.field=position ", "rows=2 first.id=a1 first.field=name "}
		if len(lines) != 2 || !slices.ContainsFunc(lines, has("stream=categories", want[0], "level=WARN")) || !slices.ContainsFunc(lines, has("stream=allergens", want[1], "level=WARN")) {
			t.Errorf("%d lines, want one for each stream with %q:\n%s", len(lines), want, strings.Join(lines, "\n"))
		}
		if all := strings.Join(lines, ""); strings.Contains(all, "Popescu") || strings.Contains(all, "0722") || strings.Contains(all, "first.reason=\"\"") {
			t.Errorf("it says what stands in a row, or not why:\n%s", all)
		}

		for _, again := range []Selection{sel, {Streams: sel.Streams, Full: true}} {
			w.once(again)
			if lines := aboutQuarantine(log.take()); len(lines) > 0 {
				t.Errorf("what was told is told again:\n%s", strings.Join(lines, "\n"))
			}
		}

		for i := range good {
			good[i] = category(fmt.Sprintf("c%04d", i), "better", stamp(time.Duration(i)*time.Millisecond))
		}
		f.set(cats, good...)
		f.set("/allergens", `{"code":"a1","name":"A"}`)
		time.Sleep(time.Second)
		w.once(sel)
		lines = aboutQuarantine(log.take())
		if len(lines) != 2 || !slices.ContainsFunc(lines, has("stream=categories", "rows=143 open=0", "level=INFO")) || !slices.ContainsFunc(lines, has("stream=allergens", "rows=2 open=0", "level=INFO")) {
			t.Errorf("the end of it:\n%s", strings.Join(lines, "\n"))
		}
	})
}

func has(words ...string) func(string) bool {
	return func(line string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
	}
}
