// Package deploy is what Larder is put into service with: the alerts and the configuration of
// Prometheus, the provisioning of Grafana, the image and its composition, the systemd unit. Its
// tests hold the files against Larder and its documents, and against the programs that read them.
package deploy
