package sandbox

// rangeWalk is range mode of /sales/orders.
type rangeWalk struct {
	from, to dayNumber
	deleted  bool // include_deleted
}

// listOrders answers one of the two modes of /sales/orders; both at once is 422.
func (rq *request) listOrders() *apiError {
	q := rq.q
	l := listing{limit: rq.pageRows()}
	l.since, l.mirror = q.instant("updated_since")
	l.tombstones, _ = q.flag("include_deleted")
	at := rq.cursor()
	l.after = at.pos
	if l.mirror {
		for _, f := range []string{"from", "to"} {
			if q.has(f) {
				q.bad.add(f, "Use either from and to, or updated_since.")
			}
		}
	}
	w := rangeWalk{deleted: l.tombstones}
	if !l.mirror {
		w.from, w.to = q.days(rq.b.cal.day(rq.now), rq.s.opts.Readings.LooseRange)
	}
	if at.pos.begun && !l.mirror { // a walk without from and to keeps its days over midnight
		w.from, w.to = at.from, at.to
	}
	if err := q.bad.err(); err != nil {
		return err
	}
	rq.b.mu.RLock()
	defer rq.b.mu.RUnlock()
	if err := rq.sees(); err != nil {
		return err
	}
	if l.mirror {
		rq.mirrorPage(l)
	} else {
		rq.rangePage(l, w)
	}
	return nil
}

// mirrorPage lists every order changed since, oldest change first.
func (rq *request) mirrorPage(l listing) {
	b := rq.b
	log := &b.changes
	i := 0
	if l.after.begun {
		i = log.after(l.after.c)
	}
	rq.openPage()
	end, more := rq.walk(log, i, l.since, l.limit, func(c change, o *order) (show, stop bool) {
		return b.currentOrder(c) && b.listed(o), false
	})
	rq.closePage(place{pos: end}, more)
}

// rangePage lists paid orders opened in the range, oldest first, which is by
// created_at or by change.
func (rq *request) rangePage(l listing, w rangeWalk) {
	b := rq.b
	first, last := b.cal.start(w.from), b.cal.start(w.to+1)
	log := &b.byCreated
	since := first
	if b.readings.RangeByChange {
		log = &b.changes
		since = first - MaxStampDelay.Microseconds()
	}
	i := 0
	if l.after.begun {
		i = log.after(l.after.c)
	}
	rq.openPage()
	end, more := rq.walk(log, i, since, l.limit, func(c change, o *order) (show, stop bool) {
		if b.readings.RangeByChange {
			return b.currentOrder(c) && o.created >= first && o.created < last && w.shows(o), false
		}
		return w.shows(o), o.created >= last
	})
	rq.closePage(place{pos: end, from: w.from, to: w.to}, more)
	rq.out = append(rq.out[:len(rq.out)-1], `,"from":"`...)
	rq.out = append(appendDate(rq.out, w.from), `","to":"`...)
	rq.out = append(appendDate(rq.out, w.to), `"}`...)
}

// shows: paid orders, and with include_deleted those deleted since.
func (w *rangeWalk) shows(o *order) bool {
	return o.counts() || w.deleted && o.flags&(orderDeleted|orderPaid|orderCancelled) == orderDeleted|orderPaid
}

// walk writes up to limit orders from entry i on, those since a stamp and those
// without one.
func (rq *request) walk(log *changeLog, i int, since int64, limit int, match func(change, *order) (show, stop bool)) (end pos, more bool) {
	count := 0
	for ; i < len(log.entries); i++ {
		c := log.entries[i]
		if c.stamp != nullStamp && c.stamp < since {
			i = log.since(since) - 1
			continue
		}
		o := &rq.b.orders[c.n]
		show, stop := match(c, o)
		if stop {
			break
		}
		if !show || !rq.visible[o.loc] {
			continue
		}
		if count == limit {
			return end, true
		}
		rq.addOrder(c.n, o)
		end = pos{true, c}
		count++
	}
	return end, false
}

func (rq *request) addOrder(n uint32, o *order) {
	rq.comma()
	start := len(rq.out)
	if o.counts() {
		rq.out = rq.b.appendOrder(rq.out, n, &rq.content)
	} else {
		rq.out = rq.b.appendOrderTombstone(rq.out, n)
	}
	rq.spoilRow(start)
}

// oneOrder is 404 for anything that is not a sale of an allowed location.
func (rq *request) oneOrder() *apiError {
	rq.b.mu.RLock()
	defer rq.b.mu.RUnlock()
	if err := rq.sees(); err != nil {
		return err
	}
	n, ok := rq.b.findOrder(rq.id)
	if !ok || !rq.b.orders[n].counts() || !rq.visible[rq.b.orders[n].loc] {
		return fail(codeNotFound)
	}
	rq.addOrder(n, &rq.b.orders[n])
	return nil
}
