package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// barsShown bounds the bars on a terminal. More lines than the terminal has could not be taken
// back: every frame would remain above the next.
const barsShown = 12

// pageRows is how many rows a page of the API has at most.
const pageRows = 200

// linesEvery is how often progress is printed where no one is watching, and seldomLines how often at
// least when a pass takes long.
const linesEvery, seldomLines = 10 * time.Second, 5 * time.Minute

// progress shows a pass: bars on a terminal, a line now and then elsewhere.
type progress struct {
	*globals
	out         io.Writer
	only        syncer.Selection // whose walks are shown
	group       *mpb.Progress    // nil: lines
	most        int              // bars at the same time
	bars        map[string]*bar  // of the walks under way
	rest        *bar             // counts the walks that have no bar; nil: all have one
	began       time.Time
	lastPrinted time.Time
}

type bar struct {
	*mpb.Bar
	words atomic.Pointer[string] // the text beside it
}

// setText sets the text for the next time the bar is drawn.
func (b *bar) setText(words string) {
	words = text.Visible(words)
	b.words.Store(&words)
}

// newProgress shows the walks of a selection on standard error.
func newProgress(ctx context.Context, g *globals, only syncer.Selection) *progress {
	p := &progress{globals: g, out: g.err, only: only, bars: map[string]*bar{}, began: time.Now(), lastPrinted: time.Now()}
	if interactive(p.out) {
		_, height := sizeOf(p.out)
		p.most = min(barsShown, max(height-3, 1)) // with a line for the rest of the walks and one for the cursor
		p.group = mpb.NewWithContext(ctx, mpb.WithOutput(unescaped(p.out)), mpb.WithAutoRefresh(), mpb.WithRefreshRate(200*time.Millisecond))
	}
	return p
}

// beginPass shows the walks of a pass, and loads the configuration with the log beside them.
func (g *globals) beginPass(ctx context.Context, only syncer.Selection) (*app.App, *progress, error) {
	show := newProgress(ctx, g, only)
	level := ""
	if show.group != nil {
		level = "warn" // the bars show the rest
	}
	a, err := g.loadLogging(false, show.lines(), level)
	if err != nil {
		show.end()
	}
	return a, show, err
}

// begin is where every line of a frame begins: what a person types, and the ^C that
// the terminal shows, has moved the cursor, and mpb only takes it up again.
const begin = "\r"

// lines is where log lines go, so that they do not tear the bars.
func (p *progress) lines() io.Writer {
	if p.group != nil {
		return text.NewWriter(aboveBars{p.group, unescaped(p.out)})
	}
	return p.out
}

// above is where results are printed while bars may be drawn on the same terminal.
func (p *progress) above(out io.Writer) io.Writer {
	if p.group != nil && interactive(out) {
		return p.lines()
	}
	return out
}

// aboveBars writes lines above the bars, and in their place when they have ended.
type aboveBars struct {
	group *mpb.Progress
	out   io.Writer
}

func (a aboveBars) Write(b []byte) (int, error) {
	if _, err := a.group.Write(append([]byte(begin), b...)); errors.Is(err, mpb.ErrDone) {
		return a.out.Write(b)
	} else if err != nil {
		return 0, err
	}
	return len(b), nil
}

// update shows the walks of a status.
func (p *progress) update(s status.Status) { p.underWay(walksOf(s, p.only)) }

// underWay shows walks as bars or lines.
func (p *progress) underWay(walks []walk) {
	if p.group != nil {
		p.draw(slices.DeleteFunc(walks, func(w walk) bool { return w.brief }))
		return
	}
	if time.Since(p.lastPrinted) < min(seldomLines, max(linesEvery, time.Since(p.began)/10)) {
		return
	}
	p.lastPrinted = time.Now()
	for _, w := range walks {
		if p.logs() {
			p.log.Info("under way", "what", w.name, "done", w.done, "total", w.total, "detail", w.text)
			continue
		}
		_, _ = fmt.Fprintf(p.out, "%s: %s\n", w.name, text.Visible(w.text)) // progress only
	}
}

// logs reports whether progress goes to the log, which is in JSON.
func (p *progress) logs() bool { return p.globals != nil && p.log != nil && p.inJSON(nil) }

// note prints what comes next, beside the progress.
func (p *progress) note(text string) {
	if p.logs() {
		p.log.Info(text)
		return
	}
	_, _ = io.WriteString(p.lines(), wrap(text, "", widthOf(p.out))) // progress only
}

// found shows one thing beside the progress, as a line or in the log. The report at the end shows it
// again, and fails when it cannot.
func (p *progress) found(what, detail string) {
	if p.logs() {
		p.log.Info("found", "what", what, "detail", detail)
		return
	}
	_, _ = fmt.Fprintf(p.lines(), "%s: %s\n", what, text.Visible(detail)) // the report has it again, see above
}

// walk is one under way.
type walk struct {
	name        string
	place       int    // among all that there may be
	done, total uint64 // total 0: unknown
	text        string
	brief       bool // not worth a bar
}

// walksOf are the walks of a status that belong to a pass. What the daemon does by
// itself meanwhile is none of it: other sources, other streams, a deep run.
func walksOf(s status.Status, only syncer.Selection) []walk {
	var walks []walk
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			st := &s.Sources[i].Streams[j]
			if p := st.Progress; p != nil && !p.Deep() && only.Has(s.Sources[i].Name, st.Name) {
				walks = append(walks, walk{
					name: s.Sources[i].Name + " " + st.Name, place: i*len(s.Sources[i].Streams) + j,
					done: p.Rows, total: p.TotalRows, text: p.Text(), brief: p.Pages <= 1 && p.TotalRows <= pageRows && p.Suspects == 0,
				})
			}
		}
	}
	return walks
}

// draw gives the walks bars, as many as the terminal has lines for.
func (p *progress) draw(walks []walk) {
	for name, b := range p.bars {
		if !slices.ContainsFunc(walks, func(w walk) bool { return w.name == name }) {
			b.Abort(true)
			delete(p.bars, name)
		}
	}
	waiting, width := 0, p.besideBars(walks)
	for _, w := range walks {
		b := p.bars[w.name]
		if b == nil && len(p.bars) >= p.most {
			waiting++
			continue
		}
		if b == nil {
			style := mpb.BarStyle().Lbound("").Filler("━").Tip("━").Padding("─").Rbound("")
			if b = p.add(style, w.place, w.name, decor.WCSyncSpaceR); b == nil {
				return
			}
			p.bars[w.name] = b
		}
		if w.total > 0 {
			b.SetTotal(int64(max(w.total, w.done)), false)
		}
		b.SetCurrent(int64(w.done))
		b.setText(fit(w.text, width))
	}
	p.showRest(waiting)
}

// barLeast is what is left of a bar before the text beside it is cut short.
const barLeast = 4

// besideBars is how wide the text of a line may be; 0 is any.
func (p *progress) besideBars(walks []walk) int {
	width := widthOf(p.out)
	if width == 0 {
		return 0
	}
	longest := 0
	for _, w := range walks {
		longest = max(longest, runewidth.StringWidth(w.name))
	}
	const blanks = 4
	return max(width-longest-barLeast-blanks, 1)
}

// fit leaves out the last parts of a text, between commas, that do not fit into a width.
func fit(text string, width int) string {
	for width > 0 && runewidth.StringWidth(text) > width {
		at := strings.LastIndex(text, ", ")
		if at < 0 {
			return runewidth.Truncate(text, width, "…")
		}
		text = text[:at]
	}
	return text
}

// showRest counts the walks that have no bar.
func (p *progress) showRest(waiting int) {
	switch {
	case waiting == 0 && p.rest != nil:
		p.rest.Abort(true)
		p.rest = nil
	case waiting > 0 && p.rest == nil:
		p.rest = p.add(mpb.NopStyle(), math.MaxInt, "")
	}
	if p.rest != nil {
		p.rest.setText(fmt.Sprintf("and %d more", waiting))
	}
}

// add adds a bar between a name and its text; nil when the command was interrupted.
func (p *progress) add(style mpb.BarFillerBuilder, priority int, name string, width ...decor.WC) *bar {
	b := &bar{}
	b.setText("")
	text := decor.Any(func(decor.Statistics) string { return *b.words.Load() }, width...)
	drawn, err := p.group.Add(0, style.Build(), mpb.BarPriority(priority), mpb.PrependDecorators(decor.Name(begin+name, width...)), mpb.AppendDecorators(text))
	if err != nil {
		return nil
	}
	b.Bar = drawn
	return b
}

// end leaves the bars of walks under way as they are.
func (p *progress) end() {
	if p.group == nil {
		return
	}
	for _, b := range p.bars {
		b.Abort(false)
	}
	p.showRest(0)
	p.group.Wait()
	p.group = nil
	fmt.Fprint(unescaped(p.out), begin) // what comes now is no frame
}
