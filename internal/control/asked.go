package control

import (
	"cmp"
	"strings"

	"github.com/larder-sync/larder/syncer"
)

// What a command asks the daemon for, as the log tells it.

func passInWords(sel syncer.Selection) string {
	what := "a pass of "
	if sel.Full {
		what = "a full resync of "
	}
	what += ofWhat(sel)
	if sel.ConfirmSweep {
		what += ", its sweep confirmed"
	}
	return what
}

func verificationInWords(sel syncer.Selection) string { return "a verification of " + ofWhat(sel) }

func reconciliationInWords(r syncer.ReconcileRequest) string {
	what := "a reconciliation of " + ofWhat(syncer.Selection{Sources: r.Sources}) +
		", from " + cmp.Or(r.From, "the first order") + " to " + cmp.Or(r.To, "today")
	if r.Heal {
		what += ", with healing"
	}
	return what
}

func forgettingInWords(r syncer.ForgetRequest) string {
	return "a customer of " + r.Source + " to be forgotten"
}

// ofWhat names the streams and sources of a selection.
func ofWhat(sel syncer.Selection) string {
	streams, sources := strings.Join(sel.Streams, ", "), strings.Join(sel.Sources, ", ")
	switch {
	case streams == "" && sources == "":
		return "everything"
	case streams == "":
		return sources
	case sources == "":
		return streams + " of all sources"
	}
	return streams + " of " + sources
}
