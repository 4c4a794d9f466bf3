//go:build browser

package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// findBrowser returns a Chromium, or fails saying how to get one.
func findBrowser(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("LARDER_CHROMIUM"); p != "" {
		return p
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	t.Fatal("no Chromium: run make test, install the package chromium, or name one in LARDER_CHROMIUM")
	return ""
}

var shared struct {
	sync.Mutex
	browser *tab
	end     func() error
}

// open returns the browser of this test binary, with nothing of this machine's user in it. It
// starts at the first call, and TestMain ends it.
func open(t *testing.T) *tab {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.browser != nil {
		return shared.browser
	}
	program := findBrowser(t)
	profile, err := os.MkdirTemp("", "larder-browser-")
	if err != nil {
		t.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(profile),
	)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, end := chromedp.NewContext(ctx)
	shared.end = func() error {
		end()
		stop()
		return os.RemoveAll(profile)
	}
	shared.browser = &tab{ctx: ctx}
	shared.browser.do(t, chromedp.Navigate("about:blank"))
	return shared.browser
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.end != nil {
		if err := shared.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

type tab struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// newTab opens a tab of the given size and collects what its console says:
// nothing, when all is well.
func newTab(t *testing.T, browser *tab, width, height int64, scheme string) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser.ctx)
	t.Cleanup(end)
	b := &tab{ctx: ctx}
	b.do(t, chromedp.EmulateViewport(width, height, chromedp.EmulateScale(pixels())))
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		t.Fatalf("browser: %v", err)
	}
	messages, dialogs := chromedp.Console(ctx), chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			b.complain(m.String())
		}
	}()
	go func() {
		for d, err := range dialogs {
			if err != nil {
				return
			}
			b.complain("dialog: " + d.Message)
		}
	}()
	return b
}

func (b *tab) complain(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, s)
}

func (b *tab) wantQuiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("the console says: %q", b.complaints)
	}
}

func (b *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatalf("browser: %v", err)
	}
}

// evaluate returns the value of a JavaScript expression.
func evaluate[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("browser: %s: %v", expression, err)
	}
	return v
}

func (b *tab) text(t *testing.T) string {
	t.Helper()
	return evaluate[string](t, b, `document.body.innerText`)
}

// waitFor waits until a JavaScript expression is true.
func (b *tab) waitFor(t *testing.T, expression string) {
	t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(15*time.Second), chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		t.Fatalf("browser: waiting for %s: %v\n%s", expression, err, b.text(t))
	}
}

// pixels is how many there are to a px, in each direction: more than one only in pictures.
func pixels() float64 {
	if os.Getenv("LARDER_SCREENSHOTS") != "" {
		return 2
	}
	return 1
}

// screenshot leaves a picture for a person when LARDER_SCREENSHOTS names a folder.
func (b *tab) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("LARDER_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatalf("screenshot: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}
