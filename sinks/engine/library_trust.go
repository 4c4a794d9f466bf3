package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A library runs with all that this process may do, the API's keys included. So nobody
// may be able to exchange it who could not exchange this program as well.

// worldWritable is the permission for everyone to write.
const worldWritable fs.FileMode = 0o002

// ownersWith are the users whose files are trusted as much as an executable: root, the
// user of this process, and the owner of the executable.
func ownersWith(exe string) []uint32 {
	owners := []uint32{0, uint32(os.Geteuid())}
	if info, err := os.Stat(exe); err == nil {
		if owner, ok := ownerOf(info); ok {
			owners = append(owners, owner)
		}
	}
	return owners
}

// trusted returns the library's real path when nobody else can write it, or put another
// one in its place. Then neither the file nor a folder above it is open to everyone, and
// they belong to one of the owners (nil: to anyone). A folder in which everyone only may
// remove what is theirs, as /tmp, is no way in.
func trusted(library string, owners []uint32) (string, error) {
	path, err := filepath.Abs(library)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrEngineMissing, library, err)
	}
	for at := path; ; at = filepath.Dir(at) {
		if err := trust(at, owners); err != nil {
			return "", fmt.Errorf("%w: %s is not loaded, others could have put it there: %w", ErrEngineMissing, path, err)
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
	}
}

func trust(path string, owners []uint32) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode()&worldWritable != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0) {
		return fmt.Errorf("everyone may write %s: chmod o-w %s", path, path)
	}
	owner, ok := ownerOf(info)
	if !ok {
		return errors.New("the owner of " + path + " cannot be told")
	}
	if owners != nil && !slices.Contains(owners, owner) {
		return fmt.Errorf("%s belongs to user %d, not to root, to you, or to the owner of this program: chown it, or name the library in %s", path, owner, LibraryEnv)
	}
	return nil
}

func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}
