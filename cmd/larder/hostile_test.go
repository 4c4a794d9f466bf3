package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // what net/http prints is caught here
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/polling"
)

// behindAnswer serves each connection one answer, and behind it one that nobody asked for,
// which has the key in it. ended hears when the client has closed the connection: by then
// it has seen that answer.
func behindAnswer(t *testing.T) (address string, ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	done := make(chan error, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return // one that was opened for nothing
				}
				_, err = fmt.Fprintf(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"+
					"HTTP/1.1 200 OK\r\nX-Seen: %s\r\n\r\n", r.Header.Get("Authorization"))
				if err == nil {
					_, err = io.Copy(io.Discard, conn)
				}
				if errors.Is(err, syscall.ECONNRESET) {
					err = nil
				}
				done <- err
			}()
		}
	}()
	return l.Addr().String(), done
}

const keyBehind = "svc_live_5ec2e77e75ec2e77"

// net/http prints what this service sends: else the next test would see nothing.
func TestWhatComesBehindAnAnswerIsPrintedByNetHTTP(t *testing.T) {
	address, ended := behindAnswer(t)
	var printed polling.Text
	defer log.SetOutput(log.Writer())
	log.SetOutput(&printed)
	client := &http.Client{Transport: &http.Transport{}}
	request, err := http.NewRequest(http.MethodGet, "http://"+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+keyBehind)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	polling.Until(t, "the key is printed", func() bool { return strings.Contains(printed.String(), keyBehind) })
}

// What a service sends behind its answers is printed by nobody: net/http would, and
// with it the key, which a hostile service knows.
func TestWhatComesBehindAnAnswerIsNotPrinted(t *testing.T) {
	address, ended := behindAnswer(t)
	dir := t.TempDir()
	config := fmt.Sprintf("sources: [{name: a, base_url: \"http://%s/v1\", key_file: key}]\nweb: {listen: \"127.0.0.1:0\"}\nwarehouse: {http_listen: \"\"}\n", address)
	for name, text := range map[string]string{"key": keyBehind, "larder.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(self, "run", "--config", filepath.Join(dir, "larder.yaml"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asLarder+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	select {
	case err = <-ended:
	case <-time.After(2 * time.Minute):
		err = errors.New("the daemon has not taken an answer")
	}
	_ = cmd.Process.Kill() // what it printed is all that is wanted
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte(keyBehind)) || bytes.Contains(out.Bytes(), []byte("Unsolicited")) {
		t.Errorf("printed:\n%s", out.Bytes())
	}
}
