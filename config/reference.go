package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Reference writes docs/configuration.md from the table of options.
func Reference() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, referenceHead, reloadedKeys())
	b.WriteString("\n## sources\n\nA list; everything else has a default. One entry is one API key, hence one restaurant.\n\n" +
		sharedRestaurant)
	writeTable(&b, "", sourceOptions)
	for _, section := range keysUnder("", keysOf(options)) {
		fmt.Fprintf(&b, "\n## %s\n\n", section)
		writeTable(&b, section, options)
	}
	b.WriteString(referenceFoot)
	return b.Bytes()
}

// reloadedKeys names the options that a running daemon takes over, and a section alone where
// it takes over all of its options.
func reloadedKeys() string {
	names := []string{"`sources`"}
	for _, section := range keysUnder("", keysOf(options)) {
		var live []string
		all := true
		for _, o := range options {
			if strings.HasPrefix(o.Key, section+".") {
				all = all && o.live
				if o.live {
					live = append(live, "`"+o.Key+"`")
				}
			}
		}
		if all {
			live = []string{"`" + section + "`"}
		}
		names = append(names, live...)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func writeTable[T any](b *bytes.Buffer, section string, table []option[T]) {
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, o := range table {
		name, ok := o.Key, true
		if section != "" {
			name, ok = strings.CutPrefix(o.Key, section+".")
		}
		if !ok {
			continue
		}
		def := ""
		if o.Default != "" {
			def = "`" + o.Default + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, o.Type, def, strings.ReplaceAll(o.Doc, "|", `\|`))
	}
}

const referenceHead = `# Configuration

<!-- Generated from config/options.go by: go test ./config -run Reference -update -->

Larder reads, each stronger than the one before:

1. the defaults below;
2. a YAML file: ` + "`--config FILE`, else `larder.yaml`, else `/etc/larder/larder.yaml`" + `;
3. the environment: ` + "`LARDER_` and `__` between levels, as in `LARDER_WEB__LISTEN`; sources are counted from 0, as in `LARDER_SOURCES__0__KEY_ENV`; lists are written with commas" + `;
4. flags: ` + "`--set web.listen=127.0.0.1:9000`, as often as needed" + `.

Only the sources are required:

` + "```yaml" + `
sources:
  - name: bistro
    base_url: https://host/v1
    key_file: /run/secrets/bistro
` + "```" + `

- An unknown key is an error that names the nearest known one, with its line; all problems are reported at once, and ` + "`larder check`" + ` goes on to try the keys and the warehouse.
- Durations are written with their unit (` + "`500ms`, `1s`, `2m`" + `), schedules as cron's five fields (` + "`*/15 * * * *`" + `) or as ` + "`@every 30s`" + `. Cron's fields are in Bucharest's time; ` + "`CRON_TZ=UTC `" + ` before them names another zone. ` + "`schedule.reconcile`, `schedule.reconcile_deep` and `schedule.full_resync`" + ` can be ` + "`off`" + `.
- Relative paths are those of the configuration file's folder; without a file, of the working directory.
- The daemon reads its configuration anew when the file changes (in place, by a rename, or through exchanged symbolic links as Kubernetes does it) and on SIGHUP. %s change at once, without disturbing the sources that stay the same; a source that has changed goes on from what is stored. Whatever else has changed is named in a warning and takes effect at the next start. A configuration that is not right is refused as a whole, and the one before stays in use: the log, the page, ` + "`larder status`" + ` and ` + "`larder_config_last_reload_successful`" + ` say so.
- Keys are read from their files every few seconds, so that a rotated key needs neither a restart nor a reload. A key file that is empty or gone leaves the last key in use; a ` + "`next_key_file`" + ` that has been gone for a minute is not tried any more.
- Secrets are read from files or the environment, trimmed of white space around them, and never shown in a log, a metric, an error or a page. A file with a secret that every user of the machine can read is a warning of ` + "`larder check` and `larder run`, with the command that mends it" + `. One that is readable for a group only is none, nor one that lies in a closed folder, or that Kubernetes, Docker or Podman mounts.
`

const sharedRestaurant = "A restaurant may have several sources, a key for each branch of a chain, say. While it has, a source whose key does not see all locations asks for the totals, `sales_daily` and `sales_products`, of each of its locations only. The rows of all locations together are written by a source whose key sees all locations, or by none. What it wrote of them before is marked `no_access`; when no other source is left, it brings them again.\n\n"

const referenceFoot = `
## Other environment variables

| variable | meaning |
|---|---|
| ` + "`LARDER_ENGINE`" + ` | Path of the engine's library, when the one beside the binary is not wanted. A library that everyone may write, or whose folder everyone may, is not loaded. |
`
