package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
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
		fmt.Fprintf(t, "  %s\t%s\t%s\n", k.Role, k.Value, rightsOf(k))
	}
	p.failed(t.Flush())
	if len(keys) == 0 {
		return p.err
	}
	printWebhooks(p, keys)
	name, secret, webhook, listen := "sandbox", "", "", ""
	if u, err := url.Parse(keys[0].WebhookURL); err == nil && keys[0].WebhookURL != "" {
		name = path.Base(u.Path)
		secret = fmt.Sprintf("\n    (umask 077 && echo %s > sandbox.secret)", keys[0].WebhookSecret)
		webhook = "\n    webhook: {secret_file: sandbox.secret}"
		listen = fmt.Sprintf("\nwebhooks: {listen: %q}", u.Host)
	}
	p.printf(`
Ask it:  curl -H 'Authorization: Bearer %s' %s/me

Mirror it: put that key, main, into a file

    (umask 077 && echo %s > sandbox.key)%s

and this into larder.yaml:

sources:
  - name: %s
    base_url: %s
    key_file: sandbox.key%s
warehouse: {dsn: "embedded:./larder-data"}%s

Then

    %s check
    %s run
`, keys[0].Value, address, keys[0].Value, secret, name, address, webhook, listen, os.Args[0], os.Args[0])
	return p.err
}

// printWebhooks prints where events of orders go and what they are signed with.
func printWebhooks(p *printer, keys []sandbox.Key) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k sandbox.Key) bool { return k.WebhookURL == "" })
	if len(keys) > 0 {
		p.printf("\nEvents of what is ordered online through a key go to its address, signed with its secret:\n")
	}
	for i := range keys {
		k := &keys[i]
		p.printf("  %s  %s, %s: %s\n", k.WebhookSecret, k.Role, k.BusinessName, k.WebhookURL)
	}
}

// rightsOf is what a key may do, in a few words.
func rightsOf(k *sandbox.Key) string {
	if k.State != sandbox.KeyActive {
		return k.State + " by the restaurant"
	}
	var reads, rights []string
	for _, scope := range k.Scopes {
		if what, ok := strings.CutSuffix(scope, ":read"); ok {
			reads = append(reads, what)
		} else {
			rights = append(rights, scope)
		}
	}
	if len(reads) > 0 {
		rights = append(rights, "read "+strings.Join(reads, ","))
	}
	if !k.AllLocations {
		rights = append(rights, fmt.Sprintf("%d location", len(k.LocationIDs)))
	}
	return strings.Join(rights, "; ")
}
