package embedded

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Confinable is nil where the kernel can confine a process to files (Landlock); errors.Is
// finds ErrNoLandlock else.
func Confinable() error {
	_, err := landlock()
	return err
}

// landlock is the version of Landlock.
func landlock() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("%w: %w", ErrNoLandlock, errno)
	}
	return int(version), nil
}

// confinement is a Landlock ruleset: what a program may reach of the file system and the
// network.
type confinement struct{ ruleset int }

// ErrNoLandlock is why a process cannot be confined.
var ErrNoLandlock = errors.New("the kernel has no Landlock")

const (
	readFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// allFiles are the rights of Landlock's first version; later ones add to them.
	allFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | readFiles |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// systemFiles are what the engine reads of the machine: how much memory and how
// many processors there are, and what a process may use of them.
var systemFiles = []string{"/sys/fs/cgroup", "/sys/devices/system/cpu", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/dev/null", "/dev/urandom"}

// confine prepares the confinement of a program to one folder. It sends no signal to others
// either, and reaches none of their abstract sockets (Linux 6.12). errors.Is finds
// ErrNoLandlock where the kernel has none, or a container forbids it.
func confine(folder string) (*confinement, error) {
	version, err := landlock()
	if err != nil {
		return nil, err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: allFiles}
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("%w: %w", ErrNoLandlock, errno)
	}
	c := &confinement{ruleset: int(fd)}
	if err := c.allow(folder, attr.Handled_access_fs&^unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
		return nil, errors.Join(fmt.Errorf("confine the engine to %s: %w", folder, err), unix.Close(c.ruleset))
	}
	for _, path := range systemFiles {
		if err := c.allow(path, readFiles); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("let the engine read %s: %w", path, err), unix.Close(c.ruleset))
		}
	}
	return c, nil
}

func (c *confinement) allow(path string, access uint64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		access &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(c.ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// enter confines the calling thread, and those that it starts, for good. The caller
// is locked to its thread and never unlocks it, so that no other goroutine comes
// to run there.
func (c *confinement) enter() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine the engine: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(c.ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("confine the engine: %w", errno)
	}
	return nil
}
