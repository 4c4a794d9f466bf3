package cookbook

import (
	"fmt"
	"math/big"
)

// bani reads an amount of the API's, which has exactly two decimals.
func bani(text string) int64 {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("%q is no amount", text))
	}
	n.Mul(n, big.NewRat(100, 1))
	if !n.IsInt() {
		panic(fmt.Sprintf("%q has parts of a ban", text))
	}
	return n.Num().Int64()
}
