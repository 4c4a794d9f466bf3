// Package socket is Unix sockets that only this user can open.
//
// Contents: listening and dialling, at paths of any length.
package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Listen listens at path for this user alone, and replaces a socket that a killed process
// left there. The caller has made sure that nobody else listens.
func Listen(path string) (l *net.UnixListener, err error) {
	made := path + ".new"
	if err := os.Remove(made); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	err = shortly(made, func(short string) error {
		config := net.ListenConfig{Control: private}
		listener, err := config.Listen(context.Background(), "unix", short)
		if err != nil {
			return err
		}
		l = listener.(*net.UnixListener) //nolint:errcheck,forcetypeassert // as asked for
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	// Where the system makes sockets open to all, nobody knows this one's name before it is private.
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(made))
	}
	return l, nil
}

// private has the socket made with no rights for others.
func private(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = syscall.Fchmod(int(fd), 0o600) // not on every system: see Listen
	})
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = shortly(path, func(short string) error {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// longest name of a socket that every system takes.
const longest = 100

// shortly calls f with a name of path that is short enough for a socket: path itself, or one
// through its folder's descriptor, or through a link that exists while f runs.
func shortly(path string, f func(short string) error) error {
	if len(path) <= longest {
		return f(path)
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // it was only named
	through := filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())))
	if _, err := os.Stat(through); err == nil {
		return f(filepath.Join(through, filepath.Base(path)))
	}
	dir, err := os.MkdirTemp("", "larder-")
	if err != nil {
		return err
	}
	link := filepath.Join(dir, "d")
	if err = os.Symlink(filepath.Dir(path), link); err == nil {
		err = f(filepath.Join(link, filepath.Base(path)))
	}
	return errors.Join(err, os.RemoveAll(dir))
}
