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
	var result types.WebhookTest
	answer, err := c.get(ctx, routeWebhookTest.to(), nil, func(body []byte) error { return parseObject(body, &result) })
	if err != nil {
		return types.WebhookTest{}, err
	}
	answer.release()
	return result, nil
}

// IsNoWebhook is true when a key has no webhook URL.
func IsNoWebhook(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusConflict && e.Code == "webhook_not_configured"
}
