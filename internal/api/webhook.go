package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/larder-sync/larder/internal/api/types"
)

// TestWebhook has the service send a ping to the key's webhook URL, and waits for what comes
// of it, ten seconds at most (docs/openapi.yaml, webhooks). Of a key without a URL it is an [*Error]
// webhook_not_configured.
func (c *Client) TestWebhook(ctx context.Context) (types.WebhookTest, error) {
	_, k, err := get(ctx, c, target{route: routeWebhookTest}, nil, func(body []byte) (Raw, error) { return body, parseObject(body, &struct{}{}) })
	defer k.Release()
	var result types.WebhookTest // read here, once: another attempt would be another ping
	if err != nil {
		return result, err
	}
	if shape, ok := errors.AsType[*BodyError](parseObject(k.body, &result)); ok {
		return types.WebhookTest{}, k.bodyError(shape)
	}
	return result, nil
}

// IsNoWebhook is true when a key has no webhook URL.
func IsNoWebhook(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusConflict && e.Code == "webhook_not_configured"
}
