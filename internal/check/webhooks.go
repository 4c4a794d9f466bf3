package check

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/status"
)

// checkWebhook makes the service send a ping to the webhook URL of a source's key, which the
// daemon answers, and reports the result.
func (c Checker) checkWebhook(ctx context.Context, s *config.Source, client *api.Client, scopes []string) Finding {
	if !slices.Contains(scopes, types.ScopeOrders) {
		return warn("Ask the restaurant for the scope, or remove webhook.secret_file.", "it takes webhooks, and its key lacks orders:write, without which there are none")
	}
	began := time.Now()
	result, err := client.TestWebhook(ctx)
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case api.IsAPIDisabled(err):
		return warn("", "webhooks were not tried: online ordering is switched off at the restaurant")
	case api.IsNoWebhook(err):
		return warn("Have the restaurant enter the public https address of webhooks.listen, with "+webhookPath+s.Name+" behind it.", "its key has no webhook URL")
	case err != nil:
		return warn("Try again in a minute.", "the service was asked for a ping: %v", err)
	}
	now, failed := c.Daemon(ctx)
	i := slices.IndexFunc(now.Sources, func(of status.SourceStatus) bool { return of.Name == s.Name })
	serves := failed == nil && !now.StartedAt.IsZero() && i >= 0 // else another shard's may
	said := fmt.Sprintf("the ping was not answered within %s", took)
	if result.HTTPStatus != nil {
		said = fmt.Sprintf("the ping was answered with %d", *result.HTTPStatus)
	}
	switch {
	case result.OK && serves && !now.Sources[i].LastPing.Before(began):
		return good("a ping came in by webhook, signed rightly, %s after it was asked for", took)
	case result.OK && serves: // somebody else answers anything
		return bad(lifecycle.ExitProblem, "The webhook URL of the key leads elsewhere: it must end with "+webhookPath+s.Name+", and the proxy or tunnel in front must pass that on to webhooks.listen.",
			"a ping was answered well, and did not come in here")
	case result.OK:
		return warn("", "a ping was answered well in %s, and no daemon can be asked here whether it took it", took)
	case (result.HTTPStatus == nil || *result.HTTPStatus >= 500) && !c.takesWebhooks(ctx): // a proxy in front answers 502 then
		return warn("Start larder run, and check again.", "%s: nobody listens at webhooks.listen (%s) yet", said, c.Warehouse.Config.Webhooks.Listen)
	}
	return bad(lifecycle.ExitProblem, adviceOn(s, result.HTTPStatus), "%s", said)
}

const webhookPath = "/webhooks/"

// adviceOn is what to do about a ping that was answered like this; nil is not at all.
func adviceOn(s *config.Source, status *int) string {
	switch {
	case status != nil && *status == http.StatusUnauthorized:
		return "Order events are refused as forged: put the webhook secret of this key into webhook.secret_file. If it is there, this machine's clock is wrong by minutes, or a proxy in front asks for a password."
	case status != nil && *status == http.StatusNotFound:
		return "The webhook URL of the key must end with " + webhookPath + s.Name + ", and larder run must have been started with this configuration."
	}
	return "Does the proxy or tunnel in front pass " + webhookPath + " on to webhooks.listen?"
}

// takesWebhooks reports whether a process listens at webhooks.listen.
func (c Checker) takesWebhooks(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", c.Warehouse.Config.Webhooks.Listen)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent on it
	return true
}
