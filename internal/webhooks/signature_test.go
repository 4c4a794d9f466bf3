package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"
)

const secret = "whsec_0123456789"

func sign(secret string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return hex.EncodeToString(mac.Sum(nil))
}

func header(secret string, at time.Time, body string) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), sign(secret, at, body))
}

// The example was computed with openssl: printf '1767254400.{"id":"evt_1"}' | openssl dgst
// -sha256 -hmac whsec_0123456789.
func TestASignatureComputedElsewhere(t *testing.T) {
	const v1 = "c8be12c36987701853d7fefdbaa0b27613bc850a181983f0dba74db9daa8362e"
	if !signed("t=1767254400,v1="+v1, []byte(`{"id":"evt_1"}`), []string{secret}, time.Unix(1767254400, 0)) {
		t.Errorf("not taken; ours is %s", sign(secret, time.Unix(1767254400, 0), `{"id":"evt_1"}`))
	}
}

func TestSignatures(t *testing.T) {
	now, body := time.Unix(1767254400, 0), `{"id":"evt_1"}`
	good := sign(secret, now, body)
	at := fmt.Sprintf("t=%d", now.Unix())
	for name, c := range map[string]struct {
		header  string
		secrets []string
		holds   bool
	}{
		"good":                      {at + ",v1=" + good, []string{secret}, true},
		"with spaces":               {at + ", v1=" + good, []string{secret}, true},
		"the other way round":       {"v1=" + good + "," + at, []string{secret}, true},
		"the second secret":         {at + ",v1=" + good, []string{"old", secret}, true},
		"the second v1":             {at + ",v1=" + strings.Repeat("0", 64) + ",v1=" + good, []string{secret}, true},
		"with fields to come":       {at + ",v0=x,v1=" + good + ",v2=y", []string{secret}, true},
		"another secret":            {at + ",v1=" + good, []string{"other"}, false},
		"an empty secret":           {at + ",v1=" + sign("", now, body), []string{""}, false},
		"no secret":                 {at + ",v1=" + good, nil, false},
		"no time":                   {"v1=" + good, []string{secret}, false},
		"two times":                 {at + "," + at + ",v1=" + good, []string{secret}, false},
		"a time that is none":       {"t=now,v1=" + good, []string{secret}, false},
		"a time in another form":    {"t=+1767254400,v1=" + good, []string{secret}, false},
		"another time":              {"t=1767254401,v1=" + good, []string{secret}, false},
		"no signature":              {at, []string{secret}, false},
		"nothing":                   {"", []string{secret}, false},
		"cut short":                 {at + ",v1=" + good[:62], []string{secret}, false},
		"capital letters":           {at + ",v1=" + strings.ToUpper(good), []string{secret}, false},
		"a bit flipped":             {at + ",v1=" + flip(good), []string{secret}, false},
		"too many before it":        {at + strings.Repeat(",v1="+strings.Repeat("0", 64), maxSignatures) + ",v1=" + good, []string{secret}, false},
		"of the body alone":         {at + ",v1=" + bare(secret, body), []string{secret}, false},
		"as stale as may be":        {header(secret, now.Add(-tolerance), body), []string{secret}, true},
		"as far ahead as may be":    {header(secret, now.Add(tolerance), body), []string{secret}, true},
		"stale":                     {header(secret, now.Add(-tolerance-time.Second), body), []string{secret}, false},
		"ahead":                     {header(secret, now.Add(tolerance+time.Second), body), []string{secret}, false},
		"a time at the other end":   {"t=-9223372036854775808,v1=" + good, []string{secret}, false},
		"a time beyond all numbers": {"t=99999999999999999999,v1=" + good, []string{secret}, false},
	} {
		if signed(c.header, []byte(body), c.secrets, now) != c.holds {
			t.Errorf("%s: holds %v", name, !c.holds)
		}
	}
	if signed(at+",v1="+good, []byte(body+" "), []string{secret}, now) {
		t.Error("holds for another body")
	}
}

func flip(sum string) string {
	if sum[0] == '0' {
		return "1" + sum[1:]
	}
	return "0" + sum[1:]
}

func bare(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}
