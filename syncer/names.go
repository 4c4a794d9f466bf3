package syncer

import "github.com/larder-sync/larder/syncer/proof"

// What a pass of [Syncer.Reconcile] asks for and returns.
type (
	// ReconcileRequest says which days are compared.
	ReconcileRequest = proof.Request
	// ReconcileReport is what a reconciliation did, or has done so far.
	ReconcileReport = proof.Report
	// VerdictCounts are verdicts, or days by the worst of their verdicts.
	VerdictCounts = proof.VerdictCounts
	// SourceReconcile is the reconciliation of one source.
	SourceReconcile = proof.SourceReport
)
