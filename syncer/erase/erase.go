// Package erase takes out of the warehouse what it holds of the people who ordered online, and
// is not to hold (docs/rules.md R14): after `larder forget`, and after personal_data has changed.
//
// Contents: which stored versions hold too much, and what they are to hold.
//
// # What holds
//
//   - Erasing is of every stored version: superseded ones, tombstones, quarantine entries,
//     examples of unknown fields.
//   - What was begun and not finished is found again at the next start: an order is noted as
//     forgotten before anything of it is erased.
//   - An order that is forgotten stays so: what a walk, a webhook or a resync brings of it later
//     is stored without its customer.
package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
)

// Orders are the online orders of a restaurant in the warehouse.
type Orders struct {
	Store    sinks.Personal
	Table    *sinks.Table // the stream's
	Business string
	// Forgotten are those of which nothing is kept.
	Forgotten *personal.Forgotten
	Log       *slog.Logger
}

// Erased counts what was taken out.
type Erased struct {
	Orders  []string // ids, in order
	Entries int      // of the quarantine
}

// Restore reads which orders are forgotten.
func (o Orders) Restore(ctx context.Context) error {
	ids, err := o.Store.Forgotten(ctx, o.Business)
	if err != nil || len(ids) == 0 {
		return err
	}
	return o.Forgotten.Add(ctx, ids...)
}

// Exceeding is how many stored orders of a source hold more of their customers than a policy
// keeps.
func (o Orders) Exceeding(ctx context.Context, source string, p personal.Policy) (int, error) {
	columns := o.columns(p)
	if len(columns) == 0 {
		return 0, nil
	}
	return o.Store.CountFilled(ctx, o.Table.Name, o.Business, source, columns)
}

// columns are those whose values a policy does not keep.
func (o Orders) columns(p personal.Policy) (names []string) {
	for _, c := range o.Table.Columns {
		if c.Nullable && !p.KeepsColumn(c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Settle has the versions that a source wrote hold what its policy keeps, if what is beyond that
// is to be erased, and those of forgotten orders nothing of a person.
func (o Orders) Settle(ctx context.Context, source string, policy personal.Policy, erases bool) (all Erased, err error) {
	if err := o.Store.Recover(ctx); err != nil {
		return Erased{}, err
	}
	n, err := o.Exceeding(ctx, source, policy)
	if err != nil {
		return Erased{}, err
	}
	switch {
	case n > 0 && !erases: // a deleted line of the configuration erases nothing
		o.Log.Warn("stored orders hold more of their customers than personal_data keeps, which nobody has set: set it to drop to have that erased, or to what it was", "orders", n)
	case n > 0:
		o.Log.Warn("stored orders hold more of their customers than personal_data keeps: it is erased now", "orders", n, "personal_data", policy.Mode())
		err = o.erase(ctx, policy, sinks.VersionQuery{Source: source}, &all)
	case erases && policy.Mode() != personal.Keep:
		err = o.redact(ctx, policy, sinks.VersionQuery{Source: source, Quarantine: true}, beyond(policy), &all)
	}
	if err == nil {
		err = o.forgotten(ctx, &all)
	}
	if err == nil && len(all.Orders)+all.Entries > 0 {
		o.Log.Info("what is not to be kept of customers was erased", "orders", len(all.Orders), "quarantined", all.Entries)
	}
	return all, err
}

// Forget erases what is held of the customers of orders: of those with the ids, and of those
// whose customer has the phone, written in any way. key is the pseudonym of the phone, empty
// where there is none. durable waits until what was handed to the sink before is stored.
func (o Orders) Forget(ctx context.Context, ids []string, phone, key string, durable func(context.Context) error) (all Erased, err error) {
	by := "order"
	if phone != "" {
		by = "phone"
	}
	theirs := func(raw []byte) bool {
		its, pseudonym := personal.CustomerOf(raw)
		return personal.SamePhone(its, phone) || key != "" && pseudonym == key
	}
	for {
		if err := durable(ctx); err != nil {
			return Erased{}, err
		}
		if phone != "" {
			found, err := o.ordersWith(ctx, theirs)
			if err != nil {
				return Erased{}, err
			}
			ids = append(ids, found...)
		}
		fresh := slices.DeleteFunc(ordered(ids), o.Forgotten.Has)
		if len(fresh) == 0 {
			break // nothing has come meanwhile that is theirs
		}
		if err := o.Store.Forget(ctx, o.Business, by, fresh); err != nil {
			return Erased{}, err
		}
		if err := o.Forgotten.Add(ctx, fresh...); err != nil {
			return Erased{}, err
		}
	}
	// Those of before, too: one that was begun may have been cut short.
	if err = o.forgotten(ctx, &all); err == nil && phone != "" { // and entries without an id
		more := beyond(personal.Policy{})
		err = o.redact(ctx, personal.Policy{}, sinks.VersionQuery{Quarantine: true}, func(raw []byte) bool { return theirs(raw) && more(raw) }, &all)
	}
	return all, err
}

// ordersWith are the ids of the orders of a customer, in rows and in the quarantine.
func (o Orders) ordersWith(ctx context.Context, theirs func(raw []byte) bool) (ids []string, err error) {
	for _, q := range []sinks.VersionQuery{{Filled: []string{"customer_phone", personal.CustomerKeyField}}, {Quarantine: true}} {
		q.Table, q.Business = o.Table.Name, o.Business
		err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error {
			if v.ID != "" && theirs(v.Raw) {
				ids = append(ids, v.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// forgotten erases what is held of the customers of the orders that are forgotten.
func (o Orders) forgotten(ctx context.Context, all *Erased) error {
	for some := range slices.Chunk(o.Forgotten.All(), sinks.MaxRowIDs) {
		if err := o.erase(ctx, personal.Policy{}, sinks.VersionQuery{IDs: some}, all); err != nil {
			return err
		}
	}
	all.Orders = ordered(all.Orders)
	return nil
}

// erase redacts all that q selects and that holds more than a policy keeps. Examples of unknown
// fields go first: what is to go beside them is found again after a crash, and they are not.
func (o Orders) erase(ctx context.Context, p personal.Policy, q sinks.VersionQuery, all *Erased) error {
	if err := o.Store.EraseDrift(ctx, o.Business, q.Source, o.Table.Name, q.IDs); err != nil {
		return err
	}
	filled, entries := q, q
	filled.Filled, entries.Quarantine = o.columns(p), true
	if err := o.redact(ctx, p, filled, func([]byte) bool { return true }, all); err != nil {
		return err
	}
	if err := o.redact(ctx, p, q, beyond(p), all); err != nil { // what stands in the JSON alone: fields that nobody knows
		return err
	}
	return o.redact(ctx, p, entries, beyond(p), all)
}

// beyond reports whether JSON holds more than a policy keeps.
func beyond(p personal.Policy) func(raw []byte) bool {
	return func(raw []byte) bool { return len(raw) > 0 && string(p.Stored(raw)) != string(raw) }
}

// What is in memory at once at most.
const (
	versionsAtOnce = 4000
	bytesAtOnce    = 16 << 20
)

var errEnough = errors.New("enough versions")

// redact redacts the versions that q selects and that hold too much, some at a time, until
// there are none, and adds them to what was erased.
func (o Orders) redact(ctx context.Context, p personal.Policy, q sinks.VersionQuery, tooMuch func(raw []byte) bool, all *Erased) error {
	q.Table, q.Business = o.Table.Name, o.Business
	var first sinks.RowVersion // of the last time
	for {
		r := sinks.Redaction{Table: q.Table, Business: q.Business, Quarantine: q.Quarantine}
		if !q.Quarantine {
			r.Null = o.columns(p)
		}
		var keys []string
		size := 0
		err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error {
			removed := len(v.Tombstone) > 0
			if !tooMuch(v.Raw) && (!removed || !tooMuch(v.Tombstone)) {
				return nil
			}
			v.Raw = p.Stored(v.Raw)
			if removed {
				v.Tombstone = p.Stored(v.Tombstone)
			}
			_, key := personal.CustomerOf(v.Raw)
			r.Versions, keys, size = append(r.Versions, v), append(keys, key), size+len(v.Raw)+len(v.Tombstone)
			if len(r.Versions) >= versionsAtOnce || size > bytesAtOnce {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if len(r.Versions) == 0 {
			return nil
		}
		if now := r.Versions[0]; now.ID == first.ID && now.Source == first.Source && now.Version == first.Version {
			return fmt.Errorf("%s %q still holds what was taken out of it", q.Table, now.ID)
		}
		first = r.Versions[0]
		if p.Mode() == personal.Pseudonymise && !q.Quarantine {
			r.Texts = map[string][]string{personal.CustomerKeyField: keys}
		}
		if err := o.Store.Redact(ctx, r); err != nil {
			return err
		}
		if q.Quarantine {
			all.Entries += len(r.Versions)
			continue
		}
		for _, v := range r.Versions {
			all.Orders = append(all.Orders, v.ID)
		}
	}
}

// ordered are the ids in order, each once.
func ordered(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }
