package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What a service sends behind its answers is printed by nobody: net/http would, and
// with it the key, which a hostile service knows.
func TestWhatComesBehindAnAnswerIsNotPrinted(t *testing.T) {
	const key = "svc_live_5ec2e77e75ec2e77"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			sent <- err
			return
		}
		defer conn.Close()
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err == nil {
			_, err = fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
		}
		time.Sleep(300 * time.Millisecond) // until the answer has been taken, and the connection rests
		if err == nil {
			_, err = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nX-Seen: %s\r\n\r\n", r.Header.Get("Authorization"))
		}
		sent <- err
		time.Sleep(time.Second)
	}()
	dir := t.TempDir()
	config := fmt.Sprintf("sources: [{name: a, base_url: \"http://%s/v1\", key_file: key}]\nweb: {listen: \"127.0.0.1:0\"}\nwarehouse: {http_listen: \"\"}\n", l.Addr())
	for name, text := range map[string]string{"key": key, "larder.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "run", "--config", filepath.Join(dir, "larder.yaml"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err = <-sent
	time.Sleep(500 * time.Millisecond)
	_ = cmd.Process.Kill() // what it printed is all that is wanted
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte(key)) || bytes.Contains(out.Bytes(), []byte("Unsolicited")) {
		t.Errorf("printed:\n%s", out.Bytes())
	}
}
