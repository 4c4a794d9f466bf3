package engine_test

import (
	"os"
	"testing"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m, roles)) }
