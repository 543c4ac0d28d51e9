"""An MCP client that asks the server that it started to close the session that both run in."""
import json
import subprocess
import sys

session, binary, *flags = sys.argv[1:]
server = subprocess.Popen([binary, "serve", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(number, method, params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]


ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "inside", "version": "1"}})
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
for number, tool in enumerate(("close_session", "close_tab", "close_window", "clean_all_sessions"), 2):
    arguments = {"force": True}
    if tool != "clean_all_sessions":
        arguments["session_id"] = session
    result = ask(number, "tools/call", {"name": tool, "arguments": arguments})["structuredContent"]
    print(result["status"], result["code"])
server.stdin.close()
server.wait()
