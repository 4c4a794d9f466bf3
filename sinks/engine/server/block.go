package server

import (
	"bytes"
	"errors"
	"io"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/larder-sync/larder/sinks/engine/exception"
)

// reframe turns Native blocks as the engine writes them (revision 0) into blocks
// for a client of a newer revision (docs/architecture/engine.md).
func reframe(chunk []byte, revision uint64) ([]byte, error) {
	reader := chproto.NewReader(bytes.NewReader(chunk))
	out := &chproto.Buffer{Buf: make([]byte, 0, len(chunk)+64)}
	for {
		block := &proto.Block{ServerContext: blockContext(revision)}
		if err := block.Decode(reader, 0); err != nil {
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
