package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// Sign is the value of Service-Signature, t=<seconds>,v1=<64 hexadecimal digits>. v1 is the
// HMAC-SHA256, keyed with the secret, of t, a period and the body (docs/openapi.yaml, webhooks).
func Sign(secret string, unix int64, body []byte) string {
	t := strconv.FormatInt(unix, 10)
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t + "."))
	h.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(h.Sum(nil))
}

// Secret is a webhook secret made from a seed.
func Secret(seed uint64) string {
	g := seeded.New(seed, 22)
	return fmt.Sprintf("whsec_%016x%016x", g.Next(), g.Next())
}

// EventID is 'evt_' and a ULID: 48 bits of the instant in microseconds, as milliseconds, and
// 80 bits that are different for each n.
func EventID(seed uint64, at int64, n int) string {
	g := seeded.New(seed, 23, uint64(n))
	return "evt_" + seeded.Base32(uint64(at/1000)&(1<<48-1), 10) + seeded.Base32(g.Next(), 8) + seeded.Base32(g.Next(), 8)
}
