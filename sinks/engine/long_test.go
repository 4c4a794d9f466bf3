//go:build long

package engine_test

import "testing"

func TestProcessesKilledOftenLoseNothing(t *testing.T) { killed(t, 5) }

func TestDiskRefusesALargeCrowd(t *testing.T) { crowd(t, "20") }
