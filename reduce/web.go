package reduce

import (
	"strings"

	"termpilot/lazy"
)

var webReducers = []reducer{
	{names: "curl", reduce: curlVerbose},
}

// aboutTLS are lines of curl -v that say how a connection was made.
var aboutTLS = lazy.Regexp(`^\* +(?:SSL connection using|subject:|issuer:|expire date:|SSL certificate verify|ALPN|Connected to|HTTP/[\d.]+ )`)

// meter is curl's progress.
var meter = lazy.Regexp(`^(?: *% Total|  *Dload|  *\d+ [ \d.kMG]+\d+  |\{ \[\d+ bytes|\} \[\d+ bytes|[{}] \[data not shown)`)

// dull are headers of an answer that seldom matter.
var dull = lazy.Regexp(`(?i)^< (?:date|server|via|x-cache\S*|x-served-by|x-timer|age|etag|vary|accept-ranges|alt-svc|cf-\S+|report-to|nel|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|referrer-policy|permissions-policy|content-security-policy|connection|keep-alive|expires|last-modified|p3p|x-request-id|x-amz\S*|x-github\S*): `)

// curlVerbose draws curl -v: what was asked, the answer's status and the headers
// that matter, what went wrong, and the body.
func curlVerbose(in *input) (draft, bool) {
	var d draft
	spoke := 0
	for i, line := range in.lines {
		switch {
		case strings.HasPrefix(line, "> "):
			spoke++
			if strings.Contains(line, " HTTP/") || strings.HasPrefix(strings.ToLower(line), "> host:") || strings.HasPrefix(strings.ToLower(line), "> authorization:") || strings.HasPrefix(strings.ToLower(line), "> content-") {
				d.keep(in, i)
			}
		case line == ">" || line == "<" || line == "*" || meter().MatchString(line):
		case strings.HasPrefix(line, "< "):
			spoke++
			if !dull().MatchString(line) {
				d.keep(in, i)
				if strings.HasPrefix(line, "< HTTP/") {
					d.tells(maxWeight)
				}
			}
		case strings.HasPrefix(line, "* "):
			spoke++
			if aboutTLS().MatchString(line) || weight(line) > 1 {
				d.keep(in, i)
			}
		case strings.HasPrefix(line, "curl: "):
			spoke++
			d.keep(in, i)
			d.tells(maxWeight)
		case line != "":
			d.keep(in, i)
		}
	}
	return d, spoke > 2
}
