package enginetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// SmallDisk is a file system of a test's own, in memory, that can be filled.
type SmallDisk struct {
	Dir string // empty at first
	t   testing.TB
}

const smallDiskEnv = "LARDER_SMALL_DISK"

// OnSmallDisk runs test on a file system of size bytes. It starts the test binary
// again for this test alone, with mounts of its own, so that nothing is left
// behind however it ends. That needs root, or a system that lets users have
// namespaces; where there is neither, the test fails and says so.
func OnSmallDisk(t *testing.T, size int64, test func(d *SmallDisk)) {
	t.Helper()
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		if err := syscall.Mount("larder", dir, "tmpfs", 0, "size="+strconv.FormatInt(size, 10)); err != nil {
			t.Fatalf("mount a small file system at %s: %v: run the test as root, in a container with CAP_SYS_ADMIN", dir, err)
		}
		test(&SmallDisk{Dir: dir, t: t})
		return
	}
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	again := exec.CommandContext(ctx, os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$") //nolint:gosec // this binary
	again.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir())
	again.SysProcAttr = ownMounts()
	output, err := again.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Fatalf("on a small disk: %v\n%s", err, output)
	case err != nil:
		t.Fatalf("start the test with mounts of its own: %v: run it as root (in a container with CAP_SYS_ADMIN), or let users have namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)", err)
	}
	t.Logf("on a small disk:\n%s", output)
}

// ownMounts starts a process whose mounts nobody else sees; one that is not root
// is made root of a user namespace, so that it may mount.
func ownMounts() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		a.Cloneflags = syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return a
}

// Fill takes all space of the disk but some bytes. Where somebody writes to it meanwhile, it takes what is left then.
func (d *SmallDisk) Fill(leave int64) {
	d.t.Helper()
	file, err := os.OpenFile(filepath.Join(d.Dir, fillerName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	for range 100 {
		var disk syscall.Statfs_t
		if err = syscall.Statfs(d.Dir, &disk); err != nil {
			break
		}
		take := int64(disk.Bavail)*disk.Bsize - leave
		if take <= 0 {
			d.t.Fatalf("fill %s: it has %d bytes less than %d already", d.Dir, -take, leave)
		}
		if err = syscall.Fallocate(int(file.Fd()), 0, 0, take); !errors.Is(err, syscall.ENOSPC) {
			break
		}
	}
	if err != nil {
		d.t.Fatalf("fill %s: %v", d.Dir, err)
	}
}

// Free gives back what Fill took.
func (d *SmallDisk) Free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.Dir, fillerName)); err != nil {
		d.t.Fatal(err)
	}
}

const fillerName = "filler"
