package server_test

import (
	"os"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Main(m)) }
