package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// MinMemory is the least that the embedded engine works with.
const MinMemory = 128 << 20

// asSize takes a number of bytes, with a unit or without.
func asSize(raw any) (int64, error) {
	var text string
	switch v := raw.(type) {
	case nil:
		return 0, nil
	case int:
		text = strconv.Itoa(v)
	case string:
		if text = v; v == "" {
			return 0, nil
		}
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 || text[0] == '-' {
		return 0, fmt.Errorf("got %s; allowed: a size with its unit, as in 512MiB or 2GiB", describe(raw))
	}
	return int64(n), nil
}

// enough refuses a size that was given and is too small.
func enough(least int64) check[int64] {
	return func(n int64) error {
		if n == 0 || n >= least {
			return nil
		}
		return errors.New("got " + Size(n) + "; allowed: " + Size(least) + " and more, written with its unit, as in 512MiB or 2GiB")
	}
}

// Size is a number of bytes as people read it: 512 MiB.
func Size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

func shownSize(n int64) string {
	if n == 0 {
		return `""`
	}
	return Size(n)
}
