package config

import (
	"crypto/sha256"
	"os"
	"time"
)

// Digest identifies the content of a file. It is zero for a file that cannot be read.
type Digest [sha256.Size]byte

// DigestOf reads a file and returns its digest.
func DigestOf(file string) Digest {
	content, err := os.ReadFile(file)
	if err != nil {
		return Digest{}
	}
	return sha256.Sum256(content)
}

// WatchEvery is how often a file that is watched is read.
const WatchEvery = time.Second

// Watch notices that a file has changed.
//
// Reading finds every way of writing a file: in place, by a rename, through symbolic links that
// are exchanged, as Kubernetes does it, with the file or its folder missing for a while, and on
// file systems that notify nobody.
type Watch struct {
	File string

	last  Digest
	alike int // times that it was found in a row
}

// Changed reads the file, and reports whether its content is another than the known one, when it is
// not being written, nor is empty or missing on its way: it was found alike four times.
func (w *Watch) Changed(known Digest) bool {
	now := DigestOf(w.File)
	w.alike++
	if now != w.last {
		w.last, w.alike = now, 1
	}
	return w.alike >= 4 && now != known
}
