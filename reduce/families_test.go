package reduce

import "testing"

func FuzzGitHoldsTheRules(f *testing.F) { // REDUCE-13, REDUCE-14
	fuzzFamily(f, "git status", "git diff", "git log", "git log --oneline", "git show --stat", "git diff --name-status")
}

func FuzzSearchesHoldTheRules(f *testing.F) {
	fuzzFamily(f, "grep -rn", "rg -l", "rg --heading", "grep -rc", "ag")
}

func FuzzListingsHoldTheRules(f *testing.F) { fuzzFamily(f, "find", "ls -l", "ls -R", "tree", "du -a") }

func FuzzTablesHoldTheRules(f *testing.F) {
	fuzzFamily(f, "docker ps", "kubectl get pods", "systemctl list-units", "ps aux", "top -b", "df", "kubectl describe pod")
}

func FuzzLogsHoldTheRules(f *testing.F) { fuzzFamily(f, "journalctl", "docker logs") }

func FuzzTracesHoldTheRules(f *testing.F) { fuzzFamily(f, "python3 app.py", "java Main.java", "./app") }

func FuzzJSONHoldsTheRules(f *testing.F) { fuzzFamily(f, "docker inspect", "npm view") }

func FuzzCurlHoldsTheRules(f *testing.F) { fuzzFamily(f, "curl -v") }

func FuzzMaskingTwiceIsMaskingOnce(f *testing.F) { // REDUCE-10
	for _, s := range []string{"A_TOKEN=abcdefgh", "https://u:pass@h/", `{"password": "hunter2x"}`, "sk-" + "abcdefghijklmnopqrstuv", "authorization: basic abcd", "Authorization:0000000000 000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := masked(text)
		if len(once) > len(text) {
			t.Errorf("%q became longer: %q", text, once)
		}
		if again := masked(once); again != once {
			t.Errorf("%q: %q is masked again: %q", text, once, again)
		}
	})
}
