//go:build browser

package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/larder-sync/larder/syncer/status"
)

// outside names what reaches over the inner edge of a card.
const outside = `[...document.querySelectorAll(".card")].flatMap(card => {
	const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight) + 0.5;
	return [...card.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > edge).map(e => e.className + " " + e.innerText);
}).join("; ")`

func TestPageInBrowser(t *testing.T) {
	browser := open(t)
	pictures := map[string]*picture{"few": small(), "thousand": thousand(), "down": small()}
	pictures["down"].problems = []string{"The warehouse clickhouse://larder@db:9000/larder does not answer: connection refused. Rows wait; nothing is lost."}
	pictures["down"].status.WarehouseUnavailable = true
	status.Warehouse{Unavailable: true}.Mark(&pictures["down"].status)
	pictures["drift"] = &picture{status: status.Status{Now: noon, StartedAt: noon.Add(-3 * time.Hour), CountedAt: noon, Sources: []status.SourceStatus{drifting()}}}
	pictures["refused"] = &picture{status: status.Status{Now: noon, StartedAt: noon.Add(-3 * time.Hour), Sources: []status.SourceStatus{refused()}}}
	headlines := map[string]string{
		"few": "corner: The service refuses the key.", "thousand": "restaurant-0005: The service refuses the key. 10 more sources have a concern of this kind.", "down": "corner: The service refuses the key.",
		"drift": "90 days differ from the service's totals", "refused": "The service refuses the key.",
	}
	for _, size := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"phone", 390, 844, "light"}, {"small-phone", 360, 740, "light"}, {"desktop", 1280, 900, "light"}, {"desktop-dark", 1280, 900, "dark"}, {"phone-dark", 390, 844, "dark"}} {
		for kind, p := range pictures {
			t.Run(size.name+"-"+kind, func(t *testing.T) {
				b := newTab(t, browser, size.width, size.height, size.scheme)
				b.do(t, chromedp.Navigate(serve(t, p.options())+"/"), chromedp.WaitVisible("h1"))
				if wide := evaluate[int64](t, b, `document.documentElement.scrollWidth`); wide > size.width {
					t.Errorf("the page is %d px wide in a window of %d", wide, size.width)
				}
				if out := evaluate[string](t, b, outside); out != "" {
					t.Errorf("sticks out of its card: %s", out)
				}
				b.screenshot(t, size.name+"-"+kind)
				if body := b.text(t); !strings.Contains(body, headlines[kind]) {
					t.Errorf("the headline does not show:\n%.400s", body)
				}
				b.wantQuiet(t)
			})
		}
	}
}

func TestPageRefreshesItself(t *testing.T) {
	p := small()
	b := newTab(t, open(t), 1280, 900, "light")
	b.do(t, chromedp.Navigate(serve(t, p.options())+"/"), chromedp.WaitVisible("h1"))
	evaluate[int](t, b, `window.sameDocument = true; window.firstCard = document.querySelector("[data-key=card-ancora]"); 1`)
	if body := b.text(t); !strings.Contains(body, "12 min left, 1,430 requests") || !strings.Contains(body, "key refused") {
		t.Fatalf("first picture:\n%s", body)
	}
	p.change(func(s *status.Status) {
		o := *s.Sources[1].Streams[6].Progress
		o.Rows, o.RequestsLeft, o.ExpectedLeft = 400_000, 504, status.Seconds(4*time.Minute+12*time.Second)
		streams := append([]status.StreamStatus(nil), s.Sources[1].Streams...)
		streams[6].Progress = &o
		s.Sources[1].Streams = streams
		s.Sources[2] = healthy("corner", "Colțul Vesel")
	})
	b.waitFor(t, `document.body.innerText.includes("4 min left, 504 requests") && document.body.innerText.includes("Colțul Vesel")`)
	same := evaluate[bool](t, b, `window.sameDocument === true`)
	kept := evaluate[bool](t, b, `window.firstCard === document.querySelector("[data-key=card-ancora]")`)
	if bar := evaluate[float64](t, b, `document.querySelector(".progress progress").value`); !same || !kept || bar != 79 {
		t.Errorf("same document %v, same node %v, bar at %v: the page must change in place", same, kept, bar)
	}
	b.wantQuiet(t)
}

func TestADeepRunInBrowser(t *testing.T) {
	p := small()
	p.change(func(s *status.Status) { s.Sources = []status.SourceStatus{deep(), healthy("ancora", "Ancora Veche")} })
	b := newTab(t, open(t), 390, 844, "light")
	b.do(t, chromedp.Navigate(serve(t, p.options())+"/"), chromedp.WaitVisible("h1"))
	bar := `document.querySelector("[data-key=stream-bodega-sales_daily-note] progress").value`
	for _, text := range []string{"Everything is up to date and proven.", "deep run: 4 of 12 questions, 16 s left", "deep run: 2 days differ, asked again in 2 min"} {
		if body := b.text(t); !strings.Contains(body, text) {
			t.Errorf("the page does not show %q:\n%s", text, body)
		}
	}
	if v := evaluate[float64](t, b, bar); v != 33 {
		t.Errorf("the bar is at %v", v)
	}
	b.screenshot(t, "deep-run")
	p.change(func(s *status.Status) {
		run := *s.Sources[0].Streams[7].Progress
		run.Pages, run.RequestsLeft, run.ExpectedLeft = 9, 3, status.Seconds(6*time.Second)
		streams := append([]status.StreamStatus(nil), s.Sources[0].Streams...)
		streams[7].Progress = &run
		s.Sources[0].Streams = streams
	})
	b.waitFor(t, `document.body.innerText.includes("deep run: 9 of 12 questions, 6 s left") && `+bar+` === 75`)
	p.change(func(s *status.Status) { s.Sources[0] = healthy("bodega", "Bodega Veche") })
	b.waitFor(t, `!document.body.innerText.includes("deep run")`)
	b.wantQuiet(t)
}

// green are the lights that say that all is well.
const green = `[...document.querySelectorAll(".badge.good, h1.good")].map(e => e.innerText).join("; ")`

func TestTheLightFollowsProofAndQuarantineInBrowser(t *testing.T) {
	p := &picture{status: status.Status{Now: noon, StartedAt: noon.Add(-3 * time.Hour), CountedAt: noon, Sources: []status.SourceStatus{healthy("dorobanti", "Cafe Dorobanți")}}}
	b := newTab(t, open(t), 1280, 900, "light")
	b.do(t, chromedp.Navigate(serve(t, p.options())+"/"), chromedp.WaitVisible("h1"))
	if lit := evaluate[string](t, b, green); lit != "Everything is up to date and proven.; up to date" {
		t.Errorf("all is well, and green is: %s", lit)
	}
	p.change(func(s *status.Status) { s.Sources[0] = drifting() })
	b.waitFor(t, `document.querySelector("h1").innerText === "90 days differ from the service's totals."`)
	if lit := evaluate[string](t, b, green); lit != "" {
		t.Errorf("90 days differ, and green is: %s", lit)
	}
	for _, text := range []string{"12 rows are in quarantine", "larder reconcile --heal", "FROM quarantine", "ROWS HELD", "12 in quarantine"} {
		if body := b.text(t); !strings.Contains(strings.ToLower(body), strings.ToLower(text)) {
			t.Errorf("the page does not show %q:\n%s", text, body)
		}
	}
	p.change(func(s *status.Status) { s.Sources[0] = refused() })
	b.waitFor(t, `document.querySelector("h1").innerText === "The service refuses the key."`)
	if strings.Contains(b.text(t), "starting") {
		t.Errorf("a refused key has streams that start:\n%s", b.text(t))
	}
	b.wantQuiet(t)
}

func TestSearchInBrowser(t *testing.T) {
	b := newTab(t, open(t), 390, 844, "light")
	b.do(t, chromedp.Navigate(serve(t, thousand().options())+"/"), chromedp.WaitVisible("#q"), chromedp.SendKeys("#q", "restaurant-0123"))
	b.waitFor(t, `document.querySelectorAll(".lines li").length === 1`)
	b.do(t, chromedp.Click(".lines a"), chromedp.WaitVisible("[data-key=card-restaurant-0123]"))
	if body := b.text(t); !strings.Contains(body, "sales_orders") || strings.Contains(body, "restaurant-0124") {
		t.Errorf("the page of one source:\n%.400s", body)
	}
	b.wantQuiet(t)
}

func TestAttackIsInert(t *testing.T) {
	const attack = `<script>window.hit=1</script><img src=x onerror="window.hit=2"><b onclick="window.hit=3">x</b>`
	p := small()
	b := newTab(t, open(t), 390, 844, "light")
	b.do(t, chromedp.Navigate(serve(t, p.options())+"/"), chromedp.WaitVisible("h1"))
	p.change(func(s *status.Status) { // arrives with a refresh, the harder way
		s.Sources[2].Name, s.Sources[2].Detail, s.Sources[2].BusinessName = attack, attack, attack
	})
	b.waitFor(t, `document.body.innerText.includes("window.hit=1")`)
	if evaluate[bool](t, b, `window.hit !== undefined || document.images.length > 0`) {
		t.Error("the attack ran")
	}
	b.wantQuiet(t)
}

func TestStalePictureSaysSo(t *testing.T) {
	s, err := New(t.Context(), small().options())
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	b := newTab(t, open(t), 390, 844, "light")
	b.do(t, chromedp.Navigate(s.URL()+"/"), chromedp.WaitVisible("h1"))
	if err := s.Close(context.Background()); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.WaitVisible("#stale"))
	if body := b.text(t); !strings.Contains(body, "Larder does not answer. What you see is from 2026-03-14 12:00:00 UTC") {
		t.Errorf("the page does not say that it is old:\n%.300s", body)
	}
}
