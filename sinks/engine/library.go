package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// LibraryEnv names the environment variable that says where the engine is.
const LibraryEnv = "LARDER_ENGINE"

// ErrEngineMissing is returned when no engine library could be found or loaded.
var ErrEngineMissing = errors.New("no embedded ClickHouse engine that works")

// FindLibrary returns the path of the engine library: what LARDER_ENGINE names, else
// the first that exists beside the executable, in the lib folder of its installation,
// or in the checkout that the executable was built in. The working directory is no
// place to look: who runs Larder somewhere does not mean to run what lies there. A
// library that others could have put there is refused. The error is ErrEngineMissing
// and says what to do.
func FindLibrary() (string, error) {
	exe := executable()
	if named := os.Getenv(LibraryEnv); named != "" {
		if !isFile(named) {
			return "", fmt.Errorf("%w: %s names %s, where there is no file; correct it, or unset it and run `make engine`", ErrEngineMissing, LibraryEnv, named)
		}
		return trusted(named, nil) // whose it is, the one who named it knows
	}
	_, source, _, _ := runtime.Caller(0)
	for _, candidate := range candidates(exe, source) {
		if isFile(candidate) {
			return trusted(candidate, ownersWith(exe))
		}
	}
	return "", fmt.Errorf("%w: run `make engine` to fetch it, or set %s to the path of a libchdb.so", ErrEngineMissing, LibraryEnv)
}

// executable is this program's file, empty when it is not known.
func executable() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		return real
	}
	return exe
}

// candidates are where the library may be for an executable that was made from a source
// file of this package. The compiler notes the file's whole path, which leads `go run`
// and `go test` to their checkout; what is released is built with -trimpath, and looks
// beside itself only.
func candidates(exe, source string) []string {
	var found []string
	if exe != "" {
		dir := filepath.Dir(exe)
		found = append(found, filepath.Join(dir, "libchdb.so"), filepath.Join(dir, "..", "lib", "larder", "libchdb.so"))
	}
	if filepath.IsAbs(source) {
		checkout := filepath.Join(filepath.Dir(source), "..", "..")
		found = append(found, filepath.Join(checkout, "node_modules", "@chdb", npmPackage(), "libchdb.so"))
	}
	return found
}

// npmPackage is the name of the npm package for this machine, without its scope.
func npmPackage() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	name := "lib-" + runtime.GOOS + "-" + arch
	if runtime.GOOS == "linux" {
		name += "-gnu"
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
