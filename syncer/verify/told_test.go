package verify

import "testing"

func TestWhatMovedWhileItWasLookedForIsNotTheSame(t *testing.T) {
	still := told{raw: []byte(`{"id":"a","name":"x"}`)}
	moved := still
	moved.unsure = true
	if !still.same(still) || moved.same(moved) || still.same(told{}) || !(told{}).same(told{}) {
		t.Error("an answer is not what it was")
	}
}
