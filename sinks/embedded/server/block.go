package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// What the library makes of a type takes a kilobyte for each of its parts, and for tuples
// in tuples the text of each again; what it makes of arrays in arrays stays for good. The
// engine shares what is equal: a statement of 4 KB made 2 GB here.
const (
	mostParts    = 20_000   // of the types of a block
	deepestType  = 64       // parentheses in parentheses
	longestTypes = 16 << 20 // bytes of their texts, each as often as it is deep
)

// reframe turns Native blocks as the engine writes them (revision 0) into blocks
// for a client of a newer revision (DESIGN §8).
func reframe(chunk []byte, revision uint64) ([]byte, error) {
	reader := chproto.NewReader(bytes.NewReader(chunk))
	out := &chproto.Buffer{Buf: make([]byte, 0, len(chunk)+64)}
	for {
		block := &proto.Block{ServerContext: blockContext(revision)}
		if err := decodeBlock(block, reader); err != nil {
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && len(block.Columns) == 0 {
				return out.Buf, nil
			}
			return nil, unframed(revision, err)
		}
		if err := encodeBlock(out, block, revision); err != nil {
			return nil, err
		}
	}
}

func unframed(revision uint64, err error) error {
	return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "The result cannot be framed for client_protocol_version %d: %v; ask for another format", revision, err)
}

// decodeBlock reads a block of revision 0, as block.Decode does, when its types have a size
// that the library bears.
func decodeBlock(block *proto.Block, reader *chproto.Reader) error {
	columns, err := reader.UVarInt()
	if err != nil {
		return err
	}
	return decodeColumns(block, reader, columns)
}

// decodeColumns reads what comes behind the number of a block's columns.
func decodeColumns(block *proto.Block, reader *chproto.Reader, columns uint64) error {
	rows, err := reader.UVarInt()
	if err != nil {
		return err
	}
	var sizes typeSizes
	for range columns {
		name, err := reader.Str()
		if err != nil {
			return cutShort(err)
		}
		typ, err := reader.Str()
		if err != nil {
			return cutShort(err)
		}
		if err := sizes.add(typ); err != nil {
			return err
		}
		if err := block.AddColumn(name, column.Type(typ)); err != nil {
			return err
		}
		if err := decodeColumn(block.Columns[len(block.Columns)-1], reader, int(rows)); err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	return nil
}

func decodeColumn(c column.Interface, reader *chproto.Reader, rows int) error {
	if rows == 0 {
		return nil
	}
	if prefixed, ok := c.(column.CustomSerialization); ok {
		if err := prefixed.ReadStatePrefix(reader); err != nil {
			return cutShort(err)
		}
	}
	return cutShort(c.Decode(reader, rows))
}

// typeSizes are what the types of a block come to.
type typeSizes struct{ parts, bytes int }

var errWideTypes = errors.New("its types have too many parts")

func (s *typeSizes) add(typ string) error {
	depth, deepest := 0, 1
	for _, c := range []byte(typ) {
		switch c {
		case '(':
			depth++
			s.parts++
			deepest = max(deepest, depth)
		case ')':
			depth--
		case ',':
			s.parts++
		}
	}
	s.parts++
	s.bytes += len(typ) * deepest
	if s.parts > mostParts || s.bytes > longestTypes || deepest > deepestType {
		return errWideTypes
	}
	return nil
}

func blockContext(revision uint64) *column.ServerContext {
	return &column.ServerContext{Revision: revision, VersionMajor: 26, VersionMinor: 7, Timezone: time.UTC}
}

func encodeBlock(out *chproto.Buffer, block *proto.Block, revision uint64) error {
	if block.Rows() > 0 {
		return block.Encode(out, revision)
	}
	// Without rows a column is its name and type alone.
	if err := block.EncodeHeader(out, revision); err != nil {
		return err
	}
	for _, c := range block.Columns {
		out.PutString(c.Name())
		out.PutString(string(c.Type()))
		if revision >= proto.DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION {
			out.PutBool(false)
		}
	}
	return nil
}

// columnOf is a column of a result: its name and type.
type columnOf struct{ name, typ string }

// emptyBlock is the answer of a SELECT without rows: the columns alone, which
// the engine itself leaves out.
func emptyBlock(columns []columnOf, revision uint64) []byte {
	out := &chproto.Buffer{}
	if revision > 0 {
		// Block info: not overflowing, no bucket.
		out.PutUVarInt(1)
		out.PutBool(false)
		out.PutUVarInt(2)
		out.PutInt32(-1)
		out.PutUVarInt(0)
	}
	out.PutUVarInt(uint64(len(columns)))
	out.PutUVarInt(0)
	for _, c := range columns {
		out.PutString(c.name)
		out.PutString(c.typ)
		if revision >= proto.DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION {
			out.PutBool(false)
		}
	}
	return out.Buf
}
