package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/larder-sync/larder/internal/api/types"
)

// TestWebhook has the service send a ping to the key's webhook URL, and waits for what comes
// of it, ten seconds at most (api.md, "Webhooks"). Of a key without a URL it is an [*Error]
// webhook_not_configured.
func (c *Client) TestWebhook(ctx context.Context) (types.WebhookTest, error) {
	answer, err := c.get(ctx, routeWebhookTest.to(), nil, anyObject)
	if err != nil {
		return types.WebhookTest{}, err
	}
	defer answer.release()
	var result types.WebhookTest // read here, once: another attempt would be another ping
	if shape, ok := errors.AsType[*shapeError](parseObject(answer.body, &result)); ok {
		return types.WebhookTest{}, answer.bodyError(shape)
	}
	return result, nil
}

// IsNoWebhook is true when a key has no webhook URL.
func IsNoWebhook(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusConflict && e.Code == "webhook_not_configured"
}
