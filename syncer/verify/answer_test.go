package verify

import "testing"

func TestWhatMovedWhileItWasLookedForIsNotTheSame(t *testing.T) {
	still := answer{raw: []byte(`{"id":"a","name":"x"}`)}
	moved := still
	moved.unsure = true
	if !still.same(still) || moved.same(moved) || still.same(answer{}) || !(answer{}).same(answer{}) {
		t.Error("an answer is not what it was")
	}
}
