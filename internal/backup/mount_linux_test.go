package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-sync/larder/internal/backup"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
)

// Between two mounts of one disk a backup is copied, and there are two of it for a while: it leaves
// some of the disk to the daemon.
func TestCopyLeavesSpace(t *testing.T) {
	enginetest.OnSmallDisk(t, 300<<20, func(disk *enginetest.SmallDisk) {
		mounted, plain := filepath.Join(disk.Dir, "mounted"), filepath.Join(disk.Dir, "plain")
		parts := clickhouse.BackupFolders{Claims: filepath.Join(disk.Dir, "checkpoints"), Rows: filepath.Join(disk.Dir, "rows")}
		for _, dir := range []string{mounted, plain, parts.Claims, parts.Rows} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(syscall.Mount(plain, mounted, "", syscall.MS_BIND, ""),
			os.WriteFile(filepath.Join(parts.Rows, "data"), make([]byte, 16<<20), 0o600)); err != nil {
			t.Fatal(err)
		}
		disk.Fill(256<<20 + 10<<20)
		_, err := backup.Publish(t.Context(), parts, backup.Manifest{}, filepath.Join(mounted, "new"))
		if err == nil || !strings.Contains(err.Error(), parts.Rows) || !strings.Contains(err.Error(), "the disk of "+mounted+" has 266 MiB free, and the backup may need 272 MiB there: free some space") {
			t.Errorf("a copy that leaves 250 MiB: %v", err)
		}
		disk.Free()
		disk.Fill(256<<20 + 17<<20)
		if err := os.RemoveAll(backup.Unfinished(filepath.Join(mounted, "new"))); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Publish(t.Context(), parts, backup.Manifest{}, filepath.Join(mounted, "new")); err != nil {
			t.Errorf("a copy that leaves 257 MiB: %v", err)
		}
	})
}
