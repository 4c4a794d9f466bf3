package api

import "encoding/binary"

// scanner checks JSON syntax (RFC 8259) and finds where values end, without
// building anything. Its methods take the position of a value and return the
// position behind it, or -1 after noting what is wrong. Strings are checked for
// control characters and escapes, not for UTF-8: that is a row's matter, not a
// page's (DESIGN R8).
type scanner struct {
	b   []byte
	err *shapeError
}

// maxDepth bounds nesting; rows of the API nest five deep.
const maxDepth = 512

// at is the byte at i, 0 behind the end.
func (s *scanner) at(i int) byte {
	if uint(i) < uint(len(s.b)) {
		return s.b[i]
	}
	return 0
}

// fail notes what is wrong at i; behind the end it is that the body was cut.
func (s *scanner) fail(i int, reason string) int {
	kind := BodySyntax
	if i >= len(s.b) {
		kind, reason = BodyTruncated, "it ends in the middle"
	}
	s.err = &shapeError{kind: kind, offset: i, reason: reason}
	return -1
}

// space is the first position from i that is not white space.
func (s *scanner) space(i int) int {
	for {
		switch s.at(i) {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
}

func (s *scanner) value(i, depth int) int {
	switch c := s.at(i); c {
	case '"':
		return s.text(i)
	case '{':
		return s.object(i, depth)
	case '[':
		return s.array(i, depth)
	case 't':
		return s.word(i, "true")
	case 'f':
		return s.word(i, "false")
	case 'n':
		return s.word(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) object(i, depth int) int {
	if depth <= 0 {
		return s.fail(i, "nested too deep")
	}
	i = s.space(i + 1)
	if s.at(i) == '}' {
		return i + 1
	}
	for {
		if i = s.key(i); i < 0 {
			return -1
		}
		if i = s.value(i, depth-1); i < 0 {
			return -1
		}
		if c := s.at(i); c != ',' && c != '}' {
			i = s.space(i)
		}
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1
		default:
			return s.fail(i, "a comma or } is missing")
		}
	}
}

// key passes a key and its colon and stands on the value.
func (s *scanner) key(i int) int {
	if s.at(i) != '"' {
		return s.fail(i, "a key is missing")
	}
	if i = s.text(i); i < 0 {
		return -1
	}
	if s.at(i) != ':' {
		i = s.space(i)
	}
	if s.at(i) != ':' {
		return s.fail(i, "a colon is missing")
	}
	return s.space(i + 1)
}

func (s *scanner) array(i, depth int) int {
	if depth <= 0 {
		return s.fail(i, "nested too deep")
	}
	return s.elements(i, func(i int) int { return s.value(i, depth-1) })
}

// elements passes the array at i, handing each element's position to each,
// which returns the position behind it.
func (s *scanner) elements(i int, each func(i int) int) int {
	i = s.space(i + 1)
	if s.at(i) == ']' {
		return i + 1
	}
	for {
		if i = each(i); i < 0 {
			return -1
		}
		i = s.space(i)
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			return i + 1
		default:
			return s.fail(i, "a comma or ] is missing")
		}
	}
}

func (s *scanner) word(i int, word string) int {
	for k := range len(word) {
		if s.at(i+k) != word[k] {
			return s.fail(i+k, "not a JSON value")
		}
	}
	return i + len(word)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w that end a run of plain text: quotes,
// backslashes, control characters. Only the lowest mark is exact, which is the
// one that counts. Bytes above 0x7f are plain.
func special(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// text passes the string at i, eight bytes at a time while they are plain.
func (s *scanner) text(i int) int {
	b := s.b
	i++
	for {
		for i+8 <= len(b) && special(binary.LittleEndian.Uint64(b[i:])) == 0 {
			i += 8
		}
		for ; i < len(b); i++ {
			c := b[i]
			if c == '"' {
				return i + 1
			}
			if c == '\\' {
				break
			}
			if c < 0x20 {
				return s.fail(i, "a control character in a string")
			}
		}
		if i >= len(b) {
			return s.fail(i, "")
		}
		if i = s.escape(i); i < 0 {
			return -1
		}
	}
}

// escape passes the escape at i.
func (s *scanner) escape(i int) int {
	switch s.at(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if !isHex(s.at(k)) {
				return s.fail(k, "a broken escape in a string")
			}
		}
		return i + 6
	}
	return s.fail(i+1, "a broken escape in a string")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// number passes the number at i.
func (s *scanner) number(i int) int {
	if s.at(i) == '-' {
		i++
	}
	switch c := s.at(i); {
	case c == '0':
		i++
	case '1' <= c && c <= '9':
		i = s.digits(i)
	default:
		return s.fail(i, "not a JSON value")
	}
	if s.at(i) == '.' {
		if i = s.someDigits(i + 1); i < 0 {
			return -1
		}
	}
	if s.at(i)|0x20 != 'e' {
		return i
	}
	i++
	if c := s.at(i); c == '+' || c == '-' {
		i++
	}
	return s.someDigits(i)
}

func (s *scanner) digits(i int) int {
	for c := s.at(i); '0' <= c && c <= '9'; c = s.at(i) {
		i++
	}
	return i
}

func (s *scanner) someDigits(i int) int {
	if end := s.digits(i); end > i {
		return end
	}
	return s.fail(i, "a number without digits")
}
