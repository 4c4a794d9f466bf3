package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/larder-sync/larder/internal/visible"
	"github.com/larder-sync/larder/syncer"
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

// linesEvery is how often progress is told where no one is watching.
const linesEvery = 10 * time.Second

// progress shows a pass: bars on a terminal, a line now and then elsewhere.
type progress struct {
	out   io.Writer
	group *mpb.Progress // nil: lines
	room  int           // for bars
	bars  map[string]*bar
	rest  *bar // of the walks for which there is no room; nil: all fit
	told  time.Time
}

type bar struct {
	*mpb.Bar
	said chan string // the latest text; one place
	last string
}

func newText() *bar { return &bar{said: make(chan string, 1)} }

// text draws what was said last.
func (b *bar) text(style ...decor.WC) decor.Decorator {
	return decor.Any(func(decor.Statistics) string {
		select {
		case b.last = <-b.said:
		default:
		}
		return b.last
	}, style...)
}

func newProgress(ctx context.Context, out io.Writer) *progress {
	p := &progress{out: out, bars: map[string]*bar{}, told: time.Now()}
	if interactive(out) {
		p.room = roomFor(out)
		p.group = mpb.NewWithContext(ctx, mpb.WithOutput(bare(out)), mpb.WithAutoRefresh(), mpb.WithRefreshRate(200*time.Millisecond))
	}
	return p
}

// roomFor is how many bars fit on a terminal, with a line for the rest of the walks
// and one for the cursor.
func roomFor(out io.Writer) int {
	f, ok := bare(out).(*os.File)
	if !ok {
		return barsShown
	}
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return barsShown
	}
	return min(barsShown, max(height-3, 1))
}

// log is where log lines go, so that they do not tear the bars.
func (p *progress) log() io.Writer {
	if p.group != nil {
		return visible.NewWriter(p.group)
	}
	return p.out
}

// level is the log level beside bars, which tell the rest.
func (p *progress) level() string {
	if p.group != nil {
		return "warn"
	}
	return ""
}

// update shows the walks of a status.
func (p *progress) update(s syncer.Status) { p.tell(walksOf(s), len(s.Sources)*longWalks) }

// tell shows walks under way, of which there are so many at most.
func (p *progress) tell(walks []walk, most int) {
	if p.group != nil {
		p.draw(slices.DeleteFunc(walks, func(w walk) bool { return w.brief }), most > p.room)
		return
	}
	if time.Since(p.told) < linesEvery {
		return
	}
	p.told = time.Now()
	for _, w := range walks {
		_, _ = fmt.Fprintf(p.out, "%s: %s\n", w.name, visible.Text(w.text)) // progress only
	}
}

// walk is one under way.
type walk struct {
	name        string
	place       int    // among all that there may be
	done, total uint64 // total 0: unknown
	text        string
	brief       bool // not worth a bar
}

// walksOf are the walks of a status. What the daemon does by itself meanwhile, a deep
// run, is none of a pass.
func walksOf(s syncer.Status) []walk {
	var walks []walk
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			st := &s.Sources[i].Streams[j]
			if p := st.Progress; p != nil && !p.Deep() {
				walks = append(walks, walk{
					name: s.Sources[i].Name + " " + st.Name, place: i*len(s.Sources[i].Streams) + j,
					done: p.Rows, total: p.TotalRows, text: forecast(p), brief: p.Pages <= 1 && p.TotalRows <= pageRows,
				})
			}
		}
	}
	return walks
}

// draw gives the walks bars. When it is crowded, the bar of a walk that has ended
// makes room for another.
func (p *progress) draw(walks []walk, crowded bool) {
	under := map[string]bool{}
	for _, w := range walks {
		under[w.name] = true
	}
	p.finish(under, crowded)
	waiting := 0
	for _, w := range walks {
		b, ok := p.bars[w.name]
		if !ok && len(p.bars) >= p.room {
			waiting++
			continue
		}
		if !ok {
			b = p.add(w, crowded)
		}
		b.show(w)
	}
	p.tellRest(waiting)
}

// finish ends the bars of walks that are not under way any more.
func (p *progress) finish(under map[string]bool, crowded bool) {
	for name, b := range p.bars {
		if under[name] || !b.IsRunning() {
			continue
		}
		b.say("done")
		b.SetTotal(max(b.Current(), 1), true)
		if crowded {
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
		p.rest = newText()
		p.rest.Bar = p.group.New(0, mpb.NopStyle(), mpb.BarPriority(math.MaxInt), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(p.rest.text()))
	}
	switch waiting {
	case 0:
		p.rest.say("")
	case 1:
		p.rest.say("and 1 more")
	default:
		p.rest.say(fmt.Sprintf("and %d more", waiting))
	}
}

func (p *progress) add(w walk, crowded bool) *bar {
	b := newText()
	options := []mpb.BarOption{
		mpb.BarPriority(w.place),
		mpb.PrependDecorators(decor.Name(w.name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(b.text(decor.WCSyncSpaceR)),
	}
	if crowded {
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

// say leaves the text for the next time the bar is drawn.
func (b *bar) say(text string) {
	select {
	case <-b.said:
	default:
	}
	b.said <- visible.Text(text)
}

// forecast tells how far a walk is and how long it will take.
func forecast(p *syncer.Progress) string {
	switch {
	case p.Resync():
		return "full resync: " + amounts(p)
	case p.Deep():
		return "deep run: " + questions(p)
	}
	return amounts(p)
}

// questions tells how far a deep run is.
func questions(p *syncer.Progress) string {
	left := age(p.ExpectedLeft.Duration())
	if p.Suspects > 0 {
		return differing(p.Suspects) + ", asked again in " + left
	}
	return fmt.Sprintf("%d of %d questions, %s left", p.Pages, p.Pages+p.RequestsLeft, left)
}

func amounts(p *syncer.Progress) string {
	switch {
	case !p.BackTo().IsZero():
		return fmt.Sprintf("%d rows, back to %s", p.Rows, p.BackTo().Format(time.DateOnly))
	case p.TotalRows == 0:
		return fmt.Sprintf("%d rows", p.Rows)
	case p.RequestsLeft == 0:
		return fmt.Sprintf("%d of %d rows", p.Rows, p.TotalRows)
	case p.RequestsLeft == 1:
		return fmt.Sprintf("%d of %d rows, 1 request left", p.Rows, p.TotalRows)
	default:
		return fmt.Sprintf("%d of %d rows, %s left, %d requests", p.Rows, p.TotalRows, age(p.ExpectedLeft.Duration()), p.RequestsLeft)
	}
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
}
