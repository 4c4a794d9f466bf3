package app

import (
	"context"
	"errors"
	"time"

	"github.com/larder-sync/larder/internal/webhooks"
	"github.com/larder-sync/larder/syncer/list"
)

// bindWebhooks binds the listener of webhooks.
func (d *Daemon) bindWebhooks(ctx context.Context) error {
	address := d.app.Config.Webhooks.Listen
	if address == "" {
		return nil
	}
	var sources []string
	for name, keys := range d.app.keys {
		if keys.Secrets() != nil {
			sources = append(sources, name)
		}
	}
	d.receiver = webhooks.New(webhooks.Options{
		Secrets: d.secretsOf, Deliver: d.deliver, Logger: d.app.Log, Registerer: d.registry, Sources: sources, Detail: d.app.Config.Metrics.Detail,
	})
	var err error
	if d.webhooks, err = webhooks.Listen(ctx, address, d.receiver, d.app.Log); err != nil {
		return err
	}
	d.life.Add("webhooks", 12*time.Second, d.webhooks.Close)
	return nil
}

func (d *Daemon) secretsOf(source string) []string {
	d.mu.Lock()
	keys := d.current.keys[source]
	d.mu.Unlock()
	return keys.Secrets()
}

// errOpening means that nothing can be stored yet.
var errOpening = errors.New("the warehouse is being opened")

// deliver stores an order that a webhook has brought.
func (d *Daemon) deliver(ctx context.Context, source string, order []byte) (webhooks.Outcome, error) {
	d.mu.Lock()
	y := d.syncer
	d.mu.Unlock()
	if y == nil {
		return "", errOpening
	}
	what, err := y.Deliver(ctx, source, order)
	if err != nil {
		return "", err
	}
	return outcomes[what], nil
}

// outcomes are the names that metrics have for what became of an event.
var outcomes = map[list.Delivered]webhooks.Outcome{
	list.DeliveredStored: webhooks.Stored, list.DeliveredSame: webhooks.Repeated, list.DeliveredOlder: webhooks.Older,
	list.DeliveredLeftOut: webhooks.LeftOut, list.DeliveredBad: webhooks.Bad,
}
