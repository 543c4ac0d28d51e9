package tunnel

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/lazy"
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

// redactor takes the key, and the passwords of the proxies that an environment
// names, out of what a child has said.
func (s Secret) redactor(getenv func(string) string) *strings.Replacer {
	pairs := []string{}
	if s.value != "" {
		pairs = append(pairs, s.value, hidden)
	}
	for _, entry := range network(getenv) {
		_, value, _ := strings.Cut(entry, "=")
		for _, password := range passwords(value) {
			pairs = append(pairs, password, "[password]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// passwords returns the password in a proxy's URL in the forms in which it may
// be printed; none when there is none.
func passwords(proxy string) []string {
	_, rest, found := strings.Cut(proxy, "://")
	if !found {
		rest = proxy // a proxy may be named without a scheme
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	_, written, found := strings.Cut(rest[:at], ":")
	if !found || written == "" {
		return nil
	}
	list := []string{written}
	if meant, err := url.PathUnescape(written); err == nil && meant != written {
		list = append(list, meant)
	}
	if again := url.UserPassword("", list[len(list)-1]).String()[1:]; again != written {
		list = append(list, again)
	}
	for _, form := range list {
		list = append(list, inJSON(form)...)
	}
	return list
}

// inJSON returns the forms that a text has within a JSON string, as far as they are
// others than its own: some writers keep what means something in HTML, others do not.
func inJSON(text string) (forms []string) {
	for _, html := range []bool{false, true} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		_ = enc.Encode(text) // a string is JSON
		form := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
		if form != text && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

var keyShape = lazy.Regexp(`^[0-9A-Za-z_-]+$`)

const (
	shortestKey = 4
	longestKey  = 512
)

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
	case tunnelShape().MatchString(value):
		return refuse("there is a tunnel id", make)
	case strings.TrimSpace(value) != value:
		return refuse("the key has blanks around it", "take the blanks away")
	case len(value) < shortestKey, len(value) > longestKey, !keyShape().MatchString(value):
		return refuse("the key holds characters that no key has", "copy it anew; a key has letters, digits, - and _ alone")
	}
	return Secret{value: value}, nil
}

func keyMissing(detail, hint string) error {
	return &fault.Error{Op: "runtime key", Code: fault.KeyMissing, Detail: detail, Hint: hint}
}
