// Package erase takes out of the warehouse what it holds of the people who ordered online, and
// is not to hold (DESIGN R14): after `larder forget`, and after personal_data has changed.
//
// What may live here: which stored versions hold too much, and what they are to hold. What may
// not: what is kept of an order that arrives (package personal), and how a warehouse writes
// its files anew (package sinks and what implements it).
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
}

// Erased counts what was taken out.
type Erased struct {
	Orders  []string // ids, in order
	Entries int      // of the quarantine
}

// Restore reads which orders are forgotten.
func (o Orders) Restore(ctx context.Context) error {
	ids, err := o.Store.Forgotten(ctx, o.Business)
	if err == nil && len(ids) > 0 {
		o.Forgotten.Add(ids...)
	}
	return err
}

// Exceeding is how many stored orders of a source hold more of their customers than a policy
// keeps.
func (o Orders) Exceeding(ctx context.Context, source string, p personal.Policy) (int, error) {
	ids := map[string]bool{}
	q := sinks.VersionQuery{Table: o.Table.Name, Business: o.Business, Source: source, Filled: o.columns(p)}
	if len(q.Filled) == 0 {
		return 0, nil
	}
	err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error { ids[v.ID] = true; return nil })
	return len(ids), err
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

// Settle has the versions that a source wrote hold what its policy keeps, and those of
// forgotten orders nothing of a person.
func (o Orders) Settle(ctx context.Context, source string, policy personal.Policy) (Erased, error) {
	var all Erased
	if policy.Mode() != personal.Keep {
		rows, err := o.rows(ctx, policy, sinks.VersionQuery{Source: source})
		if err != nil {
			return Erased{}, err
		}
		entries, err := o.entries(ctx, policy, sinks.VersionQuery{Source: source}, everyone)
		if err != nil {
			return Erased{}, err
		}
		all = Erased{rows, entries}
		if len(rows)+entries > 0 {
			if err := o.Store.EraseDrift(ctx, o.Business, source, o.Table.Name, nil); err != nil {
				return Erased{}, err
			}
		}
	}
	again, err := o.forgotten(ctx, o.Forgotten.All())
	return Erased{ordered(append(all.Orders, again.Orders...)), all.Entries + again.Entries}, err
}

// Forget erases what is held of the customers of orders: of those with the ids, and of those
// whose customer has the phone, written in any way. key is the pseudonym of the phone, empty
// where there is none. durable waits until what was handed to the sink before is stored.
func (o Orders) Forget(ctx context.Context, ids []string, phone, key string, durable func(context.Context) error) (Erased, error) {
	by := "order"
	if phone != "" {
		by = "phone"
	}
	of := func(raw []byte) bool {
		its, pseudonym := personal.CustomerOf(raw)
		return personal.SamePhone(its, phone) || key != "" && pseudonym == key
	}
	for {
		found, err := o.of(ctx, phone, of)
		if err != nil {
			return Erased{}, err
		}
		ids = ordered(append(ids, found...))
		fresh := slices.DeleteFunc(slices.Clone(ids), o.Forgotten.Has)
		if len(fresh) == 0 {
			break // nothing has come meanwhile that is theirs
		}
		if err := o.Store.Forget(ctx, o.Business, by, fresh); err != nil {
			return Erased{}, err
		}
		o.Forgotten.Add(fresh...)
		if err := durable(ctx); err != nil {
			return Erased{}, err
		}
	}
	erased, err := o.forgotten(ctx, ids)
	if err != nil || phone == "" {
		return erased, err
	}
	nameless, err := o.entries(ctx, personal.Policy{}, sinks.VersionQuery{}, of)
	erased.Entries += nameless
	return erased, err
}

// forgotten erases what is held of the customers of orders with these ids.
func (o Orders) forgotten(ctx context.Context, ids []string) (all Erased, err error) {
	for some := range slices.Chunk(ids, sinks.MaxRowIDs) {
		rows, err := o.rows(ctx, personal.Policy{}, sinks.VersionQuery{IDs: some})
		if err != nil {
			return Erased{}, err
		}
		entries, err := o.entries(ctx, personal.Policy{}, sinks.VersionQuery{IDs: some}, everyone)
		if err != nil {
			return Erased{}, err
		}
		if len(rows)+entries > 0 {
			if err := o.Store.EraseDrift(ctx, o.Business, "", o.Table.Name, some); err != nil {
				return Erased{}, err
			}
		}
		all.Orders, all.Entries = append(all.Orders, rows...), all.Entries+entries
	}
	return all, nil
}

// of are the ids of the orders of a customer, in rows and in the quarantine.
func (o Orders) of(ctx context.Context, phone string, of func(raw []byte) bool) (ids []string, err error) {
	if phone == "" {
		return nil, nil
	}
	for _, q := range []sinks.VersionQuery{{Filled: []string{"customer_phone", personal.CustomerKeyField}}, {Quarantine: true}} {
		q.Table, q.Business = o.Table.Name, o.Business
		err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error {
			if v.ID != "" && of(v.Raw) {
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

func everyone([]byte) bool { return true }

// atOnce is how many versions are in memory at once.
const atOnce = 4000

var errEnough = errors.New("enough versions")

// rows redacts the versions of rows that q selects and that hold more than a policy keeps,
// and returns their ids.
func (o Orders) rows(ctx context.Context, p personal.Policy, q sinks.VersionQuery) (ids []string, err error) {
	q.Table, q.Business = o.Table.Name, o.Business
	q.Filled = o.columns(p)
	r := sinks.Redaction{Table: q.Table, Business: q.Business, Null: q.Filled}
	for {
		r.Versions, r.Texts = nil, nil
		err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error {
			v.Raw = p.Stored(v.Raw)
			r.Versions = append(r.Versions, v)
			if len(r.Versions) == atOnce {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		if len(r.Versions) == 0 {
			return ordered(ids), nil
		}
		if p.Mode() == personal.Pseudonymise {
			r.Texts = map[string][]string{personal.CustomerKeyField: pseudonyms(r.Versions)}
		}
		if err := o.Store.Redact(ctx, r); err != nil {
			return nil, err
		}
		for _, v := range r.Versions {
			ids = append(ids, v.ID)
		}
	}
}

func pseudonyms(versions []sinks.RowVersion) (keys []string) {
	for _, v := range versions {
		_, key := personal.CustomerOf(v.Raw)
		keys = append(keys, key)
	}
	return keys
}

// entries redacts the quarantine entries that q selects, that are of a customer, and that
// hold more than a policy keeps; it returns how many.
func (o Orders) entries(ctx context.Context, p personal.Policy, q sinks.VersionQuery, of func(raw []byte) bool) (int, error) {
	q.Table, q.Business, q.Quarantine = o.Table.Name, o.Business, true
	r := sinks.Redaction{Table: q.Table, Business: q.Business, Quarantine: true}
	err := o.Store.Versions(ctx, q, func(v sinks.RowVersion) error {
		kept := p.Stored(v.Raw)
		if of(v.Raw) && string(kept) != string(v.Raw) {
			v.Raw = kept
			r.Versions = append(r.Versions, v)
		}
		return nil
	})
	if err != nil || len(r.Versions) == 0 {
		return 0, err
	}
	return len(r.Versions), o.Store.Redact(ctx, r)
}

// ordered are the ids in order, each once.
func ordered(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}
