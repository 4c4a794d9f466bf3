package embedded

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
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	library, err := FindLibrary()
	if err != nil {
		return err
	}
	programs, err := linked(exe, library)
	if err != nil {
		return fmt.Errorf("find the libraries of the engine: %w", err)
	}
	c, err := confine(filepath.Join(scratch, mirrorData), true)
	if err != nil {
		return err
	}
	for path, access := range map[string]uint64{folder: readFiles, filepath.Join(scratch, mirrorConf): readFiles, "/proc/self": readFiles} {
		err = errors.Join(err, c.allow(path, access))
	}
	for _, path := range programs {
		err = errors.Join(err, c.allow(path, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_EXECUTE))
	}
	if err != nil {
		return fmt.Errorf("confine the engine: %w", err)
	}
	runtime.LockOSThread() // the thread that is confined is the one that stays
	if err := c.enter(); err != nil {
		return err
	}
	return fmt.Errorf("start %s again, confined: %w", exe, syscall.Exec(exe, args, append(env, LibraryEnv+"="+library)))
}

// linked are the files of the program and of the library, with what both are linked with.
func linked(exe, library string) ([]string, error) {
	files := []string{exe, library}
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
		return nil, err
	}
	defer so.Close()
	needed, err := so.ImportedLibraries()
	if err != nil {
		return nil, err
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
