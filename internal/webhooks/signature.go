package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far the time of a signature may be from now (docs/openapi.yaml, webhooks).
const tolerance = 300 * time.Second

// maxSignatures bounds how many v1 of a header are compared.
const maxSignatures = 8

// signed reports whether a header Service-Signature is valid for a body: t is within the tolerance,
// and one v1 was made with one of the secrets, of which there are two during a rotation. Secrets are
// compared in constant time.
func signed(header string, body []byte, secrets []string, now time.Time) bool {
	var stamp string
	var given [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			if stamp != "" {
				return false // two times: which one is signed?
			}
			stamp = value
		case "v1":
			sum, err := hex.DecodeString(value)
			if err == nil && len(sum) == sha256.Size && len(given) < maxSignatures && value == strings.ToLower(value) {
				given = append(given, sum)
			}
		}
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(at, 10) != stamp {
		return false
	}
	if skew := now.Unix() - at; skew > int64(tolerance/time.Second) || skew < -int64(tolerance/time.Second) {
		return false
	}
	holds := false
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, sum := range given {
			if hmac.Equal(sum, want) {
				holds = true
			}
		}
	}
	return holds
}
