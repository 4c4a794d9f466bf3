package config

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// Digest tells contents of a file apart. It is zero for a file that cannot be read.
type Digest [sha256.Size]byte

// emptyFile is the digest of a file without content.
var emptyFile = Digest(sha256.Sum256(nil))

// DigestOf reads a file and returns its digest.
func DigestOf(file string) Digest {
	content, err := os.ReadFile(file)
	if err != nil {
		return Digest{}
	}
	return sha256.Sum256(content)
}

const watchEvery = time.Second

// Watch reads a file every second until ctx ends, and sends to changed, which has room for one,
// when its content is not the known one. It sends what two looks found alike: the file is not
// being written. An empty or missing file may be on its way, and is sent after four.
//
// Reading finds every way of writing a file: in place, by a rename, through symbolic links that
// are exchanged, as Kubernetes does it, with the file or its folder missing for a while, and on
// file systems that notify nobody.
func Watch(ctx context.Context, file string, known func() Digest, changed chan<- struct{}) {
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	var last Digest
	for alike := 0; ctx.Err() == nil; alike++ {
		now := DigestOf(file)
		if now != last {
			last, alike = now, 1
		}
		settled := alike >= 2 && now != (Digest{}) && now != emptyFile || alike >= 4
		if settled && now != known() {
			select {
			case changed <- struct{}{}:
			default: // it waits to be read already
			}
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}
