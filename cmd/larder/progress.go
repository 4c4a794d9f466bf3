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

// barsShown bounds the bars on a terminal, and longWalks is how many walks of one
// source may want one. More lines than the terminal has could not be taken back:
// every frame would be left standing above the next.
const (
	barsShown = 12
	longWalks = 4
)

// pageRows is how many rows a page of the API has at most.
const pageRows = 200

// linesEvery is how often progress is printed where no one is watching.
const linesEvery = 10 * time.Second

// progress shows a pass: bars on a terminal, a line now and then elsewhere.
type progress struct {
	*globals
	out         io.Writer
	only        syncer.Selection // whose walks are shown
	group       *mpb.Progress    // nil: lines
	room        int              // for bars
	bars        map[string]*bar
	rest        *bar // of the walks for which there is no room; nil: all fit
	lastPrinted time.Time
}

type bar struct {
	*mpb.Bar
	words atomic.Pointer[string] // beside it
}

func newBar() *bar {
	b := &bar{}
	b.say("")
	return b
}

// text draws what was said last.
func (b *bar) text(style ...decor.WC) decor.Decorator {
	return decor.Any(func(decor.Statistics) string { return *b.words.Load() }, style...)
}

// say sets the words for the next time the bar is drawn.
func (b *bar) say(words string) {
	words = text.Visible(words)
	b.words.Store(&words)
}

// newProgress shows the walks of a selection on standard error.
func newProgress(ctx context.Context, g *globals, only syncer.Selection) *progress {
	p := &progress{globals: g, out: g.err, only: only, bars: map[string]*bar{}, lastPrinted: time.Now()}
	if interactive(p.out) {
		_, height := sizeOf(p.out)
		p.room = min(barsShown, max(height-3, 1)) // with a line for the rest of the walks and one for the cursor
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

// aboveBars writes lines above the bars, and where they stood when they are no more.
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
func (p *progress) update(s status.Status) {
	sources := len(s.Sources)
	if n := len(p.only.Sources); n > 0 {
		sources = n
	}
	p.tell(walksOf(s, p.only), sources*longWalks)
}

// tell shows walks under way, of which there are so many at most.
func (p *progress) tell(walks []walk, most int) {
	if p.group != nil {
		p.draw(slices.DeleteFunc(walks, func(w walk) bool { return w.brief }), most > p.room)
		return
	}
	if time.Since(p.lastPrinted) < linesEvery {
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

// logs is true when progress goes to the log, which is in JSON.
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

// draw gives the walks bars. When there are too many walks for the room, the bar of a walk
// that has ended is removed for another.
func (p *progress) draw(walks []walk, tooMany bool) {
	under := map[string]bool{}
	for _, w := range walks {
		under[w.name] = true
	}
	p.finish(under, tooMany)
	waiting, room := 0, p.besideBars(walks)
	for _, w := range walks {
		w.text = fit(w.text, room)
		b, ok := p.bars[w.name]
		if !ok && len(p.bars) >= p.room {
			waiting++
			continue
		}
		if !ok {
			b = p.add(w, tooMany)
		}
		b.show(w)
	}
	p.tellRest(waiting)
}

// barLeast is what is left of a bar before the text beside it is cut short.
const barLeast = 4

// besideBars is how much room a line has for its text; 0 is any.
func (p *progress) besideBars(walks []walk) int {
	width := widthOf(p.out)
	if width == 0 {
		return 0
	}
	longest := 0
	for _, w := range walks {
		longest = max(longest, runewidth.StringWidth(w.name))
	}
	for name := range p.bars {
		longest = max(longest, runewidth.StringWidth(name))
	}
	const blanks = 4
	return max(width-longest-barLeast-blanks, 1)
}

// fit leaves out the last parts of a text, between commas, that do not fit.
func fit(text string, room int) string {
	for room > 0 && runewidth.StringWidth(text) > room {
		at := strings.LastIndex(text, ", ")
		if at < 0 {
			return runewidth.Truncate(text, room, "…")
		}
		text = text[:at]
	}
	return text
}

// finish ends the bars of walks that are not under way any more.
func (p *progress) finish(under map[string]bool, tooMany bool) {
	for name, b := range p.bars {
		if under[name] || !b.IsRunning() {
			continue
		}
		b.say("done")
		b.SetTotal(max(b.Current(), 1), true)
		if tooMany {
			delete(p.bars, name)
		}
	}
}

// tellRest counts the walks that wait for a bar.
func (p *progress) tellRest(waiting int) {
	if p.rest == nil {
		if waiting == 0 {
			return
		}
		p.rest = newBar()
		p.rest.Bar = p.group.New(0, mpb.NopStyle(), mpb.BarPriority(math.MaxInt), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(begin), p.rest.text()))
	}
	if waiting == 0 {
		p.rest.say("")
		return
	}
	p.rest.say(fmt.Sprintf("and %d more", waiting))
}

func (p *progress) add(w walk, tooMany bool) *bar {
	b := newBar()
	options := []mpb.BarOption{
		mpb.BarPriority(w.place),
		mpb.PrependDecorators(decor.Name(begin+w.name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(b.text(decor.WCSyncSpaceR)),
	}
	if tooMany {
		options = append(options, mpb.BarRemoveOnComplete())
	}
	style := mpb.BarStyle().Lbound("").Filler("━").Tip("━").Padding("─").Rbound("")
	b.Bar = p.group.New(0, style, options...)
	p.bars[w.name] = b
	return b
}

func (b *bar) show(w walk) {
	if w.total > 0 {
		b.SetTotal(int64(max(w.total, w.done)), false)
	}
	b.SetCurrent(int64(w.done))
	b.say(w.text)
}

// end leaves the bars as they are.
func (p *progress) end() {
	if p.group == nil {
		return
	}
	for _, b := range p.bars {
		if b.IsRunning() {
			b.Abort(false)
		}
	}
	if p.rest != nil {
		p.rest.Abort(true)
	}
	p.group.Wait()
	p.group = nil
	fmt.Fprint(unescaped(p.out), begin) // what comes now is no frame
}
