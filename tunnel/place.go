package tunnel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"termpilot/fault"
	"termpilot/lazy"
	"termpilot/private"
)

// Place is where the tunnels of one user live.
type Place struct {
	Home    string // termpilot's state folder; each alias has a folder below it
	Sockets string // a private folder whose path is short enough for sockets
}

// files are the paths of one alias.
type files struct {
	folder   string
	config   string // what was set up
	lock     string // held by the supervisor for as long as it lives
	setup    string // held by a setup while it works
	log      string
	pid      string // of the child, written by tunnel-client
	state    string // tunnel-client's own folder, so that it touches no other
	control  string // socket: status and stop
	mcp      string // socket: the MCP server
	health   string // socket: tunnel-client's own state
	launched string // what a supervisor that did not come up has said
}

func (p Place) files(alias string) files {
	folder := filepath.Join(p.Home, "tunnel", alias)
	sum := sha256.Sum256([]byte(folder))
	short := filepath.Join(p.Sockets, "t"+hex.EncodeToString(sum[:3])) // the whole name must fit the limit of a socket's path
	return files{
		folder: folder, config: filepath.Join(folder, "config.json"), lock: filepath.Join(folder, "lock"),
		setup: filepath.Join(folder, "setup.lock"), log: filepath.Join(folder, "tunnel.log"), pid: filepath.Join(folder, "client.pid"),
		state: filepath.Join(folder, "client"), launched: filepath.Join(folder, "start.log"),
		control: short + ".c", mcp: short + ".m", health: short + ".h",
	}
}

// make makes the folders.
func (p Place) make(alias string) (files, error) {
	f := p.files(alias)
	for _, path := range []string{p.Home, filepath.Dir(f.folder), f.folder, f.state, p.Sockets} {
		if err := private.Folder(path); err != nil {
			return f, err
		}
	}
	return f, nil
}

// aliases lists the aliases that were set up, in order.
func (p Place) aliases() []string {
	entries, err := os.ReadDir(filepath.Join(p.Home, "tunnel"))
	if err != nil {
		return nil // none was ever set up
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Lstat(p.files(e.Name()).config); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// others says which aliases could have been meant, at the end of a hint.
func (p Place) others() string {
	if names := p.aliases(); len(names) > 0 {
		return ", or name one that was with --alias: " + strings.Join(names, ", ")
	}
	return ""
}

// DefaultAlias is the alias when none is named.
const DefaultAlias = "termpilot"

// longestAlias is the most characters of an alias.
const longestAlias = 63

var aliasShape = lazy.Regexp(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// Alias returns an alias as it is kept: in lower case, with hyphens for
// underscores, as tunnel-client writes it too. InvalidArgument for one that
// cannot be a name in a path.
func Alias(said string) (string, error) {
	if said == "" {
		return DefaultAlias, nil
	}
	alias := strings.ReplaceAll(strings.ToLower(said), "_", "-")
	if len(alias) > longestAlias || !aliasShape().MatchString(alias) {
		return "", &fault.Error{
			Op: "tunnel alias", Code: fault.InvalidArgument, Detail: fmt.Sprintf("%.80q is no alias", said),
			Hint: "use letters, digits and hyphens, at most 63",
		}
	}
	return alias, nil
}

var tunnelShape = lazy.Regexp(`^tunnel_[a-z0-9]{32}$`)

// checkTunnelID holds an id to its shape, and knows what else people put there.
func checkTunnelID(id string) error {
	if tunnelShape().MatchString(id) {
		return nil
	}
	detail := fmt.Sprintf("%.80q is no tunnel id: tunnel_ and 32 lower-case letters or digits", id)
	switch {
	case id == "":
		detail = "there is no tunnel id"
	case strings.HasPrefix(id, "sk-"):
		detail = "that is an API key, not a tunnel id: tunnel_ and 32 lower-case letters or digits" // never shown
	case strings.TrimSpace(id) != id:
		detail = "the tunnel id has blanks or a line end around it"
	}
	return &fault.Error{
		Op: "tunnel id", Code: fault.InvalidArgument, Detail: detail,
		Hint: "copy the id from platform.openai.com > Tunnels, and pass it as --tunnel-id",
	}
}
