package api

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/internal/api/types"
)

// SalesQuery selects the days of the two sales aggregates, Bucharest days,
// inclusive, at most 92 (docs/openapi.yaml, to).
type SalesQuery struct {
	From, To   types.Date
	LocationID string // empty: every location the key may use
	ByDay      bool   // /sales/products: one row per product and day
}

// SalesReport is the answer of a sales aggregate.
type SalesReport struct {
	Rows     []Raw // [types.SalesDay] or [types.ProductSales] each
	Totals   Raw   // a Breakdown; /sales/daily only
	Currency string
	Received
}

// SalesDaily asks for the totals of each day of a range. Heavy.
func (c *Client) SalesDaily(ctx context.Context, q SalesQuery) (SalesReport, error) {
	return report(ctx, c, routeSalesDaily, q.encoded(""))
}

// SalesProducts asks for what each product sold in a range. Heavy.
func (c *Client) SalesProducts(ctx context.Context, q SalesQuery) (SalesReport, error) {
	group := ""
	if q.ByDay {
		group = "day"
	}
	return report(ctx, c, routeSalesProducts, q.encoded(group))
}

func (q SalesQuery) encoded(group string) query {
	return query("").with("from", string(q.From)).with("group_by", group).with("location_id", q.LocationID).with("to", string(q.To))
}

func report(ctx context.Context, c *Client, r route, asked query) (SalesReport, error) {
	s, k, err := get(ctx, c, target{route: r}, asked, func(body []byte) (SalesReport, error) { return parseReport(body, r == routeSalesDaily) })
	k.Release()
	s.Received = k.Received
	return s, err
}

// totals reads the totals of a report as a piece of the body; without a body nobody asks for them.
type totals struct {
	body []byte
	raw  Raw
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (t *totals) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	switch {
	case t.body == nil:
		return d.SkipValue()
	case t.raw != nil:
		return twice(d)
	}
	t.raw, err = piece(d, t.body)
	return err
}

func parseReport(body []byte, daily bool) (s SalesReport, err error) {
	v := struct {
		Currency single[string] `json:"currency"`
		Data     rows           `json:"data"`
		Totals   totals         `json:"totals"`
	}{Data: rows{body: body, most: maxReportRows}}
	if daily {
		v.Totals.body = body
	}
	err = parseObject(body, &v)
	switch {
	case err != nil:
		return s, err
	case v.Data.list == nil:
		return s, errNoData
	case daily && jsontext.Value(v.Totals.raw).Kind() != '{':
		return s, shapeWrong(0, `"totals" is not an object`)
	}
	return SalesReport{Rows: v.Data.list, Totals: v.Totals.raw, Currency: v.Currency.value}, nil
}
