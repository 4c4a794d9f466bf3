package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/larder-sync/larder/syncer"
)

// barsShown bounds the bars on a terminal; what does not fit is not drawn.
const barsShown = 12

// linesEvery is how often progress is told where no one is watching.
const linesEvery = 10 * time.Second

// progress shows a pass: bars on a terminal, a line now and then elsewhere.
type progress struct {
	out   io.Writer
	group *mpb.Progress // nil: lines
	bars  map[string]*bar
	told  time.Time
}

type bar struct {
	*mpb.Bar
	text chan string // the latest forecast; one place
	last string
}

func newProgress(ctx context.Context, out io.Writer) *progress {
	p := &progress{out: out, bars: map[string]*bar{}, told: time.Now()}
	if interactive(out) {
		p.group = mpb.NewWithContext(ctx, mpb.WithOutput(out), mpb.WithAutoRefresh(), mpb.WithRefreshRate(200*time.Millisecond))
	}
	return p
}

// log is where log lines go, so that they do not tear the bars.
func (p *progress) log() io.Writer {
	if p.group != nil {
		return p.group
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

func (p *progress) update(s syncer.Status) {
	if p.group == nil {
		if time.Since(p.told) >= linesEvery {
			p.told = time.Now()
			p.lines(s)
		}
		return
	}
	seen := map[string]bool{}
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			st := &s.Sources[i].Streams[j]
			if st.Progress == nil || !long(st.Progress) {
				continue
			}
			name := s.Sources[i].Name + " " + st.Name
			seen[name] = true
			p.bar(name, i*len(s.Sources[i].Streams)+j).show(st.Progress)
		}
	}
	for name, b := range p.bars {
		if !seen[name] && b.IsRunning() { // its walk has ended
			b.say("done")
			b.SetTotal(max(b.Current(), 1), true)
		}
	}
}

// long tells a walk that is worth a bar: more than a page.
func long(p *syncer.Progress) bool { return p.Pages > 1 || p.TotalRows > 200 }

func (p *progress) bar(name string, place int) *bar {
	if b, ok := p.bars[name]; ok {
		return b
	}
	b := &bar{text: make(chan string, 1)}
	options := []mpb.BarOption{
		mpb.BarPriority(place),
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			select {
			case b.last = <-b.text:
			default:
			}
			return b.last
		}, decor.WCSyncSpaceR)),
	}
	if len(p.bars) >= barsShown {
		options = append(options, mpb.BarRemoveOnComplete())
	}
	style := mpb.BarStyle().Lbound("").Filler("━").Tip("━").Padding("─").Rbound("")
	b.Bar = p.group.New(0, style, options...)
	p.bars[name] = b
	return b
}

func (b *bar) show(p *syncer.Progress) {
	total := int64(p.TotalRows)
	if total > 0 {
		b.SetTotal(max(total, int64(p.Rows)), false)
	}
	b.SetCurrent(int64(p.Rows))
	b.say(forecast(p))
}

// say leaves the text for the next time the bar is drawn.
func (b *bar) say(text string) {
	select {
	case <-b.text:
	default:
	}
	b.text <- text
}

// forecast tells how far a walk is and how long it will take.
func forecast(p *syncer.Progress) string {
	if p.Resync() {
		return "full resync: " + amounts(p)
	}
	return amounts(p)
}

func amounts(p *syncer.Progress) string {
	switch {
	case p.TotalRows == 0:
		return fmt.Sprintf("%d rows", p.Rows)
	case p.RequestsLeft == 0:
		return fmt.Sprintf("%d of %d rows", p.Rows, p.TotalRows)
	case p.RequestsLeft == 1:
		return fmt.Sprintf("%d of %d rows, 1 request left", p.Rows, p.TotalRows)
	default:
		return fmt.Sprintf("%d of %d rows, %s left, %d requests", p.Rows, p.TotalRows, p.ExpectedLeft.Round(time.Second), p.RequestsLeft)
	}
}

func (p *progress) lines(s syncer.Status) {
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.Progress != nil {
				fmt.Fprintf(p.out, "%s %s: %s\n", s.Sources[i].Name, st.Name, forecast(st.Progress))
			}
		}
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
	p.group.Wait()
	p.group = nil
}
