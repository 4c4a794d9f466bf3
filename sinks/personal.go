package sinks

import "context"

// Personal is what a sink does with what its rows say of people (docs/rules.md R14). Its methods
// work on one stream's rows, and on its quarantine.
type Personal interface {
	// Forgotten are the ids of a business's orders whose customers are forgotten, and Forget
	// adds some, durably. by says how they were chosen, and nothing of a person.
	Forgotten(ctx context.Context, business string) ([]string, error)
	Forget(ctx context.Context, business, by string, ids []string) error

	// Versions calls each with every version that q selects, in any order: superseded ones
	// and tombstones too. It stops at the first error of each.
	Versions(ctx context.Context, q VersionQuery, each func(RowVersion) error) error

	// CountFilled counts the rows that a source wrote of which a version has one of the columns not null.
	CountFilled(ctx context.Context, table, business, source string, columns []string) (int, error)

	// Redact changes what versions hold. Quarantine entries without an id are removed: their
	// JSON is what they are told apart by, and a walk brings them again. When it returns nil, nothing of what they held
	// before is in the files of the warehouse. Doing it again is harmless.
	Redact(ctx context.Context, r Redaction) error

	// Recover brings to an end what a process that died has left of a Redact. It does so once.
	Recover(ctx context.Context) error

	// EraseDrift removes the examples of unknown fields and values that rows gave: those of
	// the ids, or with nil all of a stream of a source. An empty source is any.
	EraseDrift(ctx context.Context, business, source, stream string, ids []string) error

	// Detached is how many parts of the tables that Redact works on lie aside: Redact leaves
	// them alone, as nothing can be known of them.
	Detached(ctx context.Context, stream string) (int, error)
}

// VersionQuery selects stored versions of rows, or of quarantine entries.
type VersionQuery struct {
	Table      string // the stream's
	Quarantine bool   // its quarantine entries, in the place of its rows
	Business   string
	Source     string   // that wrote them; empty for any
	IDs        []string // of those rows only, [MaxRowIDs] at most; nil for all
	// Filled: only versions in which at least one of these columns is not null. Quarantine
	// entries have no columns.
	Filled []string
}

// RowVersion is one version of a row, or of a quarantine entry.
type RowVersion struct {
	Source, ID string // ID is empty of a quarantine entry without one
	Version    uint64
	Raw        []byte
	Tombstone  []byte // JSON of the tombstone, when the version is one that the service sent
}

// Redaction gives versions another JSON, and takes values out of their columns.
type Redaction struct {
	Table      string
	Quarantine bool
	Business   string
	Versions   []RowVersion // with the JSON that they get
	// Null are columns that become null; of a list, its elements. They hold texts or numbers.
	Null []string
	// Texts are the values that text columns get, one for each version; an empty one is null.
	Texts map[string][]string
}
