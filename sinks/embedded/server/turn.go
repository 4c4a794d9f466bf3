package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/larder-sync/larder/sinks/embedded"
)

// Columns of a block may share what they hold, SELECT t AS a, t AS b: to the engine's limits
// 200 of 4 MB are 4 MB, and 800 in the block that is sent. So a block that is turned for a
// reader may be no longer than the memory that the statement was lent.

// leastBlock is how long a block may be in any case.
const leastBlock = 16 << 20

// mostOfBlock is how long a block of this answer may be.
func (a *answer) mostOfBlock() int64 {
	lent, err := strconv.ParseInt(a.q.settings["max_memory_usage"], 10, 64)
	if err != nil {
		lent = 0
	}
	return max(lent, leastBlock)
}

// turned sends an answer block by block, each for the client's revision.
func (a *answer) turned(head []byte, rest io.Reader) error {
	in := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(head), rest)}
	reader := chproto.NewReader(in)
	for {
		in.N = a.mostOfBlock()
		block, err := a.turnedBlock(reader)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && in.N <= 0:
			return unframed(a.q.protocol, fmt.Errorf("a block of it is longer than the %d MB that the statement may have", a.mostOfBlock()>>20))
		case err != nil:
			return err
		}
		if !a.started {
			if err := a.start(embedded.Stats{}); err != nil {
				return err
			}
		}
		if _, err := a.out.Write(block); err != nil {
			return err
		}
	}
}

// turnedBlock is the next block, once it is there; io.EOF behind the last.
func (a *answer) turnedBlock(reader *chproto.Reader) ([]byte, error) {
	columns, err := reader.UVarInt()
	if err != nil {
		return nil, err
	}
	reframing.Lock()
	defer reframing.Unlock()
	block := &proto.Block{ServerContext: blockContext(a.q.protocol)}
	if err := decodeColumns(block, reader, columns); err != nil {
		return nil, unframed(a.q.protocol, cutShort(err))
	}
	out := &chproto.Buffer{}
	if err := encodeBlock(out, block, a.q.protocol); err != nil {
		return nil, err
	}
	return out.Buf, nil
}
