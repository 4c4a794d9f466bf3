// Package personal decides what is kept of the people who order online (docs/rules.md R14).
//
// Contents: which fields of an order say something of a person, and what takes their place. It
// imports nothing of ours, so that the client of the API can use it before anything else sees an
// order.
//
// # What holds
//
//   - What [Policy.Order] returns is all that the program ever knows of an order, but for the
//     answer's own bytes.
//   - Unless all is kept, only fields that are listed (shape.go) keep their values. A field
//     that the service adds keeps its name alone: it may be a second phone number.
//   - A value of a wrong kind, where something else belongs, keeps its kind alone.
package personal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Mode is what is kept: sources[].personal_data.
type Mode string

// The modes.
const (
	Drop         Mode = "drop"         // nothing
	Pseudonymise Mode = "pseudonymise" // a keyed hash of the phone, and the town
	Keep         Mode = "keep"         // all
)

// minKey is how many bytes a key has at least.
const minKey = 16

// Policy says what is kept of an order. Its zero value drops all that is personal.
type Policy struct {
	mode Mode
	key  []byte
}

// New makes a policy. key is the key of the pseudonyms' hashes; the other modes need none.
func New(mode Mode, key []byte) (Policy, error) {
	switch mode {
	case Drop, Keep:
		return Policy{mode: mode}, nil
	case Pseudonymise:
		if len(key) < minKey {
			return Policy{}, fmt.Errorf("the key of pseudonyms has %d bytes, and at least %d are needed", len(key), minKey)
		}
		return Policy{mode, key}, nil
	}
	return Policy{}, fmt.Errorf("personal_data %q is none of %s, %s, %s", mode, Drop, Pseudonymise, Keep)
}

// Mode is what is kept.
func (p Policy) Mode() Mode {
	if p.mode == "" {
		return Drop
	}
	return p.mode
}

// Equal is true when two policies keep the same.
func (p Policy) Equal(o Policy) bool { return p.Mode() == o.Mode() && hmac.Equal(p.key, o.key) }

// CustomerKey is the pseudonym of a phone: the same for every way to write it. It is empty
// for a text without a digit.
func (p Policy) CustomerKey(phone string) string {
	number := normalise(phone)
	if number == "" {
		return ""
	}
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(number))
	return hex.EncodeToString(mac.Sum(nil))
}

// country is what a number begins with that names no country: Romania's.
const country = "40"

// normalise is a phone as digits, country first: the API's description takes any form of 6 to 40
// characters, and prefers the international one.
func normalise(phone string) string {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, phone)
	international := strings.HasPrefix(strings.TrimSpace(phone), "+")
	if rest, found := strings.CutPrefix(digits, "00"); found && !international {
		digits, international = rest, true
	}
	rest, national := strings.CutPrefix(digits, "0")
	switch {
	case national && !international:
		return country + rest
	case !international && len(digits) == romanian && strings.Contains("237", digits[:1]):
		return country + digits // without its 0
	}
	// "+40 (0) 722 …" is written, too.
	if rest, found := strings.CutPrefix(digits, country+"0"); found {
		return country + rest
	}
	return digits
}

// romanian is how many digits a Romanian number has without the 0 in front.
const romanian = 9
