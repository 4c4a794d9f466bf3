package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/backup"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/enginetest"
)

// A backup on a disk that is too small for it is refused before it is begun, and so is one that
// would write only what its base lacks.
func TestBackupNeedsSpace(t *testing.T) {
	notInShort(t)
	onSmallDisk(t, sandbox.Options{Seed: 11, Orders: 50, Days: 5, NoLimits: true}, func(w *world, disk *enginetest.SmallDisk) {
		w.sync(t)
		base := filepath.Join(disk.Dir, "base")
		for name, content := range map[string]string{
			"larder-backup.json":  `{"made_at": "2020-01-01T00:00:00Z", "database": "larder"}`,
			"rows/.backup":        "<config><base_backup></base_backup></config>",
			"checkpoints/.backup": "<config></config>",
		} {
			path := filepath.Join(base, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if backup.SizeSince(filepath.Join(disk.Dir, "data", "store"), time.Time{}) == 0 {
			t.Error("the engine's files are elsewhere")
		}
		for _, on := range []string{"", base} {
			_, err := w.app.Backup(t.Context(), filepath.Join(disk.Dir, "new"), on, func(BackupProgress) {})
			if err == nil || !strings.Contains(err.Error(), "free, and the backup may need") {
				t.Errorf("a backup on base %q: %v", on, err)
			}
			if left, err := os.ReadDir(filepath.Join(disk.Dir, "data", "backup-tmp")); err != nil || len(left) > 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
		}
	})
}

// Two mounts of one disk, as systemd makes for a service's folders: the backup is copied. A place that
// cannot be written is refused before the engine writes.
func TestBackupToAnotherMount(t *testing.T) {
	notInShort(t)
	enginetest.OnSmallDisk(t, 1<<30, func(disk *enginetest.SmallDisk) {
		w := newWorld(t, sandbox.Options{Seed: 12, Orders: 50, Days: 5, NoLimits: true})
		dsn, err := config.ParseDSN("embedded:" + filepath.Join(disk.Dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		w.app.Config.Warehouse.DSN = dsn
		w.sync(t)
		mounted, plain := filepath.Join(disk.Dir, "mounted"), filepath.Join(disk.Dir, "plain")
		for _, dir := range []string{mounted, plain} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mount(plain, mounted, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		if err := backup.NeedFree(disk.Dir, 1<<60); err == nil || !strings.Contains(err.Error(), disk.Dir) {
			t.Errorf("an exbibyte: %v", err)
		}
		if _, err := w.app.Backup(t.Context(), "/proc/b", "", func(BackupProgress) {}); err == nil || !strings.HasPrefix(err.Error(), "back up to /proc/b: ") {
			t.Errorf("to a place that cannot be written: %v", err)
		}
		to := filepath.Join(mounted, "new")
		m, err := w.app.Backup(t.Context(), to, "", func(BackupProgress) {})
		if err != nil || m.Bytes == 0 || m.Rows == 0 {
			t.Errorf("%+v, %v", m, err)
		}
		if again, err := backup.Read(to); err != nil || again.Bytes != m.Bytes {
			t.Errorf("%+v, %v; want %+v", again, err, m)
		}
		if left, err := filepath.Glob(filepath.Join(disk.Dir, "*/backup-tmp/*")); err != nil || len(left) > 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	})
}
