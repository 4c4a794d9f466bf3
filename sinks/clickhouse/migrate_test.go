package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

func TestMigrateTwiceAndAtOnce(t *testing.T) {
	ctx := context.Background()
	database := enginetest.Database(t)
	one, other := openSink(t, clickhouse.Options{Database: database}), openSink(t, clickhouse.Options{Database: database})
	if info, err := one.Check(ctx); err != nil || info.Migrated {
		t.Errorf("check before the first migration: %+v, %v", info, err)
	}
	if err := one.CheckSchema(ctx); !errors.Is(err, clickhouse.ErrNotMigrated) {
		t.Errorf("schema before the first migration: %v", err)
	}
	var both sync.WaitGroup
	for _, s := range []*clickhouse.Sink{one, other} {
		both.Go(func() {
			if err := s.Migrate(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	before := schemaOf(t, one, database)
	// A process that died before it could remember what it had done.
	if err := enginetest.Conn(t, "default").Exec(ctx, "TRUNCATE TABLE `"+database+"_raw`.migrations"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := one.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, schemaOf(t, one, database)); diff != "" {
		t.Errorf("the schema after migrating again (-before +after):\n%s", diff)
	}
	if info, err := other.Check(ctx); err != nil || !info.Migrated {
		t.Errorf("check: %+v, %v", info, err)
	}
}

// schemaOf is every column of both databases, without the databases' names.
func schemaOf(t *testing.T, s *clickhouse.Sink, database string) []string {
	t.Helper()
	answer := query(t, s, fmt.Sprintf(`SELECT if(database = %[1]s, 'view', 'raw'), table, name, type, comment FROM system.columns
WHERE database IN (%[1]s, concat(%[1]s, '_raw')) AND table NOT LIKE '.inner%%' AND table NOT LIKE '%%_feed' ORDER BY 1, table, position`, sqlText(database)), "TSV")
	return strings.Split(answer, "\n")
}

// TestMigrations changes one migrated warehouse in the ways that Migrate meets.
func TestMigrations(t *testing.T) {
	notInShort(t)
	s, database := migratedAnew(t, clickhouse.Options{})
	for _, sub := range []struct {
		name string
		test func(*testing.T, *clickhouse.Sink, string)
	}{
		{"views follow the program", testViewsFollowTheProgram},
		{"the column of the document can be added", testTheColumnOfTheDocument},
		{"what was stored before", testStoredBefore},
		{"a newer schema is refused", testNewerSchema}, // the last: nothing migrates it any more
	} {
		t.Run(sub.name, func(t *testing.T) { sub.test(t, s, database) })
	}
}

func testNewerSchema(t *testing.T, s *clickhouse.Sink, database string) {
	ctx := t.Context()
	if err := enginetest.Conn(t, "default").Exec(ctx, "INSERT INTO `"+database+"_raw`.migrations (version, name) SELECT 9999, 'from_the_future'"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"migrate": s.Migrate(ctx), "check": s.CheckSchema(ctx)} {
		if !errors.Is(err, clickhouse.ErrSchemaNewer) || !strings.Contains(err.Error(), "9999") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The views are this program's after every start: those of another version, with the same
// migrations, are made anew. Views of people stay, whatever their comment.
func testViewsFollowTheProgram(t *testing.T, s *clickhouse.Sink, database string) {
	conn := enginetest.Conn(t, "default")
	exec := func(sql string) {
		t.Helper()
		if err := conn.Exec(t.Context(), strings.ReplaceAll(sql, "larder", database)); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("CREATE VIEW larder.my_orders (x UInt8 COMMENT 'Mine') AS SELECT 1 AS x COMMENT 'One row per order of mine'")
	want := schemaOf(t, s, database)
	other := []string{
		"CREATE OR REPLACE VIEW larder.sales_orders (x UInt8) AS SELECT 1 AS x COMMENT 'One row per restaurant and order'",
		"DROP VIEW larder.products",
	}
	for what, note := range map[string]string{
		"another version's": "1001_views_0123456789abcdef", "a program's that noted no text": "1001_views",
	} {
		for _, sql := range append(other, "INSERT INTO larder_raw.migrations (version, name) SELECT 1001, '"+note+"'") {
			exec(sql)
		}
		if err := s.CheckSchema(t.Context()); err != nil {
			t.Errorf("the schema with the views of %s: %v", what, err)
		}
		if err := s.CheckViews(t.Context()); !errors.Is(err, clickhouse.ErrOtherViews) {
			t.Errorf("the views of %s: %v", what, err)
		}
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckViews(t.Context()); err != nil {
			t.Errorf("the views after %s: %v", what, err)
		}
		if diff := cmp.Diff(want, schemaOf(t, s, database)); diff != "" {
			t.Errorf("views after %s (-want +got):\n%s", what, diff)
		}
	}
	// One that is missing, with the text as noted.
	exec(other[1])
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, schemaOf(t, s, database)); diff != "" {
		t.Errorf("views after one was dropped (-want +got):\n%s", diff)
	}
	// When all is there, nothing is made: views that are asked meanwhile are left alone.
	made := func() string {
		t.Helper()
		return query(t, s, "SELECT max(metadata_modification_time), groupBitXor(cityHash64(uuid)) FROM system.tables WHERE database = "+sqlText(database), "TSV")
	}
	before := made()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := made(); after != before {
		t.Errorf("views were made again: %s, before %s", after, before)
	}
	if got := query(t, s, "SELECT count() FROM my_orders", "TSV"); got != "1\n" {
		t.Errorf("a view of somebody's own: %s", got)
	}
}

// A warehouse from before the first release is refused with what to do.
func TestSchemaOfBeforeTheFirstReleaseIsRefused(t *testing.T) {
	ctx := context.Background()
	database := enginetest.Database(t)
	conn := enginetest.Conn(t, "default")
	for _, sql := range []string{
		"CREATE DATABASE `" + database + "_raw`",
		"CREATE TABLE `" + database + "_raw`.migrations (version Int64, name String) ENGINE = ReplacingMergeTree ORDER BY version",
		"INSERT INTO `" + database + "_raw`.migrations VALUES (1, '0001_state'), (22, '0022_data_quality')",
	} {
		if err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	s := openSink(t, clickhouse.Options{Database: database})
	for what, err := range map[string]error{"migrate": s.Migrate(ctx), "check": s.CheckSchema(ctx)} {
		if !errors.Is(err, clickhouse.ErrSchemaOld) || !strings.Contains(err.Error(), "larder sync") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The migration that docs/adding-a-column.md shows works on tables that have rows, and may
// be run again.
func testTheColumnOfTheDocument(t *testing.T, s *clickhouse.Sink, database string) {
	text, err := os.ReadFile("../../docs/adding-a-column.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```sql\n")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the document shows no migration")
	}
	conn := enginetest.Conn(t, "default")
	exec := func(sql string) {
		t.Helper()
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	raw := "`" + database + "_raw`.sales_orders"
	exec("INSERT INTO " + raw + " (business_id, id, table_id, _version) VALUES ('b', 'o', 't1', 1)")
	statements, err := schema.Dialect{Database: database}.Fill(block)
	if err != nil || len(statements) != 2 {
		t.Fatalf("%d statements, %v", len(statements), err)
	}
	for range 2 {
		for _, sql := range statements {
			exec(sql)
		}
	}
	if got := query(t, s, "SELECT table_id, table_name FROM "+raw, "TSV"); got != "t1\t\\N\n" {
		t.Errorf("the row stored before: %q", got)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Errorf("migrate with the column there: %v", err)
	}
}

// testStoredBefore runs all migrations again on rows of earlier versions. That a healing was
// tried had another meaning when verdicts were stored, with its column or before there was
// one. Lists are walked whole: checkpoints of single locations are forgotten.
func testStoredBefore(t *testing.T, s *clickhouse.Sink, database string) {
	conn := enginetest.Conn(t, "default")
	raw := "`" + database + "_raw`."
	for _, sql := range []string{
		"ALTER TABLE " + raw + "proofs DROP COLUMN healing_tried",
		"ALTER TABLE " + raw + "proofs DROP COLUMN found_version",
		"INSERT INTO " + raw + `proofs (business_id, source, day, subject, verdict, reason) VALUES
('b', 's', '2026-03-26', 'daily', 'drift', 'not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn'),
('b', 's', '2026-03-27', 'daily', 'drift', 'its healing failed: the service did not answer'),
('b', 's', '2026-03-28', 'daily', 'unsettled', 'it differs at first sight, and is asked once more'),
('b', 's', '2026-03-29', 'daily', 'drift', '')`,
		"INSERT INTO " + raw + `checkpoints (business_id, source, stream, walk) VALUES
('b', 's', 'products', 'incremental'), ('b', 's', 'products@l1', 'incremental'), ('b', 's', 'products@l1', 'backfill'),
('b', 's', 'products', 'coverage'), ('b', 's', 'products', 'lost_locations'), ('b', 's', 'sales_daily', 'coverage')`,
		"TRUNCATE TABLE " + raw + "migrations",
	} {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, s, "SELECT stream, walk FROM "+raw+"checkpoints ORDER BY stream, walk", "TSV"); got != "products\tincremental\n" {
		t.Errorf("checkpoints that are left are %q", got)
	}
	for _, when := range []string{"as it was stored", "written anew"} {
		verdicts, err := s.Verdicts(t.Context(), "b", "s", "2026-03-01", "2026-03-31")
		if err != nil {
			t.Fatal(err)
		}
		tried := map[string]bool{}
		for _, v := range verdicts {
			tried[v.Day] = v.HealingTried
		}
		if diff := cmp.Diff(map[string]bool{"2026-03-26": false, "2026-03-27": false, "2026-03-28": false, "2026-03-29": false}, tried); diff != "" {
			t.Errorf("healing was tried, %s (-want +got):\n%s", when, diff)
		}
		if err := conn.Exec(t.Context(), "OPTIMIZE TABLE "+raw+"proofs FINAL"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryColumnHasAComment(t *testing.T) {
	notInShort(t)
	s, database := migrated(t, clickhouse.Options{})
	for _, line := range schemaOf(t, s, database) {
		fields := strings.Split(line, "\t")
		if len(fields) == 5 && fields[4] == "" {
			t.Errorf("%s %s.%s has no comment", fields[0], fields[1], fields[2])
		}
	}
	if answer := query(t, s, "SELECT name FROM system.tables WHERE comment = '' AND database IN ("+sqlText(database)+", "+sqlText(database+"_raw")+")", "TSV"); answer != "" {
		t.Errorf("without a comment: %s", answer)
	}
	if other := query(t, s, "SELECT table, name FROM system.columns WHERE position = 1 AND name != 'business_id' AND database = "+sqlText(database), "TSV"); other != "" {
		t.Errorf("views that do not begin with the restaurant: %s", other)
	}
}

// TestPrintedMigrationsAreThoseThatRun applies what is printed by hand and
// compares the outcome with Migrate's.
func TestPrintedMigrationsAreThoseThatRun(t *testing.T) {
	notInShort(t)
	ctx := context.Background()
	s, database := migrated(t, clickhouse.Options{})
	byHand := enginetest.Database(t)
	conn := enginetest.Conn(t, "default")
	for _, sql := range printed(t, byHand, "") {
		if err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	other := openSink(t, clickhouse.Options{Database: byHand})
	if err := other.CheckSchema(ctx); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(schemaOf(t, s, database), schemaOf(t, other, byHand)); diff != "" {
		t.Errorf("schema (-migrated +by hand):\n%s", diff)
	}
	// The hash of the views is of their text, which names the database.
	notes := "SELECT version, replaceRegexpOne(name, '_[0-9a-f]{16}$', '') FROM `%s_raw`.migrations FINAL ORDER BY ALL"
	if diff := cmp.Diff(query(t, s, fmt.Sprintf(notes, database), "TSV"), query(t, other, fmt.Sprintf(notes, byHand), "TSV")); diff != "" {
		t.Errorf("noted (-migrated +by hand):\n%s", diff)
	}
}

func printed(t *testing.T, database, cluster string) []string {
	t.Helper()
	var text bytes.Buffer
	if err := clickhouse.PrintMigrations(&text, database, cluster); err != nil {
		t.Fatal(err)
	}
	var statements []string
	for sql := range strings.SplitSeq(text.String(), ";\n\n") {
		var kept []string
		for line := range strings.SplitSeq(sql, "\n") {
			if line != "" && !strings.HasPrefix(line, "--") {
				kept = append(kept, line)
			}
		}
		if len(kept) > 0 {
			statements = append(statements, strings.Join(kept, "\n"))
		}
	}
	return statements
}

// TestClusterSchema looks at the statements for a cluster, which cannot run on
// one embedded engine: their syntax is checked, and what makes them right.
func TestClusterSchema(t *testing.T) {
	notInShort(t)
	s, _ := migrated(t, clickhouse.Options{})
	var locals, distributed, views int
	for _, sql := range printed(t, "larder", "main") {
		query(t, s, "SELECT formatQuery("+sqlText(sql)+")", "TSVRaw") // fails on a mistake of syntax
		head, _, _ := strings.Cut(sql, "\n")
		if strings.HasPrefix(sql, "CREATE ") && !strings.Contains(head, " ON CLUSTER `main`") {
			t.Errorf("not on the cluster: %s", head)
		}
		switch {
		case strings.Contains(sql, "ENGINE = Distributed("):
			distributed++
			if !strings.Contains(sql, "_local`") || !strings.Contains(sql, "cityHash64(") {
				t.Errorf("distributed over what: %s", sql)
			}
		case strings.HasPrefix(head, "CREATE TABLE"):
			locals++
			if !strings.Contains(head, "_local` ON CLUSTER") || !strings.Contains(sql, "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}'") {
				t.Errorf("storage that is not replicated: %s", head)
			}
		case strings.HasPrefix(head, "CREATE MATERIALIZED VIEW"):
			if strings.Count(sql, "_local`") != 2 {
				t.Errorf("the history must be fed on each node: %s", sql)
			}
		case strings.HasPrefix(head, "CREATE OR REPLACE VIEW"):
			views++
			if strings.Contains(sql, "_local") {
				t.Errorf("a view of one node only: %s", head)
			}
		}
	}
	if locals != 26 || distributed != locals || views < 20 {
		t.Errorf("%d local tables, %d distributed, %d views", locals, distributed, views)
	}
}

func TestDictionary(t *testing.T) {
	notInShort(t)
	s, _ := migrated(t, clickhouse.Options{})
	var one, other bytes.Buffer
	for _, out := range []*bytes.Buffer{&one, &other} {
		if err := s.Dictionary(context.Background(), out); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != other.String() {
		t.Error("two dictionaries of one schema differ")
	}
	for _, want := range []string{"### `sales_items`", "### `reconciliation`", "| `totals_net_sales` | `Decimal(18, 2)` | Net sales, RON", "## Storage tables"} {
		if !strings.Contains(one.String(), want) {
			t.Errorf("the dictionary lacks %q", want)
		}
	}
	if strings.Contains(one.String(), "test_") {
		t.Error("the dictionary names the database that it was made from")
	}
}
