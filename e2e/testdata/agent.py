"""A coding agent of a test's own: what real ones leave of their processes.

It is what it is called (claude, codex, grok, kiro-cli) and keeps the files that
real ones keep. Words on its command line: a state (idle, busy, waiting, silent,
new), "stubborn" to ignore requests to end, "slow" to take its time.
"""
import json
import os
import signal
import sys
import time

name = os.path.basename(sys.argv[0])
words = sys.argv[1:]
state = next((w for w in words if w in ("idle", "busy", "waiting", "silent", "new")), "idle")
chat = next((w for w in words if len(w) == 36), "0192f3a1-1111-7222-8333-%012d" % os.getpid())
home = os.environ["HOME"]


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def lines(*records):
    return "".join(json.dumps(r) + "\n" for r in records)


registration = None
if name == "claude":
    with open("/proc/self/stat") as f:
        start = f.read().rpartition(")")[2].split()[19]
    entry = {"pid": os.getpid(), "sessionId": chat, "cwd": os.getcwd(), "startedAt": int(time.time() * 1000), "procStart": start}
    if state != "silent":
        entry["status"] = "idle" if state == "new" else state
    if state != "new":
        put(f"{home}/.claude/projects/-x/{chat}.jsonl", "{}\n")
    registration = put(f"{home}/.claude/sessions/{os.getpid()}.json", json.dumps(entry))
elif name == "codex":
    held = [open(put(f"{home}/.codex/thread-writer-locks/{chat}.lock", ""))]
    if state != "new":
        event = {"idle": "task_complete", "busy": "task_started", "waiting": "exec_approval_request", "silent": "token_count"}[state]
        record = lines({"type": "event_msg", "payload": {"type": event}}, {"type": "response_item", "payload": {"type": "message"}})
        held.append(open(put(f"{home}/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{chat}.jsonl", record)))
elif name == "grok":
    put(f"{home}/.grok/active_sessions.json", json.dumps([{"session_id": chat, "pid": os.getpid(), "cwd": os.getcwd(), "opened_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}]))
    if state != "new":
        put(f"{home}/.grok/sessions/x/{chat}/chat_history.jsonl", "{}\n")
        event = {"idle": "turn_ended", "busy": "turn_started", "waiting": "permission_requested", "silent": "loaded"}[state]
        put(f"{home}/.grok/sessions/x/{chat}/events.jsonl", lines({"type": event}))


def leave(number, frame):
    if "stubborn" in words:
        return
    if "slow" in words:
        time.sleep(1.5)
    if registration:
        os.remove(registration)
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGHUP, leave)
print(f"{name} {state} chat={chat}", *(["resumed"] if "--resume" in words or "resume" in words else []), flush=True)
while True:
    time.sleep(1)
