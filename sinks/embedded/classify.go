package embedded

import (
	"errors"
	"runtime"
	"unsafe"
)

// Class is what the engine's parser says a statement does.
type Class uint32

// The classes; what the parser calls otherwise is none of them.
const (
	Reading  Class = 0 // changes nothing
	Mutating Class = 1 // INSERT, CREATE, ALTER, DROP, …
	Control  Class = 3 // SET, USE, SYSTEM, KILL, INTO OUTFILE, temporary tables
)

// analysis is the engine's struct chdb_query_analysis_v1.
type analysis struct {
	size       uint32
	statements uint32 // 0 when it does not parse
	flags      uint32
	class      Class
}

var errClassify = errors.New("the engine could not classify the statement")

// classify asks the engine's parser what a statement is, without running it.
func (c *conn) classify(sql string) (analysis, error) {
	a := analysis{size: uint32(unsafe.Sizeof(analysis{}))}
	s, n := text(sql)
	state := c.lib.classify(*c.raw, s, n, nil, 0, unsafe.Pointer(&a))
	runtime.KeepAlive(sql)
	if state != 0 {
		return analysis{}, errClassify
	}
	return a, nil
}
