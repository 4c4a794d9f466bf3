package embedded

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

// FindLibrary returns the path of the engine library: what LARDER_ENGINE names,
// else the first that exists beside the executable, in the lib folder of its
// installation, or in a node_modules of its folder's parent or of the working
// directory and the folders above it. The error is ErrEngineMissing and says how
// to get one.
func FindLibrary() (string, error) {
	if named := os.Getenv(LibraryEnv); named != "" {
		if !isFile(named) {
			return "", fmt.Errorf("%w: %s names %s, where there is no file; correct it, or unset it and run `make engine`", ErrEngineMissing, LibraryEnv, named)
		}
		return filepath.Abs(named)
	}
	for _, candidate := range candidates() {
		if isFile(candidate) {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%w: run `make engine` to fetch it, or set %s to the path of a libchdb.so", ErrEngineMissing, LibraryEnv)
}

func candidates() []string {
	var found []string
	inModules := filepath.Join("node_modules", "@chdb", npmPackage(), "libchdb.so")
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		dir := filepath.Dir(exe)
		found = append(found,
			filepath.Join(dir, "libchdb.so"),
			filepath.Join(dir, "..", "lib", "larder", "libchdb.so"),
			filepath.Join(dir, "..", inModules))
	}
	dir, err := os.Getwd()
	for err == nil {
		found = append(found, filepath.Join(dir, inModules))
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
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
