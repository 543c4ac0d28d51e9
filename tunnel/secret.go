package tunnel

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"regexp"
	"strings"

	"termpilot/fault"
)

// Secret is a runtime key. However it is printed or encoded, it does not show.
type Secret struct{ value string }

const hidden = "[key]"

// String does not tell.
func (Secret) String() string { return hidden }

// GoString does not tell.
func (Secret) GoString() string { return hidden }

// MarshalText does not tell.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Format does not tell, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

func (s Secret) equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.value), []byte(other.value)) == 1
}

// redact takes the key out of what a child has said.
func (s Secret) redact(line []byte) []byte {
	if s.value == "" {
		return line
	}
	return bytes.ReplaceAll(line, []byte(s.value), []byte(hidden))
}

var keyShape = regexp.MustCompile(`^[0-9A-Za-z_-]{4,512}$`)

// newSecret holds a key to what tunnel-client takes, and knows what else people
// put there. The value is in no error.
func newSecret(value, origin string) (Secret, error) {
	refuse := func(detail, hint string) (Secret, error) {
		return Secret{}, &fault.Error{Op: "runtime key", Code: fault.KeyInvalid, Detail: detail + " in " + origin, Hint: hint}
	}
	const make = "create a runtime key with Use of the tunnel at platform.openai.com, and put it there"
	switch {
	case value == "":
		return Secret{}, keyMissing(origin+" is empty", make)
	case strings.HasPrefix(value, "sk-admin-"):
		return refuse("there is an admin key", make)
	case tunnelShape.MatchString(value):
		return refuse("there is a tunnel id", make)
	case strings.TrimSpace(value) != value:
		return refuse("the key has blanks around it", "take the blanks away")
	case !keyShape.MatchString(value):
		return refuse("the key holds characters that no key has", "copy it anew; a key has letters, digits, - and _ alone")
	}
	return Secret{value: value}, nil
}

func keyMissing(detail, hint string) error {
	return &fault.Error{Op: "runtime key", Code: fault.KeyMissing, Detail: detail, Hint: hint}
}
