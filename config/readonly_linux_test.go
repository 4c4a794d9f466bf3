package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/internal/test/enginetest"
)

// A Secret of Kubernetes, for a process that is not root: on a read-only mount of a disk that can be
// written, and by its permissions not to be written either.
func TestASecretOnAReadOnlyMount(t *testing.T) {
	enginetest.OnSmallDisk(t, 1<<20, func(disk *enginetest.SmallDisk) {
		key, mount := filepath.Join(disk.Dir, "key"), filepath.Join(disk.Dir, "mount")
		err := errors.Join(os.Mkdir(mount, 0o755), os.WriteFile(key, nil, 0o600), os.Chmod(key, 0o444),
			syscall.Mount(disk.Dir, mount, "", syscall.MS_BIND, ""),
			syscall.Mount("", mount, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		if err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread() // the thread ends with the test: it is like that of another user from here
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &make([]unix.CapUserData, 2)[0]); err != nil {
			t.Fatal(err)
		}
		if err := unix.Access(filepath.Join(mount, "key"), unix.W_OK); !errors.Is(err, unix.EACCES) {
			t.Errorf("asked whether the key may be written, the system answers %v", err)
		}
		if readOnly(key) || !readOnly(filepath.Join(mount, "key")) {
			t.Errorf("read-only is the key on the disk: %v, on the mount: %v", readOnly(key), readOnly(filepath.Join(mount, "key")))
		}
	})
}
