package engine

import (
	"errors"
	"fmt"
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

// ruleset is a Landlock ruleset: what a program may reach of the file system and the network.
type ruleset int

// newRuleset makes a ruleset that allows nothing, and returns all rights to files that it knows.
// Who is under it sends no signal to others either, and reaches none of their abstract sockets
// (Linux 6.12). errors.Is finds ErrNoLandlock where the kernel has none, or a container forbids it.
func newRuleset() (rules ruleset, files uint64, err error) {
	version, err := landlock()
	if err != nil {
		return 0, 0, err
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
		return 0, 0, fmt.Errorf("%w: %w", ErrNoLandlock, errno)
	}
	return ruleset(fd), attr.Handled_access_fs, nil
}

func (r ruleset) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}

// enter confines the calling thread, and those that it starts, for good. The caller
// is locked to its thread and never unlocks it, so that no other goroutine comes
// to run there.
func (r ruleset) enter() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r), 0, 0); errno != 0 {
		return errno
	}
	return nil
}
