package status

import (
	"errors"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// Failure is the failure of a source or a stream in a report, which may be sent to another process.
type Failure struct {
	Text string     `json:"text"`
	Code int        `json:"code"` // a command's exit code
	Hint string     `json:"hint,omitempty"`
	Held *SweepHeld `json:"held,omitempty"` // of a sweep that waits for a person
	err  error      // in the process in which it was noticed
}

// FailureOf is the failure of an error, nil without one.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	held, _ := errors.AsType[*SweepHeld](err)
	return &Failure{Text: err.Error(), Code: lifecycle.ExitCode(err), Held: held, err: err}
}

// FailureIn is the failure of a source that is in one of the states of a source in trouble.
func FailureIn(state string, err error) *Failure {
	f := FailureOf(err)
	if f != nil {
		f.Hint = stateTexts[state].hint
		if stateTexts[state].kind == HealthRefused {
			f.Code = lifecycle.ExitAPI
		}
	}
	return f
}

func (f *Failure) Error() string { return f.Text }

// ExitCode is the exit code of a command that ends with it.
func (f *Failure) ExitCode() int { return f.Code }

// Unwrap is the error itself, where it was noticed.
func (f *Failure) Unwrap() error {
	switch {
	case f == nil:
		return nil
	case f.err == nil && f.Held != nil:
		return f.Held
	}
	return f.err
}
