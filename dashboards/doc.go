// Package dashboards has the Grafana dashboards of Larder, in Romanian and English.
//
// Each dashboard is one file of this package: its panels with their queries, and a
// table of its texts in both languages. What Grafana reads is generated from them into
// ro/ and en/ (go run ./dashboards/generate), committed, and embedded here; tests hold
// it to its source, to what is known of Grafana and its ClickHouse plugin (Lint), and
// run every query.
//
// Contents: what is drawn, from which query, in which words.
package dashboards
