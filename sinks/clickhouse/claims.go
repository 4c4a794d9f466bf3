package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// claims says which process serves which source.
type claims struct {
	// warehouse has connections of its own: a beat that waits for the questions of a thousand
	// sources comes too late.
	warehouse *connection.Warehouse
	timeout   time.Duration // how long a process may say nothing
}

// claimSettings send all that is said and asked about claims to one replica: the
// first of the cluster's configuration that answers, so that every process sees
// what any other has acknowledged is stored. When that replica dies the next one takes
// its place; what had not been copied to it by then its process finds missing at
// its next beat, and claims anew. On one server they change nothing.
const claimSettings = " SETTINGS load_balancing = 'in_order', prefer_localhost_replica = 0"

// claim is a claim with what its own process needs to know of it.
type claim struct {
	sinks.Claim
	fading bool // it must be stored again before its TTL ends
}

// Beat implements [sinks.Sink]: one INSERT and one SELECT while the process wants
// what it wanted before.
func (c *claims) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	c.warehouse.Outage.Begin()
	if len(wants) > 0 {
		if err := c.warehouse.Exec(ctx, c.beatStatement(p), nil); err != nil {
			return nil, fmt.Errorf("tell the warehouse that this process is alive: %w", err)
		}
	}
	claims, err := c.readClaims(ctx)
	if err != nil {
		return nil, err
	}
	if lines := changedClaims(claims, p, wants); lines != "" {
		if err := c.warehouse.Exec(ctx, c.claimStatement(p, lines), statementSettings); err != nil {
			return nil, fmt.Errorf("store the claims of this process: %w", err)
		}
		if claims, err = c.readClaims(ctx); err != nil {
			return nil, err
		}
	}
	plain := make([]sinks.Claim, len(claims))
	for i, c := range claims {
		plain[i] = c.Claim
	}
	return plain, nil
}

// beatStatement stores that a process is alive, and since when without a silence
// that was too long.
func (c *claims) beatStatement(p sinks.Process) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (process_id, name, beat_at, alive_since)
SELECT %[2]s, %[3]s, now64(6, 'UTC') AS at, if(max(beat_at) >= at - %[4]s, argMax(alive_since, beat_at), at)
FROM %[1]s FINAL WHERE process_id = %[2]s%[5]s`,
		c.warehouse.Table("processes"), schema.Literal(p.ID), schema.Literal(p.Name), c.silence(), claimSettings)
}

// silence is how long a process may say nothing.
func (c *claims) silence() string {
	return "toIntervalMicrosecond(" + strconv.FormatInt(c.timeout.Microseconds(), 10) + ")"
}

// readClaims reads the claims of all processes that are alive. A process that was
// silent for too long and came back has its claims since then.
func (c *claims) readClaims(ctx context.Context) ([]claim, error) {
	sql := fmt.Sprintf(`SELECT source, process_id, name, greatest(since, alive_since), beat_at, fading
FROM
(
    SELECT source, process_id, since, stated_at < now64(6, 'UTC') - INTERVAL 6 HOUR AS fading
    FROM %s FINAL WHERE NOT given_up
) AS claimed
INNER JOIN
(
    SELECT process_id, name, beat_at, alive_since
    FROM %s FINAL WHERE beat_at >= now64(6, 'UTC') - %s
) AS alive USING (process_id)%s`, c.warehouse.Table("claims"), c.warehouse.Table("processes"), c.silence(), claimSettings)
	var claims []claim
	err := c.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var c claim
		var fading uint8
		err := rows.Scan(&c.Source, &c.Process.ID, &c.Process.Name, &c.Since, &c.BeatAt, &fading)
		c.Since, c.BeatAt, c.fading = c.Since.UTC(), c.BeatAt.UTC(), fading != 0
		claims = append(claims, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the claims of the processes: %w", err)
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), a.Since.Compare(b.Since), cmp.Compare(a.Process.ID, b.Process.ID))
	})
	return claims, nil
}

// MaxVersion implements [sinks.Sink]. No source is held before it.
func (c *claims) MaxVersion(ctx context.Context) (uint64, error) {
	selects := []string{"SELECT max(first_version) AS version FROM " + c.warehouse.Table("checkpoints")}
	for _, table := range slices.Concat(schema.StreamTables, []string{"quarantine"}) {
		selects = append(selects, "SELECT max(_version) AS version FROM "+c.warehouse.Table(table))
	}
	var highest uint64
	sql := "SELECT max(version) FROM (" + strings.Join(selects, " UNION ALL ") + ")"
	if err := c.warehouse.Rows(ctx, sql, func(rows driver.Rows) error { return rows.Scan(&highest) }); err != nil {
		return 0, fmt.Errorf("read the highest version: %w", err)
	}
	return highest, nil
}

// changedClaims is what must be stored so that a process claims what it wants and
// nothing else: new claims, those given up, and those that would fade.
func changedClaims(claims []claim, p sinks.Process, wants []string) string {
	own := map[string]claim{}
	for _, c := range claims {
		if c.Process.ID == p.ID {
			own[c.Source] = c
		}
	}
	var lines strings.Builder
	line := func(source string, since time.Time, givenUp bool) {
		micros := "0"
		if !since.IsZero() {
			micros = strconv.FormatInt(since.UnixMicro(), 10)
		}
		fmt.Fprintf(&lines, "%s\t%s\t%t\n", tsv(source), micros, givenUp)
	}
	for _, source := range wants {
		if c, ok := own[source]; !ok || c.fading {
			line(source, c.Since, false)
		}
		delete(own, source)
	}
	for source, c := range own {
		line(source, c.Since, true)
	}
	return lines.String()
}

// claimStatement stores claims: source, since (0 for now) and whether it is given
// up, a line each.
func (c *claims) claimStatement(p sinks.Process, lines string) string {
	return fmt.Sprintf(`INSERT INTO %s (process_id, source, since, stated_at, given_up)
SELECT %s, source, if(micros = 0, now64(6, 'UTC'), fromUnixTimestamp64Micro(micros, 'UTC')), now64(6, 'UTC'), given_up
FROM format(TSV, 'source String, micros Int64, given_up Bool', %s)%s`,
		c.warehouse.Table("claims"), schema.Literal(p.ID), schema.Literal(lines), claimSettings)
}
