package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// service is a sandbox in a process of its own.
type service struct {
	childInfo
	cmd *exec.Cmd
}

func startService(ctx context.Context, args ...string) (*service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{childCommand}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	s := &service{cmd: cmd}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read the sandbox's address: %w", err)
	}
	if err := json.Unmarshal(line, &s.childInfo); err != nil {
		return nil, fmt.Errorf("read the sandbox's address: %w", err)
	}
	return s, nil
}

func (s *service) stop() {
	_ = s.cmd.Process.Kill() // it may have ended already
	_ = s.cmd.Wait()         // killed: its exit status says nothing
}

func (s *service) root() string { return strings.TrimSuffix(s.BaseURL, "/v1") }

func (s *service) counters(ctx context.Context) (counters, error) {
	var c counters
	err := getJSON(ctx, s.root()+"/bench", &c)
	return c, err
}

func (s *service) post(ctx context.Context, path, body string) error {
	return s.postFor(ctx, path, body, nil)
}

// postFor posts, and reads the answer into something unless that is nil.
func (s *service) postFor(ctx context.Context, path, body string, into any) error {
	return ask(ctx, http.MethodPost, s.root()+path, body, func(answer io.Reader) error {
		if into == nil {
			return nil
		}
		return json.NewDecoder(answer).Decode(into)
	})
}

func getJSON(ctx context.Context, url string, into any) error {
	return ask(ctx, http.MethodGet, url, "", func(answer io.Reader) error { return json.NewDecoder(answer).Decode(into) })
}

// ask makes a request, and has the answer read unless it is a refusal.
func ask(ctx context.Context, method, url, body string, read func(answer io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, req.URL.Path, resp.Status)
	}
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("%s %s: %w", method, req.URL.Path, err)
	}
	return nil
}
