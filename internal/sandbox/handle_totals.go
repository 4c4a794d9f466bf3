package sandbox

// salesDaily answers one row per calendar day of the range and the totals.
func (rq *request) salesDaily() *apiError {
	b := rq.b
	from, to := rq.q.days(b.cal.day(rq.now), b.readings.LooseRange)
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err := rq.sees(); err != nil {
		return err
	}
	rq.openTotals(from, to)
	rq.out = append(rq.out, `,"data":[`...)
	var sum dayTotals
	for d := from; d <= to; d++ {
		t := b.sumDay(d, rq.shows)
		sum.add(&t)
		rq.comma()
		start := len(rq.out)
		rq.out = appendDate(append(rq.out, `{"date":"`...), d)
		rq.out = append(b.appendBreakdown(append(rq.out, `",`...), &t), '}')
		rq.spoilRow(start)
	}
	rq.out = append(rq.out, `],"totals":{`...)
	rq.out = append(b.appendBreakdown(rq.out, &sum), "}}"...)
	return nil
}

func (rq *request) openTotals(from, to dayNumber) {
	rq.out = appendDate(append(rq.out, `{"currency":"RON","from":"`...), from)
	rq.out = append(appendDate(append(rq.out, `","to":"`...), to), '"')
}

// salesProducts answers what was sold of each product, in the period or by day.
func (rq *request) salesProducts() *apiError {
	b := rq.b
	from, to := rq.q.days(b.cal.day(rq.now), b.readings.LooseRange)
	groupBy := rq.q.choice("group_by", "period", "period", "day")
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err := rq.sees(); err != nil {
		return err
	}
	rq.openTotals(from, to)
	rq.out = append(append(append(rq.out, `,"group_by":"`...), groupBy...), `","data":[`...)
	merged := newProductSum(b)
	for d := from; d <= to; d++ {
		merged.add(b.soldOn(d), rq.shows)
		if groupBy == "day" {
			rq.addProductSales(merged, d.String())
			merged = newProductSum(b)
		}
	}
	if groupBy == "period" {
		rq.addProductSales(merged, "")
	}
	rq.out = append(rq.out, "]}"...)
	return nil
}

func (rq *request) addProductSales(sum *productSum, date string) {
	for _, s := range sum.sorted() {
		rq.comma()
		start := len(rq.out)
		rq.out = append(rq.out, '{')
		if date != "" {
			rq.out = append(appendString(append(rq.out, `"date":`...), date), ',')
		}
		rq.out = append(s.append(rq.out), '}')
		rq.spoilRow(start)
	}
}
