package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
)

// ListenSocket listens at path for this user alone. The socket is made in a
// folder that only this user can enter and then moved to its place, so that it
// is never open to others and replaces one that a killed process left.
func ListenSocket(path string) (l *net.UnixListener, err error) {
	private, err := os.MkdirTemp(filepath.Dir(path), ".socket-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()

	made := filepath.Join(private, socketName)
	err = shortly(made, func(short string) error {
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err != nil {
			return err
		}
		listener.SetUnlinkOnClose(false)
		l = listener
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// DialSocket connects to a socket of this machine.
func DialSocket(ctx context.Context, path string) (conn net.Conn, err error) {
	err = shortly(path, func(short string) error {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// longest name of a socket that every system takes.
const longestSocket = 100

// shortly calls f with a name of path that is short enough for a socket: path
// itself, or one through a link that exists while f runs.
func shortly(path string, f func(short string) error) error {
	if len(path) <= longestSocket {
		return f(path)
	}
	dir, err := os.MkdirTemp("", "larder-")
	if err != nil {
		return err
	}
	link := filepath.Join(dir, "d")
	err = os.Symlink(filepath.Dir(path), link)
	if err == nil {
		err = f(filepath.Join(link, filepath.Base(path)))
	}
	return errors.Join(err, os.RemoveAll(dir))
}
