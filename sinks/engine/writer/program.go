package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/child"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// Role is what [Orders] of this program have as their role.
const Role = "writer"

// Orders are what the program is started with.
type Orders struct {
	Role       string
	Folder     string
	Databases  []string
	Memory     int64
	Unconfined bool // it reads files outside of the folder, see [Options]
	Confined   bool // Landlock is in force already
}

// Main is the program. It ends when its input does: with the process that started it, however
// that ends.
func Main(ctx context.Context, o Orders, command []string, in io.Reader, out io.Writer, log *slog.Logger) error {
	if !o.Confined && !o.Unconfined {
		if err := confined(o, command); !errors.Is(err, engine.ErrNoLandlock) {
			return err
		} else { //nolint:revive // the error is the reason
			log.Warn("embedded engine: not confined to its folder by the kernel", "reason", err.Error())
		}
	}
	s, err := server.Open(ctx, engine.Options{Path: o.Folder, Databases: o.Databases, Memory: o.Memory, Logger: log})
	if errors.Is(err, engine.ErrHeld) {
		fmt.Fprintln(out, child.Held)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, child.Ready)
	_, _ = io.Copy(io.Discard, in) // an error is an end, too
	return s.Close()
}

// confined starts the program again, behind Landlock.
func confined(o Orders, command []string) error {
	o.Confined = true
	orders, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return engine.ExecConfinedTo(o.Folder, append(command, string(orders)), os.Environ())
}
