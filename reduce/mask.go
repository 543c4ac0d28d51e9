package reduce

import (
	"regexp"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// mask is what a secret is replaced with.
const mask = "***"

// issued are the shapes of well-known secrets, by the prefixes that their
// issuers document; the groups that are kept come first.
var issued = regexp.MustCompile(strings.Join([]string{
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,                             // AWS access key id
	`\bgh[pousr]_[A-Za-z0-9]{20,}`,                              // GitHub
	`\bgithub_pat_[A-Za-z0-9_]{20,}`,                            //
	`\bglpat-[A-Za-z0-9_-]{16,}`,                                // GitLab
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                          // Slack
	`\bsk-[A-Za-z0-9_-]{20,}`,                                   // OpenAI, Anthropic
	`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`,                    // Stripe
	`\bAIza[A-Za-z0-9_-]{30,}`,                                  // Google
	`\bnpm_[A-Za-z0-9]{30,}`,                                    // npm
	`\bhf_[A-Za-z0-9]{30,}`,                                     // Hugging Face
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`, // JSON Web Token
}, "|"))

// kept are secrets known by what stands before them, which stays.
var kept = regexp.MustCompile(strings.Join([]string{
	`(\b[A-Z][A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]*=["']?)[^\s"']{4,}`, // an environment
	`(://[^/\s:@]{1,64}:)[^/\s@]{3,}(?:@)`, // a URL with a password
	`(?i:(\bauthorization:\s*(?:bearer|basic|token)\s+))[A-Za-z0-9._~+/=-]{4,}`,
}, "|"))

// Mask replaces what looks like a secret: keys and tokens of known shape,
// environment variables named like secrets, passwords in URLs. It cannot know
// every secret, and never makes the text longer.
func Mask(text string) string {
	text, _ = unhide(hide(text))
	return text
}

// hide is Mask with hiddenSecret.
func hide(text string) string {
	if strings.ContainsAny(text, "_-.K") {
		text = issued.ReplaceAllString(text, hiddenSecret)
	}
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	return kept.ReplaceAllStringFunc(text, func(hit string) string {
		m := kept.FindStringSubmatch(hit)
		after := ""
		if m[2] != "" {
			after = "@"
		}
		return m[1] + m[2] + m[3] + hiddenSecret + after
	})
}

// hidden stands for mask while text is being worked on: no clean text holds it,
// so that what was masked can be counted in what is left.
const hiddenSecret = "\x01\x01\x01"

// unhide puts masks in place of hidden secrets, and counts them.
func unhide(text string) (string, int) {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] == 1 && (i == 0 || text[i-1] != 1) {
			n++
		}
	}
	if n == 0 {
		return text, 0
	}
	return strings.ReplaceAll(text, "\x01", "*"), n
}

// mask hides the secrets of all lines.
func (t *table) mask() {
	for i := range t.lines {
		t.lines[i].text = hide(t.lines[i].text)
	}
}

// maskCut hides what looks like a secret in lines that were cut: a part of a
// line may look so where the whole did not.
func (t *table) maskCut() {
	for i := range t.lines {
		if l := &t.lines[i]; l.keep && l.cut {
			l.text = hide(l.text)
		}
	}
}

// hideKeys hides the lines inside of private keys (RFC 7468), however the rest
// is cut.
func (t *table) hideKeys() {
	inside := false
	for i := range t.lines {
		l := &t.lines[i]
		switch {
		case strings.Contains(l.text, "-----BEGIN ") && strings.Contains(l.text, "PRIVATE KEY-----"):
			inside = true
		case strings.Contains(l.text, "-----END "):
			inside = false
		case inside && len(l.text) > len(mask):
			l.text = hiddenSecret
		}
	}
}
