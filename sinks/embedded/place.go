package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A data folder that is moved away takes its lock along, and another process would find
// nothing at its place that tells of the one that has it open. So a process that opens a
// folder also locks its place: files outside of it, named after its path, where the same
// user's processes look.

// ElsewhereError says that a process has the folder of this place open, and that what is
// there now is another one, or none.
type ElsewhereError struct {
	Path string
	PID  int
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("process %d has the data folder %s open, and what is at its place now is not that folder: it was removed or replaced; "+
		"stop the process (kill %d), put the folder back (or a backup of it), and start it again", e.PID, e.Path, e.PID)
}

// OpenElsewhere is an *ElsewhereError when a process has the folder of this place open without
// holding what is there now.
func OpenElsewhere(path string) error {
	file, pid := heldPlace(path)
	if file == "" || heldFolder(path) {
		return nil
	}
	// One that was just ending lets go of the place first: it has, if it was that.
	if again, _ := heldPlace(path); again == "" {
		return nil
	}
	return &ElsewhereError{Path: path, PID: pid}
}

// heldPlace is a locked file of the place, with the process that it names.
func heldPlace(path string) (file string, pid int) {
	for _, name := range placeFiles(path) {
		if ownFolder(filepath.Dir(name)) != nil {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		locked := isLocked(f)
		_ = f.Close() // it was only read
		if locked {
			return name, pidIn(name)
		}
	}
	return "", 0
}

// heldFolder is true when a process holds the folder that is there.
func heldFolder(path string) bool {
	_, err := os.Stat(filepath.Join(path, LockName))
	return err == nil && !FolderFree(path)
}

// place is what a process holds outside of its folder.
type place []*os.File

// lockPlace takes the place of a folder whose lock is held already. What cannot be made
// is left out: it is a guard against a mistake, and no reason not to work.
func lockPlace(path string) (place, error) {
	var p place
	for _, name := range placeFiles(path) {
		if privateFolder(filepath.Dir(name)) != nil {
			continue
		}
		file, err := lockFile(name)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			p.leave()
			return nil, &ElsewhereError{Path: path, PID: pidIn(name)}
		}
		if err == nil {
			p = append(p, file)
		}
	}
	return p, nil
}

// lockFile locks a file and writes this process into it. The holder before may remove the
// file as it ends, so one that is locked is tried again.
func lockFile(name string) (*os.File, error) {
	var err error
	for range 20 {
		var file *os.File
		if file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600); err != nil {
			return nil, err
		}
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil && stillThere(file) {
			showLock(file)
			_ = file.Truncate(0)
			_, _ = file.WriteString(strconv.Itoa(os.Getpid()) + "\n") // without both, the process is not named
			return file, nil
		}
		_ = file.Close() // nothing was written
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}

// stillThere is true when a file was not removed by who held it before.
func stillThere(file *os.File) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(file.Name())
	return err == nil && os.SameFile(ours, there)
}

// leave gives the place back.
func (p place) leave() {
	for _, file := range p {
		_ = os.Remove(file.Name()) // one that stays is locked by nobody
		_ = file.Close()           // nothing was written that has to last; the lock goes with it
	}
}

// placeFiles are the files that stand for a place: for each folder where they may be, one
// of the path as it is named, and one of where its links lead.
func placeFiles(path string) (files []string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	named := absolute
	if parent, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
		named = filepath.Join(parent, filepath.Base(absolute))
	}
	names := []string{named}
	if real, err := filepath.EvalSymlinks(absolute); err == nil && real != named {
		names = append(names, real)
	}
	for _, dir := range placeFolders() {
		for _, name := range names {
			sum := sha256.Sum256([]byte(name))
			files = append(files, filepath.Join(dir, hex.EncodeToString(sum[:16])+".lock"))
		}
	}
	return files
}

// placeFolders are this user's own: a shell, a timer and a service of one user need not
// have the same environment, so all are used.
func placeFolders() (dirs []string) {
	own := "larder-" + strconv.Itoa(os.Getuid())
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/run/user/" + strconv.Itoa(os.Getuid()), os.TempDir()} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			dirs = append(dirs, filepath.Join(dir, own))
		}
	}
	return dirs
}

// privateFolder makes a folder that only this user can enter.
func privateFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return ownFolder(dir)
}

// ownFolder refuses a folder that another may have made, where all can write.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not this user's own", dir)
	}
	return nil
}

func pidIn(file string) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0
	}
	return pid
}
