package tunnel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/private"
)

// Config is what was set up for an alias. It holds no secret.
type Config struct {
	V        int       `json:"v"`
	Alias    string    `json:"alias"`
	TunnelID string    `json:"tunnel_id"`
	Key      Reference `json:"key"`                // where the key is
	EnvFile  string    `json:"env_file,omitempty"` // the .env file in which an env: reference was found
	Client   string    `json:"client"`             // absolute path of tunnel-client
	BaseURL  string    `json:"base_url"`           // of the control plane
	Serve    []string  `json:"serve"`              // flags of the MCP server: what ChatGPT is offered
}

const (
	configVersion = 1
	maxConfig     = 64 << 10
)

// check holds a configuration to its shape, and completes it.
func (c *Config) check() error {
	alias, err := Alias(c.Alias)
	if err != nil {
		return err
	}
	c.Alias = alias
	if err := checkTunnelID(c.TunnelID); err != nil {
		return err
	}
	if c.Key, err = ParseReference(string(c.Key)); err != nil {
		return err
	}
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	u, err := url.Parse(c.BaseURL)
	plain := err == nil && u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1")
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !plain {
		return &fault.Error{
			Op: "tunnel setup", Code: fault.InvalidArgument, Detail: "the base URL must be https://HOST, without user and query",
			Hint: "leave --base-url out: it is " + DefaultBaseURL,
		}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.V = configVersion
	if c.Serve == nil {
		c.Serve = []string{}
	}
	return nil
}

// Load reads what was set up for an alias. TunnelNotSetUp when nothing was.
func Load(p Place, alias string) (Config, error) {
	alias, err := Alias(alias)
	if err != nil {
		return Config{}, err
	}
	path := p.files(alias).config
	data, err := private.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, &fault.Error{
			Op: "tunnel " + alias, Code: fault.TunnelNotSetUp, Detail: "nothing was set up under this alias",
			Hint: "run termpilot chatgpt setup --tunnel-id ID" + p.others(),
		}
	}
	if err != nil {
		return Config{}, err
	}
	var c Config
	err = json.Unmarshal(data, &c)
	if err == nil && c.V != configVersion {
		err = fmt.Errorf("it is of version %d", c.V)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil || c.Alias != alias {
		return Config{}, &fault.Error{
			Op: "tunnel " + alias, Code: fault.Storage, Detail: path + " is not what setup writes",
			Hint: "run termpilot chatgpt setup again", Err: err,
		}
	}
	return c, nil
}

func (c Config) save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return private.Write(path, append(data, '\n'))
}

// fingerprint stands for all that a supervisor runs with but for its key: two
// that have the same one do the same.
func fingerprint(c Config, version string, getenv func(string) string) string {
	sum := sha256.New()
	for _, word := range slices.Concat([]string{version, c.Alias, c.TunnelID, c.Client, c.BaseURL}, c.Serve, network(getenv)) {
		fmt.Fprintf(sum, "%q\n", word)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
