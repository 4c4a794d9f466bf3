{{define "held"}}
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise'
{{end}}

{{define "version_dates"}}
    `valid_from` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state'
{{end}}

{{define "state_dates"}}
{{columns "version_dates"}},
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
{{end}}
