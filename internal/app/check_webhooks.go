package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
)

// checkWebhook has the service send a ping to the webhook URL of a source's key, which the
// daemon answers, and tells what came of it.
func (a checker) checkWebhook(ctx context.Context, s *config.Source, key config.Secret, me *api.Me) []Finding {
	if s.Webhook.SecretFile == "" || a.cfg.Webhooks.Listen == "" {
		return nil // the configuration's warnings say what is missing
	}
	if _, err := s.Webhook.Read(); err != nil {
		return []Finding{bad(ExitUsage, "", "source %s: webhook.secret_file: %v", s.Name, err)}
	}
	warn := func(advice, format string, args ...any) []Finding {
		return []Finding{{OK: true, warning: true, Advice: advice, Text: fmt.Sprintf("source %s: ", s.Name) + fmt.Sprintf(format, args...)}}
	}
	if !slices.Contains(me.Scopes, api.ScopeOrders) {
		return warn("Ask the restaurant for the scope, or remove webhook.secret_file.", "it takes webhooks, and its key lacks orders:write, without which there are none")
	}
	client, err := a.clientFor(s, key)
	if err != nil {
		return []Finding{bad(ExitUsage, "", "source %s: %v", s.Name, err)}
	}
	began := time.Now()
	result, err := client.TestWebhook(ctx)
	took := time.Since(began).Round(time.Millisecond)
	const path = "/webhooks/"
	switch {
	case api.IsAPIDisabled(err):
		return warn("", "webhooks were not tried: online ordering is switched off at the restaurant")
	case api.IsNoWebhook(err):
		return warn("Have the restaurant enter the public https address of webhooks.listen, with "+path+s.Name+" behind it.", "its key has no webhook URL")
	case err != nil:
		return warn("Try again in a minute.", "the service was asked for a ping: %v", err)
	case result.OK:
		return []Finding{good("source %s: a ping came in by webhook, signed rightly, %s after it was asked for", s.Name, took)}
	case result.HTTPStatus == nil:
		return []Finding{bad(ExitProblem, "Is larder run running, and does the proxy or tunnel in front pass "+path+" on to webhooks.listen?", "source %s: the ping was not answered within %s", s.Name, took)}
	}
	advice := "Does the proxy or tunnel in front pass " + path + " on to webhooks.listen?"
	switch *result.HTTPStatus {
	case http.StatusUnauthorized:
		advice = "The secret in webhook.secret_file is not that of this key, or this machine's clock is wrong by minutes."
	case http.StatusNotFound:
		advice = "The webhook URL of the key must end with " + path + s.Name + ", and larder run must have been started with this configuration."
	}
	return []Finding{bad(ExitProblem, advice, "source %s: the ping was answered with %d", s.Name, *result.HTTPStatus)}
}
