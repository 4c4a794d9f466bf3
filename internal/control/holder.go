package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// CommandRun is the command of a daemon; the others make one pass and end.
const CommandRun = "larder run"

// Holder is the process that holds the data folder.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // "larder sync"
}

// String names a holder: "a daemon (larder run, process 7)".
func (h Holder) String() string {
	if h.Command == CommandRun {
		return fmt.Sprintf("a daemon (%s, process %d)", h.Command, h.PID)
	}
	return fmt.Sprintf("a %s (process %d)", h.Command, h.PID)
}

// Next is what to do for a process of one's own in the holder's place.
func (h Holder) Next() string {
	if h.Command == CommandRun {
		return "larder status shows what it does; stop it first, or give this one another folder (warehouse.dsn)"
	}
	return "wait until it has ended, or end it with Ctrl-C; nothing that it has stored is lost"
}

// Who asks the process that holds the engine who it is.
func (c Client) Who(ctx context.Context) (h Holder, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := c.ask(ctx, http.MethodGet, routeHolder, nil)
	if err != nil {
		return h, err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	return h, json.NewDecoder(body).Decode(&h)
}

// WhoHolds says which command holds the data folder.
func (c Client) WhoHolds(ctx context.Context) string {
	h, err := c.Who(ctx)
	if err != nil {
		return "another process holds it"
	}
	return h.String() + " holds it"
}
