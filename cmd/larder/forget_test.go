package main

import (
	"os"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
)

func TestForget(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, sandbox.Options{Seed: 6, Orders: -1, NoLimits: true, OnlineOrders: 30})
	h.configure("    personal_data: keep\n" + quiet + local("embedded:./data"))
	h.write("long", strings.Repeat("7", 100_000))
	h.want(2, "name the source whose restaurant it is", "forget", "--phone", "0722123456")
	h.want(2, "name either the customer's phone (--phone) or orders", "forget", "--source", "bistro")
	h.want(2, "name either the customer's phone (--phone) or orders", "forget", "--source", "bistro", "--phone", "0722123456", "--order", "o1")
	h.want(2, "--phone has no digit in it", "forget", "--source", "bistro", "--phone", "Ana")
	h.want(2, `--source "other" is not configured`, "forget", "--source", "other", "--order", "o1")
	h.want(2, "there is no phone on the standard input", "forget", "--source", "bistro", "--phone", "-")
	for _, in := range []string{h.path("long"), h.dir} { // a line without an end, and what cannot be read
		stdin, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		if r := h.runWith(stdin, "forget", "--source", "bistro", "--phone", "-"); r.code != 2 || !strings.Contains(r.errors, "read the phone from the standard input: ") {
			t.Errorf("of %s: exit code %d\n%s", in, r.code, r.errors)
		}
		if err := stdin.Close(); err != nil {
			t.Error(err)
		}
	}
	h.want(4, "larder run", "forget", "--source", "bistro", "--order", "o1") // there is no warehouse
	h.migrated()
	h.engineStays()
	h.want(0, "ok", "sync")
	h.want(0, "Nothing is stored of that customer.", "forget", "--source", "bistro", "--phone", "+40700000000")
	first := h.want(0, "", "sql", "--format", "TSV", "SELECT id, customer_phone FROM online_orders ORDER BY id LIMIT 1")
	id, phone, found := strings.Cut(strings.TrimSpace(first.out), "\t")
	if !found || phone == "" {
		t.Fatalf("order %q of %q", id, phone)
	}
	r := h.runWith(strings.NewReader(phone+"\n"), "forget", "--source", "bistro", "--phone", "-")
	if said := r.out + r.errors; r.code != 0 || !strings.Contains(said, "Erased the customer of ") || !strings.Contains(said, "  "+id+"\n") || strings.Contains(said, phone) {
		t.Errorf("exit code %d\n%s", r.code, said)
	}
	h.want(0, "0", "sql", "--format", "TSV", "SELECT countIf(customer_phone = '"+phone+"') FROM online_orders")
	h.want(0, "Nothing is stored of that customer.", "forget", "--source", "bistro", "--order", id)
}
