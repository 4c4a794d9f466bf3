package sinktest

import (
	"math/big"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// soldOrder is a sales order in words; what is empty is zero, or null where that can
// be.
type soldOrder struct {
	id, source, location, kind, channel string

	day      string
	version  uint64
	totals   map[string]string // columns
	payments []map[string]string
	refunds  []map[string]string
	items    []soldItem
}

type soldItem struct {
	words  map[string]string // by the name in the API
	extras []string          // prices
}

// sell makes a commit of one order of the usual business.
func sell(h Harness, o soldOrder) *sinks.Commit {
	b := sinks.NewBatch(h.Tables["sales_orders"], 1)
	for i := range b.Vectors {
		o.fill(&b.Vectors[i])
	}
	mustEnd(b, row(o.id, o.version))
	return &sinks.Commit{Source: o.source, Business: business, Stream: "sales_orders", Batch: b}
}

func (o soldOrder) fill(v *sinks.Vector) {
	name := v.Column.Name
	object := objectOf(name)
	if object == name {
		own := map[string]string{"location_id": o.location, "type": o.kind, "channel": o.channel, "business_day": o.day}
		appendWord(v, own[name]+o.totals[name])
		return
	}
	name = name[len(object)+1:]
	switch object {
	case "items":
		for _, item := range o.items {
			item.fill(v, name)
		}
	case "payments":
		appendWords(v, name, o.payments)
	case "refunds":
		appendWords(v, name, o.refunds)
	}
	v.EndList(0)
}

func (i soldItem) fill(v *sinks.Vector, name string) {
	switch name {
	case "extras_name", "extras_price":
		for _, price := range i.extras {
			appendWord(v, price)
		}
		v.EndList(1)
	default:
		appendWord(v, i.words[name])
	}
}

func appendWords(v *sinks.Vector, name string, rows []map[string]string) {
	for _, words := range rows {
		appendWord(v, words[name])
	}
}

// appendWord appends a value given as text.
func appendWord(v *sinks.Vector, word string) {
	if word == "" {
		v.AppendZero()
		return
	}
	switch v.Column.Kind {
	case sinks.Text:
		v.AppendText([]byte(word))
	case sinks.Money:
		v.AppendInt(tenths(word, 2).Int64())
	case sinks.Quantity:
		v.AppendWide(wide(tenths(word, 10).String()))
	case sinks.Day:
		v.AppendInt(parsed(time.DateOnly, word).Unix() / 86400)
	default:
		v.AppendInt(parsed(time.RFC3339, word).UnixMicro())
	}
}

func parsed(layout, word string) time.Time {
	at, err := time.Parse(layout, word)
	if err != nil {
		panic(err)
	}
	return at
}

// tenths is a decimal as an integer of its last decimal.
func tenths(word string, places int) *big.Int {
	n := rat(word)
	n.Mul(n, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	if !n.IsInt() {
		panic("too many decimals: " + word)
	}
	return n.Num()
}

func rat(word string) *big.Rat {
	n, ok := new(big.Rat).SetString(word)
	if !ok {
		panic("not a number: " + word)
	}
	return n
}
