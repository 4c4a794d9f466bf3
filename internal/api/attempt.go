package api

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// attempt is one attempt: through the gate, out, and the whole body in.
func (k *call) attempt(req *http.Request) (*http.Response, error) {
	k.Received, k.answer, k.err, k.verdict = Received{}, answer{}, nil, Verdict{Limit: -1, Remaining: -1}
	asked := time.Now()
	leave := func(Verdict) {}
	if k.client.gate != nil {
		var err error
		if leave, err = k.client.gate.Enter(req.Context(), k.target.heavy); err != nil {
			k.barred = err
			return nil, err
		}
	}
	k.attempts++
	sent, route, opts := time.Now(), k.target.name(), &k.client.opts
	resp, err := k.send(req, leave)
	k.err = err
	opts.Observe(route, k.verdict.Status)
	if !opts.Logger.Enabled(req.Context(), slog.LevelDebug) {
		return resp, err
	}
	about := []any{"route", route, "attempt", k.attempts, "status", k.verdict.Status, "waited", sent.Sub(asked), "took", time.Since(sent)}
	if err != nil {
		opts.Logger.Debug("no usable answer", append(about, "err", scrub(err, k.key))...)
	} else {
		opts.Logger.Debug("answer", append(about, "bytes", len(k.body))...)
	}
	return resp, err
}

// send sends the request and takes the answer in. The gate is left as soon as
// the headers are here: by then the service has counted the request.
func (k *call) send(req *http.Request, leave func(Verdict)) (*http.Response, error) {
	ctx, phases := watch(req.Context(), k.client.opts.Timeouts)
	defer phases.cancel(nil)
	headers, err := k.headers()
	if err != nil {
		leave(k.verdict)
		return nil, err
	}
	out := req.WithContext(ctx)
	out.Header = headers
	if c := k.client; !k.target.post && (c.base.Scheme == "http" || c.proto.Load() == 1) { // HTTP/1: a first request over TLS may have either
		out.Body, out.TransferEncoding = once{}, identity
	}
	answered := phases.within(phaseHeader, k.client.opts.Timeouts.Header)
	resp, err := k.client.opts.Transport.RoundTrip(out)
	answered()
	if err != nil {
		leave(k.verdict)
		return nil, phases.blame(err)
	}
	k.client.proto.Store(int32(resp.ProtoMajor))
	k.verdict = readVerdict(resp, time.Now())
	leave(k.verdict)
	defer resp.Body.Close()
	if err := k.take(resp, phases); err != nil {
		return nil, phases.blame(err)
	}
	resp.Body = http.NoBody
	return resp, nil
}

// once is an empty body that cannot be had again. Without a body, net/http sends
// a request again by itself when a connection in use breaks before the answer:
// past the gate, though the service may have counted it. Over HTTP/1 it leaves no
// trace on the wire. HTTP/2 would send an empty frame, and needs none of this: it
// sends again only what the service says it has not looked at.
type once struct{}

func (once) Read([]byte) (int, error)         { return 0, io.EOF }
func (once) WriteTo(io.Writer) (int64, error) { return 0, nil }
func (once) Close() error                     { return nil }

// identity keeps net/http from starting a goroutine that reads [once] to find out whether there is a body.
var identity = []string{"identity"}

// Values of headers that all requests share; nobody changes them.
var (
	acceptJSON = []string{"application/json"}
	acceptGzip = []string{"gzip"}
)

// headers returns the headers of an attempt, with the key as it is now.
func (k *call) headers() (http.Header, error) {
	k.key = k.client.opts.Key()
	if k.key == "" {
		return nil, errNoKey
	}
	if strings.ContainsFunc(k.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errBadKey
	}
	h := http.Header{
		"Accept": acceptJSON, "Accept-Encoding": acceptGzip, "User-Agent": {k.client.opts.UserAgent}, "Authorization": {"Bearer " + k.key},
	}
	if k.target.unless != "" {
		h.Set("If-None-Match", k.target.unless)
	}
	return h, nil
}

var (
	errNoKey  = errors.New("the key is empty")
	errBadKey = errors.New("the key has characters that no header can carry (a line break at its end?)")
)

// take reads the answer whole, and a 200 to its meaning. The status line of a refusal counts, and
// of its body the beginning is enough, or what can be read of it.
func (k *call) take(resp *http.Response, p *phases) (err error) {
	k.Received = Received{Date: k.verdict.Date}
	k.answer = answer{
		status:      resp.StatusCode,
		contentType: brief(redact(resp.Header.Get("Content-Type"), k.key)),
		location:    resp.Header.Get("Location"),
		etag:        entityTag(resp.Header),
	}
	refused := resp.StatusCode != http.StatusOK
	rd := &reading{limit: cmp.Or(k.target.most, mostOfList), cut: refused, tenant: k.client.tenant, phases: p}
	if refused {
		rd.limit = min(rd.limit, maxRefusal)
	}
	k.body, k.hold, err = rd.body(resp)
	media, _, _ := strings.Cut(k.contentType, ";")
	switch {
	case err != nil || refused:
	case strings.EqualFold(strings.TrimSpace(media), "text/html"):
		err = &BodyError{Kind: BodyHTML, Reason: "it is HTML, not JSON"}
	default:
		err = k.parse(k.body)
	}
	if shape, ok := errors.AsType[*BodyError](err); ok {
		err = k.bodyError(shape)
	}
	if err != nil || refused {
		k.Release()
	}
	return err
}
