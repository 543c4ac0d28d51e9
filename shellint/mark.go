// Package shellint is shell integration: it understands the marks that shells
// print around their prompts, keeps the state that the marks tell, and has
// the scripts with which bash, zsh and fish print them.
//
// [Parse] turns the operating system commands of a terminal stream into
// marks. [Machine] turns marks into prompts and events; it is pure, and with
// a nonce it believes only marks that carry it. [Inject] starts a shell with
// our script and a nonce, without touching a file of the user's; [Install]
// puts the script into the user's start-up file, without a nonce.
//
// The clauses are in specs/prompt.md.
package shellint

// Kind is what a mark says.
type Kind uint8

// The kinds of marks, with their spellings in the protocols.
const (
	PromptStart Kind = iota + 1 // OSC 133 A, N, P; 633 A, F: a prompt begins
	PromptEnd                   // 133 B; 633 B, G: the prompt ends, the command line begins
	OutputStart                 // 133 C; 633 C: a command was accepted, its output begins
	CommandEnd                  // 133 D; 633 D: the command ended, or the line was given up
	CommandLine                 // 633 E: the command line, told by the shell
	RemoteHost                  // 1337 RemoteHost
	CurrentDir                  // OSC 7; 1337 CurrentDir; 633 P Cwd
	Version                     // 1337 ShellIntegrationVersion
	UserVar                     // 1337 SetUserVar
	Property                    // 633 P, other than Cwd
	Standing                    // 133 S, of our own scripts: how the line stands, told when asked by Question
)

// Mark is one parsed mark. Nothing in it is proven: compare Nonce, or let a
// [Machine] do it. Texts are valid UTF-8, without control characters except
// that a command line may hold tabs and line breaks.
type Mark struct {
	Kind  Kind
	AID   string // application id: names the prompt (or the shell) that the mark belongs to
	Nonce string // the secret that the mark carries, if any

	Secondary bool // PromptStart, PromptEnd, CurrentDir: of a continuation prompt (k=s, k=c, more=)
	Right     bool // PromptStart: of a right-hand prompt (k=r)

	HasExit bool   // CommandEnd: the mark carries an exit status in 0..255
	Exit    int    // CurrentDir of our own scripts in tmux: that of the prompt Before
	HasEOL  bool   // CommandEnd: the mark carries EOL
	EOL     string // the text, without colours, with which zsh marks a missing line end before it prints this mark
	Hooked  bool   // CommandEnd: a function named precmd came between EOL and this mark, and may have printed

	// CurrentDir of our own scripts in tmux, which keeps it: how the prompt AID
	// stands.
	Runs   bool   // its command runs; otherwise its line is edited
	Before string // the prompt whose command ended last, with Exit
	Tells  bool   // the line editor answers Question

	// Standing.
	Holds bool // the line holds text
	Drawn bool // the prompt is drawn again after this mark
	Mode  bool // the line editor is in another mode than that of typing

	// Text is the command line (CommandLine, and OutputStart where the shell
	// tells it), the directory (CurrentDir), the version (Version) or the value
	// (UserVar, Property).
	Text  string
	Name  string // Version: the shell; UserVar, Property: the name
	Unset bool   // UserVar: the variable is removed
	User  string // RemoteHost
	Host  string // RemoteHost, CurrentDir by OSC 7; "" is this machine

	// Blank is never set by Parse. The owner of a Machine without nonce may set
	// it on an OutputStart when it sees that nothing was typed: iTerm2's scripts
	// print C and D for an empty line, too.
	Blank bool
}

// Question is the key, which no keyboard sends, at which the line editor of a
// shell with our script prints a Standing mark. It must reach no other program: see Mark.Tells.
const Question = "\x1b[20257z"

// foreign reports whether the mark names another prompt than p.
func foreign(mark Mark, p *Prompt) bool { return mark.AID != "" && p.AID != "" && mark.AID != p.AID }

// sameShell reports whether two ids are of one shell: ours and iTerm2's are
// SHELL-COUNTER, others name the shell alone.
func sameShell(a, b string) bool {
	cut := func(s string) string {
		for i := len(s) - 1; i > 0; i-- {
			if s[i] == '-' {
				return s[:i]
			}
		}
		return ""
	}
	return a != "" && (a == b || cut(a) != "" && cut(a) == cut(b))
}
