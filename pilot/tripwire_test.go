package pilot

import (
	"errors"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
)

func TestTripwireBlocksWhatDestroys(t *testing.T) {
	blocked := map[string][]string{
		"WIRE-1": { // WIRE-1
			"rm -rf /", "rm -fr /*", "rm -r -f ~", "rm -rf $HOME", `rm -rf "$HOME"/`, "rm -rf *", "rm -rf .", "rm -rf ./*", "rm --recursive --force /etc",
			"sudo rm -rf /usr/", "cd /tmp && rm -rf ..", "true; rm -rf ~/", "x=1 rm -rf ~", "rm -rf -- /home/ann", "sh -c 'rm -rf ~'", `bash -lc "rm -rf /"`,
			"echo $(rm -rf ~)", "echo `rm -rf ~`", "echo \"$(rm -rf ~)\"", "find / -name x -delete", "find ~ -exec rm {} +", "ls | xargs rm -rf /", "eval rm -rf ~",
			"ssh host 'rm -rf /'", "ssh -p 22 host rm -rf /", "bash <<EOF\nrm -rf /\nEOF", "bash <<< 'rm -rf ~'", "if true; then rm -rf ~; fi", "{ rm -rf ~; }",
			"(rm -rf ~)", "r\\m -rf ~", "'rm' -rf /", "/bin/rm -rf /", "rm --no-preserve-root -rf /x", "nohup sudo -u root rm -rf / &", "timeout 5 rm -rf ~",
			"rm -rf /./", "rm -rf //", "mv ~ /dev/null", "echo \"a\\\"$(rm -rf ~)\"", "rm -rf \"`pwd`\"", "for x in 1; do rm -rf ~; done",
		},
		"WIRE-2": {"chmod -R 777 /", "sudo chown -R me /etc", "chmod -R 000 ~"}, // WIRE-2
		"WIRE-3": { // WIRE-3
			"mkfs.ext4 /dev/sda1", "sudo mkfs -t xfs /dev/nvme0n1", "dd if=/dev/zero of=/dev/sda bs=1M", "cat x > /dev/sda", "echo 1 >/dev/nvme0n1",
			"wipefs -a /dev/sdb", "shred /dev/sda", "cat img | tee /dev/sda", "cp img /dev/disk2", "echo x > /etc/passwd", "diskutil eraseDisk JHFS+ x disk2",
		},
		"WIRE-4": {":(){ :|:& };:", ":() { : | : & } ; :", "bomb(){ bomb|bomb& };bomb", "function f(){ f|f& }; f"}, // WIRE-4
		"WIRE-5": { // WIRE-5
			"git push --force", "git push -f origin main", "git -C /x push origin +main", "git push --mirror x", "git reset --hard HEAD~3",
			"git clean -fdx", "git push --force-with-lease=x --force",
		},
		"WIRE-6": {"shutdown -h now", "sudo reboot", "systemctl poweroff", "init 0", "kill -9 -1", "halt"}, // WIRE-6
		"WIRE-7": { // WIRE-7
			`psql -c "DROP TABLE users"`, "mysql -e 'drop database x'", "terraform destroy", "kubectl delete ns prod", "docker system prune -a",
			"docker volume prune", "zfs destroy tank", "lvremove /dev/vg/x", "crontab -r", "userdel ann", "dropdb x",
		},
	}
	w, err := newTripwire(nil)
	if err != nil {
		t.Fatal(err)
	}
	for row, commands := range blocked {
		for _, c := range commands {
			if _, found := w.check(c); !found {
				t.Errorf("%s: %q passes", row, c)
			}
		}
	}
}

func TestTripwireLetsOrdinaryCommandsPass(t *testing.T) { // WIRE-8
	w, _ := newTripwire(nil)
	for _, c := range []string{
		"rm -rf build", "rm -rf ./node_modules", "rm file", "rm -rf /tmp/x", "rm -rf ~/x/y", "echo 'rm -rf /'", `echo "rm -rf ~"`, "# rm -rf /", "grep -r 'rm -rf /' .",
		"cat <<EOF\nrm -rf /\nEOF", "cat > f <<'X'\nmkfs /dev/sda\nX\ntrue", "git push", "git push origin main", "git push --force-with-lease", "git reset HEAD~1",
		"git clean -n", "dd if=/dev/zero of=/tmp/x", "echo x > /dev/null", "ls 2>/dev/null", "chmod -R 755 build", "chmod 777 /", "find . -name '*.o' -delete",
		"find / -name x", "docker ps", "kubectl delete pod x", "git commit -m 'git push --force'", "man shutdown", "ssh host uptime", "ssh host", "kill -9 123", "kill 1234",
		"f(){ g|h& };f", "sh script.sh", "bash -c 'echo hi'", "make clean", "cargo clean", "psql -c 'select 1'", "terraform plan", "rm -r dir/*", "du -sh *", "chown me file",
		"python3 -c 'print(\"rm -rf /\")'", "alias x='rm -rf ~'", "shutdown --help",
	} {
		if danger, found := w.check(c); found {
			t.Errorf("%q is blocked: %s", c, danger)
		}
	}
}

func TestTripwireFileAddsPatterns(t *testing.T) { // WIRE-9
	w, err := newTripwire(ParseTripwire("# ours\n\n  deploy\\s+prod  \n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, found := w.check("./deploy   prod"); !found {
		t.Error("the added pattern does not count")
	}
	if _, found := w.check("./deploy test"); found {
		t.Error("another command is blocked")
	}
	if _, err := newTripwire([]string{"("}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v", err)
	}
}

func TestTripwireEndsOnAnyText(t *testing.T) { // WIRE-10
	w, _ := newTripwire(nil)
	for _, part := range []string{"(", "$(", "`", "'", "\"$(", "a<<a\n", "<<", "f(){", "\\", "sh -c '", "$((((", "&>", ">(", "((()"} {
		takes := func(length int) time.Duration {
			began := time.Now()
			w.check(strings.Repeat(part, length/len(part)))
			return time.Since(began)
		}
		// A machine that is busy takes its time, but not more for each byte.
		if whole := takes(MaxCommand); whole > 2*time.Second {
			if eighth := takes(MaxCommand / 8); whole > 32*eighth {
				t.Errorf("%q takes %v, and an eighth of it %v", part, whole, eighth)
			}
		}
	}
}

func FuzzTripwireEndsAndQuotedTextIsData(f *testing.F) {
	for _, s := range []string{"rm -rf /", "$(", "`a", "a <<b\nc", "x > 'y z'", "\\"} {
		f.Add(s)
	}
	w, _ := newTripwire(nil)
	f.Fuzz(func(t *testing.T, text string) { // WIRE-8, WIRE-10
		if len(text) > 4096 {
			return
		}
		w.check(text)
		quoted := "echo '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		if danger, found := w.check(quoted); found && !isForkBomb(quoted) {
			t.Errorf("%q is blocked: %s", quoted, danger)
		}
	})
}
