package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// linesEvery is how often progress is logged where no one is watching, and seldomLines how often at
// least when a pass takes long.
const linesEvery, seldomLines = 10 * time.Second, 5 * time.Minute

// progress shows a pass: on a terminal a bar for each walk, drawn anew with each report, elsewhere a
// line in the log now and then.
type progress struct {
	*globals
	only   syncer.Selection // whose walks are shown
	bars   bool             // standard error is a terminal
	began  time.Time
	logged time.Time // when progress was logged last

	mu    sync.Mutex // guards the terminal
	drawn string     // the bars on it
}

// beginPass shows the walks of a pass, and loads the configuration with the log beside them.
func (g *globals) beginPass(withoutSources bool, only syncer.Selection) (*app.App, *progress, error) {
	show, level := g.newProgress(only), ""
	if show.bars {
		level = "warn" // the bars show the rest
	}
	a, err := g.load(withoutSources, show.above(g.err), level)
	return a, show, err
}

func (g *globals) newProgress(only syncer.Selection) *progress {
	return &progress{globals: g, only: only, bars: interactive(g.err), began: time.Now(), logged: time.Now()}
}

// above is out for text that comes while bars may be drawn.
func (p *progress) above(out io.Writer) io.Writer { return aboveBars{p, out} }

type aboveBars struct {
	show *progress
	out  io.Writer
}

// Unwrap returns what is written to.
func (a aboveBars) Unwrap() io.Writer { return a.out }

// Write writes lines, with the bars below them.
func (a aboveBars) Write(lines []byte) (int, error) {
	a.show.mu.Lock()
	defer a.show.mu.Unlock()
	bars := a.show.drawn
	a.show.draw("")
	n, err := a.out.Write(lines)
	a.show.draw(bars)
	return n, err
}

// draw replaces the bars on a terminal, and erases what a person has typed meanwhile, as the ^C
// that the terminal shows.
func (p *progress) draw(bars string) {
	if p.bars {
		up := strings.Repeat("\x1b[1A", strings.Count(p.drawn, "\n"))
		_, _ = io.WriteString(unescaped(p.err), up+"\r\x1b[J"+bars) // progress only
		p.drawn = bars
	}
}

// end takes the bars away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw("")
}

// update shows the walks of a status.
func (p *progress) update(s status.Status) { p.underWay(walksOf(s, p.only)) }

// underWay shows walks as bars or lines.
func (p *progress) underWay(walks []walk) {
	if p.bars {
		p.mu.Lock()
		defer p.mu.Unlock()
		width, height := sizeOf(p.err)
		p.draw(barsOf(walks, cmp.Or(width, 80), cmp.Or(height, 24)))
		return
	}
	if time.Since(p.logged) < min(seldomLines, max(linesEvery, time.Since(p.began)/10)) {
		return
	}
	p.logged = time.Now()
	for _, w := range walks {
		p.log.Info("under way", "what", w.name, "done", w.done, "total", w.total, "detail", w.text)
	}
}

// walk is one under way.
type walk struct {
	name        string
	done, total uint64 // total 0: unknown
	text        string
}

// walksOf are the walks of a status that belong to a pass. What the daemon does by
// itself meanwhile is none of it: other sources, other streams, a deep run.
func walksOf(s status.Status, only syncer.Selection) []walk {
	var walks []walk
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			st := &s.Sources[i].Streams[j]
			if p := st.Progress; p != nil && !p.Deep() && only.Has(s.Sources[i].Name, st.Name) {
				walks = append(walks, walk{s.Sources[i].Name + " " + st.Name, p.Rows, p.TotalRows, p.Text()})
			}
		}
	}
	return walks
}

// barsOf is a line for each walk, as many as a terminal has: lines that were scrolled away could not be
// erased.
func barsOf(walks []walk, width, height int) string {
	most := min(12, max(height-3, 1)) // a line counts the other walks, the cursor is on another
	if n := len(walks) - most; n > 0 {
		walks = append(walks[:most:most], walk{name: fmt.Sprintf("and %d more", n)})
	}
	names, length := 0, width/8
	if width < 100 {
		length = min(length, 6) // how far it is and how long it takes are beside it
	}
	for _, w := range walks {
		names = max(names, len(w.name))
	}
	var b strings.Builder
	for _, w := range walks {
		bar := ""
		if w.text != "" {
			filled := int(uint64(length) * min(w.done, w.total) / max(w.total, 1))
			bar = strings.Repeat("━", filled) + strings.Repeat("─", length-filled)
		}
		line := fmt.Sprintf("%-*s %s %s", names, w.name, bar, text.Visible(w.text))
		b.WriteString(runewidth.Truncate(strings.TrimRight(line, " "), width, "…") + "\n")
	}
	return b.String()
}
