package pilot

import (
	"slices"
	"strings"

	"termpilot/lazy"
)

// rule is one row of the tripwire.
type rule struct {
	names  []string // programs, or prefixes of them that end in "."
	danger func(args []string) string
}

func (r rule) of(name string) bool {
	for _, n := range r.names {
		if n == name || strings.HasSuffix(n, ".") && strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}

// rules is the built-in list. specs/tripwire.md says the same in words.
var rules = []rule{
	{[]string{"rm"}, rmDanger},
	{[]string{"find"}, findDanger},
	{[]string{"chmod", "chown", "chgrp"}, ownDanger},
	{[]string{"mv"}, mvDanger},
	{[]string{"mkfs", "mkfs.", "mke2fs", "mkswap", "wipefs", "blkdiscard", "sgdisk", "sfdisk"}, formatDanger},
	{[]string{"dd"}, ddDanger},
	{[]string{"shred", "tee", "cp", "truncate"}, overwriteDanger},
	{[]string{"diskutil"}, wordDanger("it erases a disk", "eraseDisk", "eraseVolume", "zeroDisk", "randomDisk", "secureErase", "partitionDisk")},
	{[]string{"git"}, gitDanger},
	{[]string{"shutdown", "reboot", "halt", "poweroff"}, powerDanger},
	{[]string{"init", "telinit"}, wordDanger("it stops the machine", "0", "6")},
	{[]string{"systemctl"}, wordDanger("it stops the machine", "poweroff", "reboot", "halt", "kexec", "rescue", "emergency")},
	{[]string{"kill"}, killDanger},
	{[]string{"killall5"}, always("it kills every process")},
	{[]string{"crontab"}, wordDanger("it removes all scheduled jobs", "-r", "-ri", "-ir")},
	{[]string{"userdel", "deluser"}, always("it removes a user")},
	{[]string{"psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client"}, sqlDanger},
	{[]string{"dropdb"}, always("it drops a database")},
	{[]string{"terraform", "tofu", "pulumi"}, wordDanger("it destroys infrastructure", "destroy")},
	{[]string{"kubectl", "oc"}, kubectlDanger},
	{[]string{"docker", "podman"}, dockerDanger},
	{[]string{"zpool", "zfs", "lvremove", "vgremove", "pvremove"}, volumeDanger},
}

func always(what string) func([]string) string { return func([]string) string { return what } }

func wordDanger(what string, words ...string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			if slices.Contains(words, a) {
				return what
			}
		}
		return ""
	}
}

// hasFlag reports whether args hold a short flag, alone or among others, or a long one.
func hasFlag(args []string, short, long string) bool {
	for _, a := range args {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			if name, _, _ := strings.Cut(a, "="); long != "" && name == long {
				return true
			}
		case strings.HasPrefix(a, "-") && short != "" && strings.ContainsAny(a[1:], short):
			return true
		}
	}
	return false
}

// systemFolders are folders whose loss breaks a machine, and their parents.
var systemFolders = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
	"/Applications", "/Library", "/System", "/Users", "/Volumes", "/private", "/usr/bin", "/usr/lib", "/usr/local", "/var/lib", "/mnt", "/media",
}

// isRoot reports whether a word names a system folder, a home, or everything
// here: "/", "/*", "~", "$HOME", "*", "."
func isRoot(word string) bool {
	w := word
	if w == "*" || w == ".*" || w == "." || w == ".." || w == "./" || w == "../" || w == "./*" || w == "../*" || w == "./.*" {
		return true
	}
	w = strings.TrimSuffix(w, "/*")
	w = strings.TrimSuffix(w, "/.*")
	if w == "" {
		return true // "/*"
	}
	for len(w) > 1 && (strings.HasSuffix(w, "/") || strings.HasSuffix(w, "/.")) {
		w = strings.TrimSuffix(strings.TrimSuffix(w, "."), "/")
	}
	for strings.HasPrefix(w, "//") {
		w = w[1:]
	}
	if w == "" || slices.Contains(systemFolders, w) {
		return true
	}
	switch w {
	case "~", "$HOME", "${HOME}", "$PWD", "${PWD}", "$(pwd)", "`pwd`", "~root":
		return true
	}
	if rest, ok := strings.CutPrefix(w, "/home/"); ok && !strings.Contains(rest, "/") {
		return true
	}
	if rest, ok := strings.CutPrefix(w, "/Users/"); ok && !strings.Contains(rest, "/") {
		return true
	}
	return false
}

func rootAmong(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && isRoot(a) {
			return a
		}
	}
	return ""
}

func rmDanger(args []string) string {
	if hasFlag(args, "", "--no-preserve-root") {
		return "rm is told to remove the root folder"
	}
	if !hasFlag(args, "rR", "--recursive") {
		return ""
	}
	if root := rootAmong(args); root != "" {
		return "rm would remove all of " + root
	}
	return ""
}

func findDanger(args []string) string {
	root := ""
	for _, a := range args {
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			break
		}
		if isRoot(a) && a != "." {
			root = a
		}
	}
	if root == "" {
		return ""
	}
	for i, a := range args {
		exec := (a == "-exec" || a == "-execdir" || a == "-ok") && i+1 < len(args)
		if a == "-delete" || exec && (args[i+1] == "rm" || strings.HasSuffix(args[i+1], "/rm") || args[i+1] == "shred") {
			return "find would delete under " + root
		}
	}
	return ""
}

func ownDanger(args []string) string {
	if !hasFlag(args, "R", "--recursive") {
		return ""
	}
	if root := rootAmong(args); root != "" && root != "." && root != "*" && root != "./*" {
		return "it changes the rights or owner of everything under " + root
	}
	return ""
}

func mvDanger(args []string) string {
	if root := rootAmong(args[:max(0, len(args)-1)]); root != "" && args[len(args)-1] == "/dev/null" {
		return "it moves " + root + " into nothing"
	}
	return ""
}

var disk = lazy.Regexp(`^/dev/(r?disk\d|sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper/|loop\d|nbd\d)`)

func isDisk(path string) bool { return disk().MatchString(path) }

// isVital reports whether overwriting a file locks everybody out or stops the machine.
func isVital(path string) bool {
	switch path {
	case "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/fstab", "/boot/grub/grub.cfg", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmem":
		return true
	}
	return false
}

func formatDanger(args []string) string {
	for _, a := range args {
		if isDisk(a) || strings.HasPrefix(a, "/dev/") {
			return "it formats or wipes " + a
		}
	}
	return ""
}

func ddDanger(args []string) string {
	for _, a := range args {
		to, ok := strings.CutPrefix(a, "of=")
		if ok && (isDisk(to) || isVital(to)) {
			return "dd writes over " + to
		}
	}
	return ""
}

func overwriteDanger(args []string) string {
	for _, a := range args {
		if isDisk(a) {
			return "it writes over the device " + a
		}
	}
	return ""
}

// gitDanger finds what rewrites a remote's history or throws away work that is
// in no commit.
func gitDanger(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") { // git's own options
		if takes := args[0] == "-C" || args[0] == "-c" || args[0] == "--git-dir" || args[0] == "--work-tree"; takes && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	rest := args[1:]
	switch args[0] {
	case "push":
		if hasFlag(rest, "f", "--force") || hasFlag(rest, "", "--mirror") {
			return "git push would replace history on the remote"
		}
		for i, a := range rest {
			if i > 0 && strings.HasPrefix(a, "+") {
				return "git push would replace history on the remote"
			}
		}
	case "reset":
		if hasFlag(rest, "", "--hard") {
			return "git reset --hard throws away changes that are in no commit"
		}
	case "clean":
		if hasFlag(rest, "f", "--force") && !hasFlag(rest, "n", "--dry-run") && hasFlag(rest, "dxX", "") {
			return "git clean deletes files that are in no commit"
		}
	}
	return ""
}

func powerDanger(args []string) string {
	if hasFlag(args, "c", "--help") || slices.Contains(args, "--version") {
		return ""
	}
	return "it stops the machine"
}

func killDanger(args []string) string {
	for i, a := range args {
		if a == "-1" && (i > 0 || len(args) == 1) {
			return "it kills every process"
		}
		if a == "1" && i > 0 && a != args[0] {
			return "it kills the first process"
		}
	}
	return ""
}

var sqlDrop = lazy.Regexp(`(?i)\b(drop\s+(table|database|schema)|truncate\s+table)\b`)

func sqlDanger(args []string) string {
	for _, a := range args {
		if sqlDrop().MatchString(a) {
			return "it drops or empties tables"
		}
	}
	return ""
}

func kubectlDanger(args []string) string {
	if !slices.Contains(args, "delete") {
		return ""
	}
	for _, a := range args {
		switch a {
		case "--all", "namespace", "namespaces", "ns", "--all-namespaces", "-A":
			return "kubectl would delete whole sets of objects"
		}
	}
	return ""
}

func dockerDanger(args []string) string {
	if len(args) >= 2 && args[1] == "prune" && (args[0] == "system" || args[0] == "volume") &&
		(args[0] == "volume" || hasFlag(args, "", "--volumes") || hasFlag(args, "a", "--all")) {
		return "it removes every unused volume or image"
	}
	return ""
}

func volumeDanger(args []string) string {
	if len(args) > 0 && (args[0] == "destroy" || args[0] == "labelclear") {
		return "it destroys a volume"
	}
	for _, a := range args {
		if strings.HasPrefix(a, "/dev/") {
			return "it destroys a volume"
		}
	}
	return ""
}
