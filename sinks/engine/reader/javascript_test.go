//go:build javascript

package reader_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func init() { tools["javascript"] = testJavaScript }

// testJavaScript asks with the clients themselves: @clickhouse/client, and Cube's driver.
func testJavaScript(t *testing.T, f *front) {
	program := exec.CommandContext(t.Context(), "node", "ask.mjs", f.address)
	program.Dir, program.Stderr = "../../../.ci/javascript", os.Stderr
	out, err := program.Output()
	if err != nil {
		t.Errorf("node ask.mjs: %v; make javascript fetches the clients", err)
	}
	want := `["ping",true]
["session",[{"database":"larder","zone":"Europe/Bucharest"}]]
["parameters",[{"day":"2026-10-25","list":["it's","tab\there"],"none":null}]]
["use_multipart_params",[{"n":5000}]]
["use_multipart_params_auto",[{"n":5000}]]
["progress",[true,[{"n":10}]]]
["stream",200000]
["refused",["READONLY","164"]]
["cube: tables",true]
["cube: schema",true]
["cube: rows",[[true,true]]]
["cube: types",[{"name":"orders.day","type":"timestamp"},{"name":"orders.count","type":"bigint"}]]
["cube: stream",1]
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(out), "\n")); diff != "" {
		t.Errorf("other answers (-want +got):\n%s", diff)
	}
}
