package server

import (
	"context"
	"strconv"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// smallLoan is up to which a query is computed in small steps: by the engine's defaults a
// plain answer of a few columns takes 80 MiB, since every thread holds some blocks of
// 65,000 rows.
const smallLoan = 128 << 20

var smallSteps = map[string]string{"max_block_size": "8192", "max_threads": "2", "output_format_parallel_formatting": "0"}

// limitMemory gives a query the limit that it was lent, unless it came with a stricter
// one.
func (q *request) limitMemory(amount int64) error {
	const name = "max_memory_usage"
	if given, ok := q.settings[name]; ok {
		own, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' is no number", name)
		}
		if own > 0 {
			amount = min(amount, own)
		}
	}
	q.settings[name] = strconv.FormatInt(amount, 10)
	if amount > smallLoan {
		return nil
	}
	for step, value := range smallSteps {
		if _, given := q.settings[step]; !given {
			q.settings[step] = value
		}
	}
	return nil
}

// lendMemory lends a query its memory, until back is called.
func (h *handler) lendMemory(ctx context.Context, q *request) (back func(), err error) {
	var amount int64
	if h.rights == reading {
		amount, back, err = h.server.loans.Lend(ctx, h.server.patience, q.from)
	} else {
		amount, back, err = h.server.owner.Lend(ctx, h.server.patience)
	}
	if err != nil {
		return nil, err
	}
	if err := q.limitMemory(amount); err != nil {
		back()
		return nil, err
	}
	return back, nil
}
