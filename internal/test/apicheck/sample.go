package apicheck

import (
	"sync"

	"github.com/larder-sync/larder/internal/sandbox/answers"
)

// The answers that are checked: of each route and status the first ones, each one whose number is
// a power of two, and those with a field that was not seen with this kind of value.
const (
	checkedAnyway = 3
	readWhole     = 100 // after so many, new fields are searched in one of eight
)

// taken is the sample of this test binary: what one test has checked, another need not.
var taken = sample{of: map[sampleKey]*seen{}}

type sample struct {
	mu sync.Mutex // guards what follows
	of map[sampleKey]*seen
}

type sampleKey struct {
	route     string
	status    int
	newValues bool
}

// seen is the answers of one route and status.
type seen struct {
	answers int
	fields  [64]uint64 // a bit for each field with a kind of value, by hash
}

// take reports whether an answer is to be checked.
func (s *sample) take(a answers.Answer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sampleKey{a.Route, a.Status, a.NewValues}
	of := s.of[key]
	if of == nil {
		of = &seen{}
		s.of[key] = of
	}
	of.answers++
	if of.answers > readWhole && of.answers%8 != 0 {
		return false
	}
	fresh := of.add(a.Body)
	return fresh || of.answers <= checkedAnyway || of.answers&(of.answers-1) == 0
}

// add enters the fields of a body and reports whether one is new. Fields differ by name, depth
// and kind of value.
func (s *seen) add(body []byte) (fresh bool) {
	depth := uint64(0)
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			hash := 14695981039346656037 + depth
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
					continue
				}
				hash = (hash ^ uint64(body[i])) * 1099511628211
			}
			if i+2 < len(body) && body[i+1] == ':' {
				hash = (hash ^ kind(body[i+2])) * 1099511628211
				hash ^= hash >> 32
				word, bit := hash>>6&63, uint64(1)<<(hash&63)
				fresh = fresh || s.fields[word]&bit == 0
				s.fields[word] |= bit
			}
		}
	}
	return fresh
}

// kind is the kind of a value by its first byte: empty lists and objects are of the kind of
// others.
func kind(first byte) uint64 {
	if first == '-' || first >= '0' && first <= '9' {
		return '0'
	}
	return uint64(first)
}
