package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/native"
)

var forgottenTable = &sinks.Table{Name: "forgotten_orders", Columns: []sinks.Column{
	{Name: "business_id"}, {Name: "order_id"}, {Name: "chosen_by"}, {Name: "forgotten_at", Kind: sinks.Instant},
}}

// Forgotten implements [sinks.Personal].
func (p *personalData) Forgotten(ctx context.Context, business string) ([]string, error) {
	ids, err := p.forgottenOrders.ask(ctx, "", business)
	if err != nil {
		return nil, fmt.Errorf("read which orders are forgotten: %w", err)
	}
	return ids, nil
}

func (p *personalData) readForgotten(ctx context.Context, _ string, businesses []string) ([][]string, error) {
	ids := map[string][]string{}
	sql := "SELECT DISTINCT business_id, order_id FROM " + p.warehouse.Table(forgottenTable.Name) + " WHERE business_id IN (" + literals(businesses) + ")"
	err := p.warehouse.Rows(longStatement(ctx), sql, func(rows driver.Rows) error {
		var business, id string
		err := rows.Scan(&business, &id)
		ids[business] = append(ids[business], id)
		return err
	})
	answers := make([][]string, len(businesses))
	for i, b := range businesses {
		answers[i] = ids[b]
	}
	return answers, err
}

// Forget implements [sinks.Personal].
func (p *personalData) Forget(ctx context.Context, business, by string, ids []string) error {
	if p.warehouse.Cluster != "" { // what is noted is erased at each start
		return errNoCluster
	}
	types, err := p.warehouse.Columns(ctx, forgottenTable.Name)
	if err != nil {
		return err
	}
	batch, now := sinks.NewBatch(forgottenTable, len(ids)), time.Now()
	for _, id := range ids {
		if err := appendRow(batch, business, id, by, now); err != nil {
			return err
		}
	}
	b, err := native.PlainBlock(types, batch)
	if err != nil {
		return err
	}
	if _, err := p.warehouse.Insert(ctx, b); err != nil {
		return fmt.Errorf("note which orders are forgotten: %w", err)
	}
	return nil
}
