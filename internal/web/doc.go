// Package web shows what the daemon does: the status page at /, its data at
// /status.json, /metrics, /healthz and /readyz.
//
// Contents: HTTP towards people, scrapers and orchestrators, and how a status is put into words.
//
// The page is rendered here in full and works without scripts (it reloads itself
// then). With them, page/live.js asks for the same address every two seconds
// with part=live and patches what changed into place.
package web
