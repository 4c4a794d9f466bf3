package engine

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ExecConfined replaces this process by the same program with other arguments, which may
// read the folder and write into the scratch folder, and reaches no other file of the
// machine but what it takes to load the engine. The kernel holds that for all of its
// threads, from its first instruction on: the domain survives the exec. errors.Is finds
// ErrNoLandlock where the kernel has none, or a container forbids it.
func ExecConfined(folder, scratch string, args, env []string) error {
	return execConfined(filepath.Join(scratch, mirrorData), []string{folder, filepath.Join(scratch, mirrorConf)}, args, env)
}

// ExecConfinedTo is ExecConfined for a program that writes the folder, and needs no other. It
// moves files between folders, which the first version of Landlock forbids whatever its rules.
func ExecConfinedTo(folder string, args, env []string) error {
	if version, err := landlock(); err == nil && version < 2 {
		return fmt.Errorf("%w that allows to move files (Linux 5.19)", ErrNoLandlock)
	}
	return execConfined(folder, nil, args, env)
}

func execConfined(writable string, readable, args, env []string) error {
	library, err := FindLibrary()
	if err != nil {
		return err
	}
	self, err := Self()
	if err != nil {
		return err
	}
	programs, err := linked(self, library)
	if err != nil {
		return err
	}
	rules, files, err := newRuleset()
	if err != nil {
		return err
	}
	err = rules.allow(writable, files&^unix.LANDLOCK_ACCESS_FS_EXECUTE)
	for _, path := range append(readable, "/proc/self") {
		err = errors.Join(err, rules.allow(path, readFiles))
	}
	for _, path := range systemFiles {
		if missing := rules.allow(path, readFiles); !errors.Is(missing, os.ErrNotExist) {
			err = errors.Join(err, missing)
		}
	}
	for _, path := range programs {
		err = errors.Join(err, rules.allow(path, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_EXECUTE))
	}
	runtime.LockOSThread() // the thread that is confined is the one that stays
	if err == nil {
		err = rules.enter()
	}
	if err != nil {
		return fmt.Errorf("confine the engine: %w", err)
	}
	// What is set of the first thread alone would be lost: the program ends with its starter.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the process that has started this one: %w", err)
	}
	return fmt.Errorf("start this program again, confined: %w", syscall.Exec(self, args, append(env, LibraryEnv+"="+library)))
}

// linked are the files of the program and of the library, with what both are linked with.
func linked(self, library string) ([]string, error) {
	files := []string{self, library}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	dirs := []string{filepath.Dir(library)}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), " /"); ok && strings.Contains(path, ".so") {
			files = append(files, "/"+path)
			dirs = append(dirs, filepath.Dir("/"+path))
		}
	}
	so, err := elf.Open(library)
	if err != nil {
		return nil, unloadable(library, err)
	}
	defer so.Close()
	needed, err := so.ImportedLibraries()
	if err != nil {
		return nil, unloadable(library, err)
	}
	for _, dir := range dirs {
		for _, name := range needed {
			files = append(files, filepath.Join(dir, name))
		}
	}
	files = append(files, "/etc/ld.so.cache")
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(path string) bool { return !isFile(path) }), nil
}
