package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/erase"
	"github.com/larder-sync/larder/syncer/registry"
)

// ForgetRequest says whose personal data is erased: that of the customers of Orders, by id,
// and of the customer with the Phone, at the restaurant of the Source.
type ForgetRequest struct {
	Source string
	Orders []string `json:",omitempty"`
	Phone  string   `json:",omitempty"`
	// CustomerKey is the pseudonym of Phone; empty where there is no key to make it with.
	CustomerKey string `json:",omitempty"`
}

// Check returns an error that says what the request lacks.
func (r ForgetRequest) Check() error {
	switch {
	case r.Source == "":
		return errors.New("name the source whose restaurant it is: --source")
	case (r.Phone == "") == (len(r.Orders) == 0):
		return errors.New("name either the customer's phone (--phone) or orders (--order)")
	case r.Phone != "" && !personal.SamePhone(r.Phone, r.Phone):
		return errors.New("--phone has no digit in it")
	case slices.Contains(r.Orders, ""):
		return errors.New("--order is empty")
	}
	return nil
}

// LogValue is what may be said of a request: no phone.
func (r ForgetRequest) LogValue() slog.Value {
	said := []slog.Attr{slog.String("source", r.Source)}
	if len(r.Orders) > 0 {
		said = append(said, slog.Any("orders", r.Orders))
	}
	return slog.GroupValue(append(said, slog.Bool("by_phone", r.Phone != ""))...)
}

// ForgetReport is what was erased.
type ForgetReport struct {
	Business string
	Orders   []string // ids of orders of which something was erased
	Entries  int      // quarantine entries likewise
	Detached int      // parts that lie aside and may hold anything: they were left alone
}

// Forget erases what the warehouse holds of a person, in all that is stored of orders and in
// its files, and keeps it out: what the API says of those orders later is stored without it.
// It needs no key, and may run beside [Syncer.Run].
func (y *Syncer) Forget(ctx context.Context, r ForgetRequest) (report ForgetReport, err error) {
	if err := r.Check(); err != nil {
		return ForgetReport{}, err
	}
	sources, err := y.selected(Selection{Sources: []string{r.Source}})
	if err != nil {
		return ForgetReport{}, err
	}
	var failed error
	err = y.pass(ctx, sources, pass{
		held: true,
		visit: func(ctx context.Context, _ int, s *source) (err error) {
			if err := y.readBusinesses(ctx); err != nil {
				return err
			}
			if report.Business = cmp.Or(s.Business(), (*y.mirrored.Load())[s.Name]); report.Business == "" {
				return errors.New("nothing of it is mirrored yet")
			}
			o := y.onlineOrders(report.Business, s.Log)
			if err := errors.Join(o.Store.Recover(ctx), o.Restore(ctx)); err != nil {
				return err
			}
			erased, err := o.Forget(ctx, r.Orders, r.Phone, r.CustomerKey, func(ctx context.Context) error { // commits become durable in their order
				return s.Commits.Store(ctx, &sinks.Commit{Source: s.Name, Business: report.Business, Stream: registry.Online, Fence: s.fence})
			})
			if err != nil {
				return err
			}
			s.Log.Info("what is stored of a customer was erased", "orders", erased.Orders, "quarantined", erased.Entries, "by_phone", r.Phone != "")
			report.Orders, report.Entries = erased.Orders, erased.Entries
			report.Detached, err = o.Store.Detached(ctx, o.Table.Name)
			return err
		},
		ended: func(_ int, _ string, err error) {
			if err != nil {
				failed = fmt.Errorf("source %s: %w", r.Source, err)
			}
		},
	})
	return report, errors.Join(err, failed)
}

// onlineOrders are those of a restaurant in the warehouse.
func (y *Syncer) onlineOrders(business string, log *slog.Logger) erase.Orders {
	forgotten, _ := y.forgotten.LoadOrStore(business, personal.NewForgotten())
	return erase.Orders{Store: y.opts.Sink.Personal(), Table: onlineTable(y.definitions), Business: business, Forgotten: forgotten.(*personal.Forgotten), Log: log}
}

// onlineTable is the table of online orders, which is always there.
func onlineTable(all []*registry.Definition) *sinks.Table {
	i := slices.IndexFunc(all, func(d *registry.Definition) bool { return d.Name == registry.Online })
	return all[i].Plan.Table()
}

// HoldingMore is how many stored orders of a source hold more of their customers than a policy
// keeps: what is erased when the source is next served.
func HoldingMore(ctx context.Context, sink sinks.Sink, business, source string, p personal.Policy) (int, error) {
	return erase.Orders{Store: sink.Personal(), Table: onlineTable(registry.All()), Business: business}.Exceeding(ctx, source, p)
}

// readForgotten reads which orders are forgotten.
func (s *source) readForgotten(ctx context.Context, business string) error {
	o := s.syncer.onlineOrders(business, s.Log)
	if err := o.Restore(ctx); err != nil {
		return err
	}
	s.forgotten, s.online.Forgotten = o.Forgotten, o.Forgotten
	return nil
}

// keeps is what is kept of an order that the service has sent.
func (s *source) keeps(order []byte) []byte {
	return s.forgotten.Order(s.cfg.Personal.Order(order))
}
