package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// TestSinkOverNative runs the suite's part about writing over ClickHouse's native
// protocol. No server runs here, so a bridge speaks the protocol's server side and hands
// every statement and block to the embedded engine.
func TestSinkOverNative(t *testing.T) {
	if testing.Short() {
		t.Skip("what a flush does at once, TestSinkOverHTTP does too")
	}
	s, fresh := overNative(t)
	sinktest.RunWrites(t, fresh)
	if got := query(t, s, "SELECT 1 AS one, 'a\tb' AS two, NULL AS three", "TSVWithNames"); got != "one\ttwo\tthree\n1\ta\\tb\t\\N\n" {
		t.Errorf("query over the native protocol: %q", got)
	}
	var out bytes.Buffer
	if err := s.Query(t.Context(), "SELECT 1", "Parquet", &out); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("a format that the native protocol does not have: %v", err)
	}
	if err := s.Query(t.Context(), "SELECT 1 AS n", "", &out); err != nil || !strings.HasPrefix(out.String(), "n") {
		t.Errorf("for people: %q, %v", out.String(), err)
	}
	for _, sql := range commented {
		if got := query(t, s, sql, "TSVWithNames"); got != "n\n1\n" {
			t.Errorf("%s: %q", sql, got)
		}
	}
	if got := query(t, s, "SHOW TABLES LIKE 'sales_or%'", "TSV"); got != "sales_orders\nsales_orders_full\nsales_orders_removed\n" {
		t.Errorf("SHOW TABLES over the native protocol: %q", got)
	}
	wantStatementError(t, s, "DROP VIEW allergens", statementErrors["DROP VIEW allergens"])
}

// overNative is a sink on a warehouse that is reached, and was migrated, over the native
// protocol, and the harness of each test on it.
func overNative(t *testing.T) (s *clickhouse.Sink, fresh func(*testing.T) sinktest.Harness) {
	t.Helper()
	dsn := "clickhouse://larder:secret@" + startBridge(t) + "/larder"
	s, database := migratedAnew(t, clickhouse.Options{DSN: dsn})
	reader := openSink(t, clickhouse.Options{Database: database})
	return s, func(t *testing.T) sinktest.Harness {
		empty(t, database)
		return harness(t, reader, database, clickhouse.Options{DSN: dsn, Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}})
	}
}

// A query stands within another one there, and mistakes are told of the query alone.
func TestMistakesOverNative(t *testing.T) {
	s, _ := migrated(t, clickhouse.Options{DSN: "clickhouse://larder:secret@" + startBridge(t) + "/larder"})
	for _, sql := range []string{"SELECT 1 FROM", "SELEC 1"} {
		wantStatementError(t, s, sql, statementErrors[sql])
	}
	const unknown = "SELECT nothing FROM allergens"
	wantStatementError(t, s, unknown, statementErrors[unknown])
}

// bridge is the server side of the native protocol over the engine.
type bridge struct {
	t      *testing.T
	engine driver.Conn
}

func startBridge(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bridge{t: t, engine: enginetest.Conn(t, "default")}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { b.serve(ctx, conn) })
		}
	})
	return l.Addr().String()
}

// bridged is one connection.
type bridged struct {
	*bridge
	conn     net.Conn
	in       *chproto.Reader
	out      chproto.Buffer
	revision int
	database string
}

func (b *bridge) serve(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }() // the other side may have closed it
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c := &bridged{bridge: b, conn: conn, in: chproto.NewReader(conn)}
	err := c.hello()
	for err == nil {
		err = c.packet(ctx)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, new(net.Error)) && ctx.Err() == nil {
		b.t.Errorf("bridge: %v", err)
	}
}

func (c *bridged) hello() error {
	if code, err := c.in.UVarInt(); err != nil || code != uint64(chproto.ClientCodeHello) {
		return errors.Join(err, fmt.Errorf("packet %d, want hello", code))
	}
	var client chproto.ClientHello
	if err := client.Decode(c.in); err != nil {
		return err
	}
	c.revision, c.database = client.ProtocolVersion, client.Database
	if client.User != "larder" || client.Password != "secret" {
		c.t.Errorf("bridge: user %q and password %q", client.User, client.Password)
	}
	server := chproto.ServerHello{Name: "ClickHouse", Major: 26, Minor: 7, Revision: c.revision, Timezone: "UTC", DisplayName: "bridge"}
	server.EncodeAware(&c.out, c.revision)
	if err := c.send(); err != nil {
		return err
	}
	_, err := c.in.Str() // the addendum: a quota key
	return err
}

func (c *bridged) send() error {
	_, err := c.conn.Write(c.out.Buf)
	c.out.Reset()
	return err
}

func (c *bridged) packet(ctx context.Context) error {
	code, err := c.in.UVarInt()
	if err != nil {
		return err
	}
	switch chproto.ClientCode(code) {
	case chproto.ClientCodePing:
		chproto.ServerCodePong.Encode(&c.out)
		return c.send()
	case chproto.ClientCodeQuery:
		var q chproto.Query
		if err := q.DecodeAware(c.in, c.revision); err != nil {
			return err
		}
		if block, err := c.data(); err != nil || block.Rows() > 0 {
			return errors.Join(err, errors.New("external tables are not taken"))
		}
		return c.query(ctx, q)
	default:
		return fmt.Errorf("packet %d is not known", code)
	}
}

// data reads one block from the client; its packet's code is read too.
func (c *bridged) data() (*proto.Block, error) {
	code, err := c.in.UVarInt()
	if err != nil || code != uint64(chproto.ClientCodeData) {
		return nil, errors.Join(err, fmt.Errorf("packet %d, want data", code))
	}
	return c.dataBody()
}

func (c *bridged) dataBody() (*proto.Block, error) {
	var head chproto.ClientData
	if err := head.DecodeAware(c.in, c.revision); err != nil {
		return nil, err
	}
	block := proto.Block{ServerContext: &column.ServerContext{}}
	return &block, block.Decode(c.in, uint64(c.revision))
}

var insertsData = regexp.MustCompile(`(?s)^INSERT INTO (\S+) \((.*)\) FORMAT Native$`)

func (c *bridged) query(ctx context.Context, q chproto.Query) error {
	settings := clickhousego.Settings{"database": c.database}
	for _, s := range q.Settings {
		settings[s.Key] = s.Value
	}
	if c.database == "" {
		settings["database"] = "default"
	}
	ctx = clickhousego.Context(ctx, clickhousego.WithSettings(settings))
	var err error
	if insert := insertsData.FindStringSubmatch(q.Body); insert != nil {
		err = c.insert(ctx, insert[1], insert[2])
	} else {
		err = c.relay(ctx, q.Body)
	}
	var broken *brokenConn
	if errors.As(err, &broken) {
		return broken.error
	}
	if err != nil {
		c.exception(err)
		return c.send()
	}
	chproto.ServerCodeEndOfStream.Encode(&c.out)
	return c.send()
}

// brokenConn is an error of the connection, which the client cannot be told.
type brokenConn struct{ error }

func (c *bridged) exception(err error) {
	code, text := 1002, err.Error()
	var refused *clickhousego.Exception
	if errors.As(err, &refused) {
		code, text = int(refused.Code), refused.Message
	}
	chproto.ServerCodeException.Encode(&c.out)
	c.out.PutInt32(int32(code))
	c.out.PutString("DB::Exception")
	c.out.PutString(text)
	c.out.PutString("")
	c.out.PutBool(false)
}

func (c *bridged) block(b *proto.Block) error {
	if b.Rows() == 0 {
		described := make([][2]string, len(b.Columns))
		for i, col := range b.Columns {
			described[i] = [2]string{col.Name(), string(col.Type())}
		}
		c.header(described)
		return nil
	}
	chproto.ServerCodeData.Encode(&c.out)
	chproto.ClientData{}.EncodeAware(&c.out, c.revision)
	return b.Encode(&c.out, uint64(c.revision))
}

// insert tells the client the types of the columns, takes its blocks and gives
// them to the engine as one.
func (c *bridged) insert(ctx context.Context, table, columns string) error {
	if err := c.describe(ctx, table, columns); err != nil {
		return err
	}
	if err := c.send(); err != nil {
		return &brokenConn{err}
	}
	var body chproto.Buffer
	for {
		block, err := c.data()
		if err != nil {
			return &brokenConn{err}
		}
		if block.Rows() == 0 {
			return c.engine.InsertFormat(ctx, "Native", "INSERT INTO "+table+" ("+columns+")", bytes.NewReader(body.Buf))
		}
		if err := block.Encode(&body, 0); err != nil {
			return err
		}
	}
}

// describe says what the columns of an INSERT are.
func (c *bridged) describe(ctx context.Context, table, columns string) error {
	rows, err := c.engine.Query(ctx, "DESCRIBE TABLE (SELECT "+columns+" FROM "+table+")")
	if err != nil {
		return err
	}
	var described [][2]string
	for rows.Next() {
		var name, typ, ignored string
		if err := rows.Scan(&name, &typ, &ignored, &ignored, &ignored, &ignored, &ignored); err != nil {
			return errors.Join(err, rows.Close())
		}
		described = append(described, [2]string{name, typ})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	c.header(described)
	return nil
}

// header makes a block without rows. The driver's own encoder would give it the
// prefixes of columns that have rows.
func (c *bridged) header(described [][2]string) {
	chproto.ServerCodeData.Encode(&c.out)
	chproto.ClientData{}.EncodeAware(&c.out, c.revision)
	chproto.Block{Columns: len(described), Info: chproto.BlockInfo{BucketNum: -1}}.EncodeAware(&c.out, c.revision)
	for _, d := range described {
		c.out.PutString(d[0])
		c.out.PutString(d[1])
		c.out.PutBool(false) // no custom serialization
	}
}

// relay runs any other statement and sends the blocks of its answer.
func (c *bridged) relay(ctx context.Context, sql string) error {
	answer, err := c.engine.QueryFormat(ctx, "Native", sql)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }() // read to its end, or given up
	in := chproto.NewReader(answer)
	for {
		block := proto.Block{ServerContext: &column.ServerContext{}}
		if err := block.Decode(in, clickhousego.ClientTCPProtocolVersion); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := c.block(&block); err != nil {
			return err
		}
		if err := c.send(); err != nil {
			return &brokenConn{err}
		}
	}
}
