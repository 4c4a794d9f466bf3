package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File    string // empty when the value is not from the file
	Origin  string // "line 4", an environment variable, or a flag
	Key     string // sources[0].name; empty when it concerns no key
	Message string

	line int
}

func (p Problem) String() string {
	return strings.Join(nonEmpty(p.Origin, p.Key, p.Message), ": ")
}

func (p Problem) inFile() string { return strings.Join(nonEmpty(p.File, p.String()), ": ") }

// nonEmpty returns the values that are not empty.
func nonEmpty(values ...string) []string {
	return slices.DeleteFunc(values, func(s string) bool { return s == "" })
}

// Error is everything wrong with a configuration.
type Error struct {
	Problems []Problem
	// LogFormat is log.format as far as it could be read: the error itself is logged in it.
	LogFormat string
}

// ExitCode is the exit code of a command whose configuration cannot be used.
func (e *Error) ExitCode() int { return lifecycle.ExitUsage }

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].inFile()
	}
	head, line := e.Problems[0].File, Problem.String
	if head == "" || slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.File != head }) {
		head, line = "configuration", Problem.inFile
	}
	text := fmt.Sprintf("%s: %d problems", head, len(e.Problems))
	for _, p := range e.Problems {
		text += "\n  " + line(p)
	}
	return text
}

// origin is where a value was written.
type origin struct {
	line int    // of the file; 0: not in the file
	name string // of the environment variable or flag
}

func (o origin) String() string {
	if o.line > 0 {
		return "line " + strconv.Itoa(o.line)
	}
	return o.name
}

var indexForm = regexp.MustCompile(`\.(\d+)(\.|$)`)

// problem is a problem of a key, where it was written; a missing key has the place of its section.
func (c *Config) problem(key, message string) Problem {
	var at origin
	for part := key; part != "" && at == (origin{}); part = part[:max(0, strings.LastIndexByte(part, '.'))] {
		at = c.origins[part]
	}
	p := Problem{File: c.File, Origin: at.String(), Key: indexForm.ReplaceAllString(key, "[$1]$2"), Message: message, line: at.line}
	if at.name != "" {
		p.File = ""
	}
	return p
}

// SecretError is about a secret that a source needs beside its key.
type SecretError struct {
	Setting string // of the source, or of the warehouse
	Err     error
}

func (e *SecretError) Error() string { return e.Setting + ": " + e.Err.Error() }

func (e *SecretError) Unwrap() error { return e.Err }

// NoPassword is the error of a password of the page that cannot be read.
func (c *Config) NoPassword(err error) *Error {
	return &Error{Problems: []Problem{c.problem("web.password_file", err.Error())}}
}

// NoKey is what is wrong with a source whose key cannot be read, or, with a [*SecretError],
// another of its secrets.
func (c *Config) NoKey(s *Source, err error) Problem {
	key := "key_file"
	of, other := errors.AsType[*SecretError](err)
	if other {
		key = of.Setting
	}
	if !strings.HasPrefix(key, "warehouse.") {
		key = s.path + "." + key
	}
	p := c.problem(key, err.Error())
	if p.Key = "source " + s.Name; !other && s.KeyEnv != "" { // the error names the variable
		p.File, p.Origin = "", ""
	}
	return p
}
