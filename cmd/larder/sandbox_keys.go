package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/larder-sync/larder/internal/sandbox"
)

// printSandbox prints where the API is, which keys it takes, and how to mirror it.
func printSandbox(w io.Writer, address string, keys []sandbox.Key) error {
	p := &printer{out: w}
	p.printf("The API is at %s\n", address)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range keys {
		k := &keys[i]
		if i == 0 || k.Business != keys[i-1].Business {
			fmt.Fprintf(t, "\n%s\n", k.BusinessName)
		}
		rights := strings.ReplaceAll(strings.Join(k.Scopes, ","), ":read", "")
		if !k.AllLocations {
			rights += fmt.Sprintf("; %d location", len(k.LocationIDs))
		}
		if k.State != sandbox.KeyActive {
			rights = k.State + " by the restaurant"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", k.Role, k.Value, rights)
		if k.WebhookURL != "" {
			fmt.Fprintf(t, "    signs with\t%s\tevents of its orders, to %s\n", k.WebhookSecret, k.WebhookURL)
		}
	}
	p.failed(t.Flush())
	if len(keys) == 0 {
		return p.err
	}
	p.printf(`
Ask it:  curl -H 'Authorization: Bearer %[1]s' %[2]s/me

Mirror it: put that key, main, into a file

    (umask 077 && echo %[1]s > sandbox.key)

and this into larder.yaml:

sources:
  - name: sandbox
    base_url: %[2]s
    key_file: sandbox.key
warehouse: {dsn: "embedded:./larder-data"}

Then

    %[3]s check
    %[3]s run
`, keys[0].Value, address, os.Args[0])
	return p.err
}
