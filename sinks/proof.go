package sinks

import (
	"fmt"
	"time"
)

// DayQuery selects mirrored orders for the totals of days (docs/rules.md, Proof).
type DayQuery struct {
	Business string
	From, To string // YYYY-MM-DD, both inclusive, Bucharest days
	// Location narrows to one location; empty for all that the rest selects.
	Location string
	// Whose rows, as in [LiveQuery].
	Source    string
	Locations []string
	Except    []string
	// Patient: the answer may take a second longer, to share a statement with others.
	Patient bool
}

// Figures are a day's figures by the API's names, as exact decimal text: counts
// without decimals, money with two, quantities with as many as they need. An entry of
// an open map is named "payments/cash". What is zero may be left out.
//
// The figures of a line of products are quantity, weight_kg, gross, line_discounts and
// net. Its gross is quantity x (unit price + extras), of each line rounded to two
// decimals half away from zero (docs/openapi.yaml, ProductSales). RoundedLines counts the lines
// whose gross another rounding could change: weighed ones, and those of more decimals.
type Figures map[string]string

// DayFigures are the figures of one day, or of one product's line of it.
type DayFigures struct {
	Day string
	// Line is empty for the day's totals; "p/<product_id>", or "n/<name>" for lines
	// without a product, for what was sold of it.
	Line    string
	Figures Figures
	// IDs are of [Sink.RemovedRefunds]: of the removed orders that have these refunds, up to
	// [MostRemoved] of each reason.
	IDs []string
}

// MostRemoved is how many removed orders are named.
const MostRemoved = 100

// RoundedLines is a figure of a line of products that the service does not report.
const RoundedLines = "rounded_lines"

// UnseenRefunds is a figure of [Sink.RemovedRefunds]: what orders that were removed on the day
// or the day after could have been refunded since their last known values, at most: what they
// cost, less their known refunds. Where the service does not say when an order was removed, that
// can have been on any day since those values. The figures beside it are named as reasons of removals.
const UnseenRefunds = "unseen refunds"

// MostUnseenDays is how many days before the removal was seen are such days, at most.
const MostUnseenDays = 366

// The subjects and the verdicts of a proof.
const (
	SubjectDaily    = "daily"    // the figures of /sales/daily
	SubjectProducts = "products" // those of /sales/products by day

	VerdictProven    = "proven"    // the mirror gives what the service reports
	VerdictHealed    = "healed"    // it differed, was repaired, and is proven now
	VerdictExplained = "explained" // it differs as the API's description leaves open, which is as good as proven
	VerdictDrift     = "drift"     // it differs, and fetching its orders anew did not help
	VerdictUnsettled = "unsettled" // still moving: to be asked again
	VerdictUnproven  = "unproven"  // could not be asked, or not be compared
	VerdictWithdrawn = "withdrawn" // none stands any more: the day is asked for in another way
)

// CheckVerdicts refuses verdicts that no warehouse can hold: those whose day is none.
func CheckVerdicts(verdicts []Verdict) error {
	for _, v := range verdicts {
		if _, err := time.Parse(time.DateOnly, v.Day); err != nil {
			return fmt.Errorf("a verdict about day %q: it must be YYYY-MM-DD: %w", v.Day, err)
		}
	}
	return nil
}

// Verdict is what a reconciliation found about one day. Key: (business, source,
// location, day, subject); the newest stands.
type Verdict struct {
	Location string `json:"location"` // empty: all locations of the source together
	Day      string `json:"day"`
	Subject  string `json:"subject"`
	Verdict  string `json:"verdict"`
	// Differences of a drift or an explained day, and of a healed day those it had before.
	Differences []Difference `json:"differences,omitempty"`
	OrderIDs    []string     `json:"order_ids,omitempty"` // involved in the difference, at most 100
	Requests    uint64       `json:"requests"`            // spent on the day
	Reason      string       `json:"reason,omitempty"`    // why it is explained, unproven or unsettled, in words
	// HealingTried: of a drift, or an explained day, that a full resync of the orders that began
	// after it was found did not help. No other one is owed until the day was right once.
	HealingTried bool `json:"healing_tried,omitempty"`
	// FoundVersion: of a day that differs, the version clock when this difference was found. A
	// full resync that begins above it reads what the difference may come from.
	FoundVersion uint64 `json:"-"`

	AskedAt time.Time `json:"asked_at"` // by the service's clock
}

// Difference is one figure that differs.
type Difference struct {
	Figure  string `json:"figure"` // as in [Figures]; of a product's line with the line in front: "p/42: net"
	Service string `json:"service"`
	Mirror  string `json:"mirror"`
}
