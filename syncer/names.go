package syncer

import "github.com/larder-sync/larder/syncer/reconcile"

// What a pass of [Syncer.Reconcile] asks for and returns.
type (
	// ReconcileRequest says which days are compared.
	ReconcileRequest = reconcile.Request
	// ReconcileReport is what a reconciliation did, or has done so far.
	ReconcileReport = reconcile.Report
	// VerdictCounts are verdicts, or days by the worst of their verdicts.
	VerdictCounts = reconcile.VerdictCounts
	// SourceReconcile is the reconciliation of one source.
	SourceReconcile = reconcile.SourceReport
)
