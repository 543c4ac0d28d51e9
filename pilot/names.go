package pilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/terminal"
)

// MaxName is the most characters of a session's name.
const MaxName = 64

const (
	// lockName guards who is called what: held from the look at all names until
	// the new one can be seen.
	lockName lockKind = "name"
	// namePatience is how long another server's opening or renaming is waited for.
	namePatience = 15 * time.Second
	// nameNews is how long a name that was just given counts as taken although the
	// session is not seen yet: other servers hear of it by events.
	nameNews = 2 * time.Second
)

// reserved are the words that mean no session in particular. Nothing is called so.
var reserved = []string{"active", "all", "any", "current", "focused", "none", "selected"}

// checkName returns a name as it will be given: without blanks around it. It
// refuses what is no name of one line, or means something else.
func checkName(op, name string) (string, error) {
	trimmed := strings.TrimSpace(name)
	refuse := func(code fault.Code, detail, hint string) (string, error) {
		return "", &fault.Error{Op: op, Code: code, Detail: detail, Hint: hint}
	}
	switch {
	case utf8.RuneCountInString(trimmed) > MaxName:
		return refuse(fault.TooLarge, fmt.Sprintf("the name has %d characters; the limit is %d", utf8.RuneCountInString(trimmed), MaxName), "pass a shorter name")
	case terminal.OneLine(trimmed, 0) != trimmed:
		return refuse(fault.InvalidArgument, "the name holds control or invisible characters, or is not UTF-8", "pass one line of plain text")
	case slices.ContainsFunc(reserved, func(word string) bool { return strings.EqualFold(word, trimmed) }):
		return refuse(fault.InvalidArgument, "the name "+trimmed+" means no session in particular", "pass another name")
	}
	return trimmed, nil
}

// named is one session by its name.
type named struct {
	Name string      `json:"name"`
	ID   terminal.ID `json:"id"`
	At   time.Time   `json:"at"`
}

// naming holds the right to give a name.
type naming struct {
	p     *Pilot
	op    string
	taken []named
	news  []named
	done  func()
}

// naming waits for the right to give a name, and looks who is called what. The
// caller calls done. Busy when another server keeps the right for too long.
func (p *Pilot) naming(ctx context.Context, op string) (*naming, error) {
	release, err := p.locks.acquire(ctx, op, "names", lockName, op, p.patience(namePatience, namePatience))
	if err != nil {
		if errors.Is(err, fault.Busy) {
			return nil, &fault.Error{Op: op, Code: fault.Busy, Detail: "another server is opening or naming a session", Hint: "call again in a moment", Err: err}
		}
		return nil, err
	}
	n := &naming{p: p, op: op, done: release}
	live := map[terminal.ID]bool{}
	for _, a := range askAll(ctx, p.backends) {
		for _, s := range a.sessions {
			live[s.ID] = true
			n.taken = append(n.taken, named{Name: s.Name, ID: s.ID})
		}
	}
	for _, one := range p.nameNews() {
		if time.Since(one.At).Abs() > nameNews {
			continue
		}
		if !live[one.ID] {
			if _, ended := p.findEnded(ctx, one.ID); ended {
				continue
			}
		}
		n.news = append(n.news, one)
	}
	n.taken = append(n.taken, n.news...)
	if err := givenUp(ctx, op, ""); err != nil { // then not everybody was asked
		release()
		return nil, err
	}
	return n, nil
}

// choose returns the name to give to a session, "" being one that is not there
// yet: the one that was asked for if it is free or the session's own, else any
// free one of the table. NameTaken names the holder.
func (n *naming) choose(name string, id terminal.ID) (string, error) {
	if name != "" {
		if holder, taken := n.holder(name, id); taken {
			return "", n.refuse(name, holder)
		}
		return name, nil
	}
	var free []string
	for _, one := range names {
		if _, taken := n.holder(one, id); !taken {
			free = append(free, one)
		}
	}
	if len(free) == 0 {
		return "", &fault.Error{
			Op: n.op, Code: fault.NameTaken, Detail: fmt.Sprintf("live sessions have all %d names", len(names)),
			Hint: "close sessions that are not needed, or pass a name of your own",
		}
	}
	return free[rand.IntN(len(free))], nil // not the same again and again: an old name should not find a new session
}

// holder is the session that has name for an id, or that is called so and is not id.
func (n *naming) holder(name string, id terminal.ID) (terminal.ID, bool) {
	for _, one := range n.taken {
		if one.ID != id && strings.EqualFold(one.Name, name) || strings.EqualFold(string(one.ID), name) {
			return one.ID, true
		}
	}
	return "", false
}

func (n *naming) refuse(name string, holder terminal.ID) error {
	who := "a session that this server does not show"
	if n.p.mayTouch(holder) {
		who = string(holder)
	}
	return &fault.Error{
		Op: n.op, Code: fault.NameTaken, Detail: "the name " + name + " belongs to " + who,
		Hint: "pass another name, or none to get a free one",
	}
}

// given makes a new name known to all servers at once.
func (n *naming) given(name string, id terminal.ID) {
	n.news = slices.DeleteFunc(n.news, func(one named) bool { return one.ID == id })
	if name != "" {
		n.news = append(n.news, named{Name: name, ID: id, At: time.Now()})
	}
	n.p.setNameNews(n.news)
}

// The names that were just given are in a file beside the locks, written and
// read under lockName, or in this process where there is no folder. A file that
// is torn or gone costs no more than nameNews of foresight.

func (p *Pilot) nameNews() (list []named) {
	if p.locks.dir == "" {
		return p.news
	}
	data, err := private.Read(filepath.Join(p.locks.dir, newsFile), maxNews)
	if err != nil || json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list
}

func (p *Pilot) setNameNews(list []named) {
	if p.locks.dir == "" {
		p.news = list
		return
	}
	data, err := json.Marshal(list)
	if err == nil {
		err = private.Write(filepath.Join(p.locks.dir, newsFile), data)
	}
	if err != nil {
		p.log.Warn("a name could not be told to other servers", "err", err)
	}
}

const (
	newsFile = "names.json"
	maxNews  = 1 << 20
)

// Named returns the id of the live session that a person means by word: its
// exact id or, in whatever case, its whole name. Tools take ids alone. A word
// that names no session comes back as it is: what is done with it then says what
// is wrong. InvalidArgument when several sessions have the name.
func (p *Pilot) Named(ctx context.Context, word string) (string, error) {
	var found []terminal.Session
	for _, a := range askAll(ctx, p.backends) {
		for _, s := range a.sessions {
			switch {
			case !p.mayTouch(s.ID):
			case string(s.ID) == word:
				return word, nil
			case word != "" && strings.EqualFold(s.Name, word):
				found = append(found, s)
			}
		}
	}
	switch len(found) {
	case 0:
		return word, nil
	case 1:
		return string(found[0].ID), nil
	}
	which := make([]string, len(found))
	for i, s := range found {
		which[i] = string(s.ID) + " (" + oneLine(s.Job) + " in " + oneLine(s.Cwd) + ")"
	}
	return "", &fault.Error{
		Op: "find session", Code: fault.InvalidArgument, Detail: count(len(found), "session") + " have the name " + oneLine(word),
		Hint: "name one by its id: " + strings.Join(which, ", "),
	}
}
