package reduce

import (
	"strings"
	"sync"
)

var installReducers = []reducer{
	{names: installNames("npm", "install, i, ci, add, update, up, upgrade, uninstall, remove, rm, audit, dedupe, prune, outdated") + ", " +
		installNames("pnpm", "install, i, add, update, up, remove, rm, import, fetch, dlx") + ", " +
		installNames("yarn", "install, add, remove, upgrade, up") + ", yarn, bun install, bun add, bun remove, npx", reduce: reduceInstall},
	{names: installNames("pip", "install, uninstall, download, sync") + ", uv, uv sync, uv add, uv remove, uv lock, uv pip, uv tool, uv venv, pipx, pipx install, poetry install, poetry add, poetry update, poetry lock, pdm install, conda, mamba", reduce: reduceInstall},
	{names: installNames("apt", "install, remove, purge, update, upgrade, full-upgrade, autoremove, dist-upgrade") + ", " +
		installNames("apt-get", "install, remove, purge, update, upgrade, autoremove, dist-upgrade") + ", dpkg, apt-get build-dep, apk add, dnf install, yum install, brew install, brew upgrade, brew update, brew uninstall, brew reinstall, gem, bundle, composer, go get, go mod, cargo add", reduce: reduceInstall},
}

func installNames(program, subs string) string {
	return program + " " + strings.ReplaceAll(subs, ", ", ", "+program+" ")
}

// installed is what a line of an installer is about.
type installed int

const (
	unknown installed = iota
	step              // how it goes on: counted
	added             // a package that came, in a list
	removed           // a package that went
	moot              // a package that was there
	warned
	failed
	ended // how it ended, or what the words say
)

// installRule says what lines with a beginning are.
type installRule struct {
	prefix string
	is     installed
}

// installRules are tried in this order.
var installRules = []installRule{
	// npm
	{"npm http ", step},
	{"npm verbose ", step},
	{"npm info ", step},
	{"npm silly ", step},
	{"npm timing ", step},
	{"npm notice ", step},
	{"npm sill ", step},
	{"npm verb ", step},
	{"npm warn ", warned},
	{"npm WARN ", warned},
	{"npm error", failed},
	{"npm ERR!", failed},
	{"added ", ended},
	{"removed ", ended},
	{"changed ", ended},
	{"up to date", ended},
	{"audited ", ended},
	{"found 0 vuln", ended},
	{"run `npm ", step},
	{"  run `npm ", step},
	// pnpm, yarn, bun
	{"Progress: ", step},
	{"Packages: ", ended},
	{"Packages are ", step},
	{"  Content-addressable store", step},
	{"  Virtual store", step},
	{"Lockfile is up to date", step},
	{"Already up to date", ended},
	{"Done in ", ended},
	{"Scope: ", step},
	{"dependencies:", step},
	{"devDependencies:", step},
	{"optionalDependencies:", step},
	{"+ ", added},
	{"- ", removed},
	{" + ", added},
	{" - ", removed},
	{" ~ ", added},
	{" WARN ", warned},
	{" ERR_PNPM_", failed},
	{"ERR_PNPM_", failed},
	{" ERROR ", failed},
	{"WARN ", warned},
	{"[1/", step},
	{"[2/", step},
	{"[3/", step},
	{"[4/", step},
	{"[5/", step},
	{"yarn install v", step},
	{"yarn add v", step},
	{"info Direct dep", step},
	{"info All dep", step},
	{"info Visit", step},
	{"info ", step},
	{"├─ ", added},
	{"└─ ", added},
	{"success ", ended},
	{"warning ", warned},
	{"error ", failed},
	{"➤ YN0000", step},
	{"➤ YN", warned},
	{"$ ", step},
	// pip, uv, poetry
	{"Requirement already satisfied", moot},
	{"Collecting ", step},
	{"  Downloading ", step},
	{"Downloading ", step},
	{"  Using cached ", step},
	{"Using cached ", step},
	{"Installing collected ", step},
	{"  Attempting uninstall", step},
	{"    Found existing", step},
	{"    Uninstalling ", step},
	{"      Successfully uninstalled", removed},
	{"    Successfully uninstalled", removed},
	{"  Successfully uninstalled", removed},
	{"Successfully uninstalled", removed},
	{"Found existing installation", step},
	{"Uninstalling ", step},
	{"Looking in ", step},
	{"  Preparing metadata", step},
	{"  Getting requirements", step},
	{"  Installing build", step},
	{"  Building wheel", step},
	{"  Created wheel", step},
	{"  Stored in", step},
	{"Building wheels", step},
	{"Obtaining ", step},
	{"  Resolved ", step},
	{"Successfully installed", ended},
	{"Successfully built", step},
	{"WARNING: ", warned},
	{"DEPRECATION: ", warned},
	{"ERROR: ", failed},
	{"[notice]", step},
	{"Resolved ", ended},
	{"Prepared ", step},
	{"Installed ", ended},
	{"Uninstalled ", ended},
	{"Audited ", ended},
	{"Checked ", ended},
	{" Downloaded ", step},
	{"Downloaded ", step},
	{"Building ", step},
	{"   Building ", step},
	{"      Built ", step},
	{"Using CPython", step},
	{"Using Python", step},
	{"Creating virtual", ended},
	{"Activate with", step},
	{"error: ", failed},
	{"warning: ", warned},
	{"  × ", failed},
	{"  ╰─▶ ", failed},
	{"  help: ", ended},
	{"hint: ", ended},
	// apt, dpkg
	{"Reading ", step},
	{"Building dependency", step},
	{"(Reading database", step},
	{"Get:", step},
	{"Hit:", step},
	{"Ign:", warned},
	{"Err:", failed},
	{"Selecting previously", step},
	{"Preparing to unpack", step},
	{"Unpacking ", step},
	{"Setting up ", step},
	{"Processing triggers", step},
	{"Removing ", step},
	{"Purging ", step},
	{"update-alternatives: ", step},
	{"debconf: ", step},
	{"Fetched ", step},
	{"Need to get", step},
	{"After this operation", step},
	{"Scanning ", step},
	{"Running kernel", step},
	{"Restarting services", step},
	{"No services need", step},
	{"No containers need", step},
	{"No user sessions", step},
	{"No VM guests", step},
	{"Created symlink", step},
	{"Extracting templates", step},
	{"Preconfiguring packages", step},
	{"Selecting ", step},
	{"Progress:", step},
	{"Use 'apt", step},
	{"E: ", failed},
	{"W: ", warned},
	{"N: ", warned},
	{"dpkg: error", failed},
	{"dpkg: warning", warned},
	{"dpkg: ", ended},
	{"Errors were encountered", failed},
	{"invoke-rc.d: ", warned},
	// brew, go
	{"==> Downloading", step},
	{"==> Fetching", step},
	{"==> Pouring", step},
	{"==> Auto-updat", step},
	{"==> Cleanup", step},
	{"Already downloaded", step},
	{"######", step},
	{"==> Running `brew cleanup", step},
	{"Disable this behaviour", step},
	{"Hide these hints", step},
	{"==> Caveats", ended},
	{"==> ", step},
	{"🍺", ended},
	{"Error: ", failed},
	{"Warning: ", warned},
	{"go: downloading ", step},
	{"go: added ", added},
	{"go: upgraded ", added},
	{"go: removed ", removed},
	{"go: downgraded ", added},
	{"go: finding ", step},
	{"go: warning", warned},
	{"go: ", failed},
}

// installIndex are the rules by the first byte of their beginnings.
var installIndex = sync.OnceValue(func() *[256][]installRule {
	var index [256][]installRule
	for _, r := range installRules {
		index[r.prefix[0]] = append(index[r.prefix[0]], r)
	}
	return &index
})

// install is what an installer printed, being read.
type install struct {
	report
	steps, moot int
	lists       [2]packages // added, removed
	listed      string      // the heading of a list of names (apt)
	unsaid      bool        // of what nobody asked for
	warnings    map[uint64]*warning
	order       []uint64
	strange     int
	blocks      int // lines kept of what no rule knows
	errors      []detail
	quoting     bool // inside of the output of something that was run
	deprecated  []string
	deprecation int
}

// packages are names in lists, and where they stood.
type packages struct {
	names []string
	at    int
}

// warning is a warning and how many are like it.
type warning struct {
	at   int
	text string
	n    int
}

// reduceInstall keeps what came and went, warnings with their number, every error,
// and how it ended.
func reduceInstall(in *input) (draft, bool) {
	s := &install{report: report{in: in}, warnings: map[uint64]*warning{}}
	for i, l := range in.lines {
		if l != "" {
			s.line(i, l)
		}
	}
	known := len(in.lines) - s.strange
	if known < len(in.lines)/2 || s.steps+s.moot+len(s.lists[0].names)+len(s.lists[1].names)+len(s.warnings)+len(s.errors)+len(s.lines) == 0 {
		return draft{}, false
	}
	s.tell()
	return s.draft(), true
}

// line sorts a line.
func (s *install) line(i int, l string) {
	if s.name(i, l) {
		return
	}
	if s.inside(i, l) {
		return
	}
	is := unknown
	for _, r := range installIndex()[l[0]] {
		if strings.HasPrefix(l, r.prefix) {
			is = r.is
			break
		}
	}
	text := strings.TrimSpace(l)
	switch is {
	case step:
		s.steps++
		if weight(l) == maxWeight && strings.HasPrefix(l, "npm http") && strings.Contains(l, " 5") {
			s.warn(i, text)
		}
	case moot:
		s.moot++
	case added:
		s.list(0, i, trimSign(text))
	case removed:
		s.list(1, i, trimSign(text))
	case warned:
		if name, ok := strings.CutPrefix(strings.ToLower(text), "npm warn deprecated "); ok {
			name, _, _ = strings.Cut(name, ":")
			s.deprecated = append(s.deprecated, name)
			s.deprecation = i
			return
		}
		s.warn(i, text)
	case failed:
		s.fail(i, text)
	case ended:
		s.say(i, text)
	default:
		s.other(i, text)
	}
}

// trimSign takes the sign of a list off a name.
func trimSign(text string) string {
	text = strings.TrimPrefix(text, "go: ")
	for _, p := range []string{"+ ", "- ", "~ ", "├─ ", "└─ ", "Successfully uninstalled ", "added ", "removed "} {
		text = strings.TrimPrefix(text, p)
	}
	return text
}
