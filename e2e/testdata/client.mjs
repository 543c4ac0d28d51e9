// Drives termpilot by the official TypeScript SDK, which holds every result
// against the tool's output schema: open, run, read, wait.
//
// usage: client.mjs BINARY SHELL... ; prints one JSON object per shell.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.TERMPILOT_TEST_NODE_MODULES + "/");
const load = (path) => import(pathToFileURL(require.resolve(path)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const [binary, ...shells] = process.argv.slice(2);
const client = new Client({ name: "e2e", version: "1" });
await client.connect(new StdioClientTransport({ command: binary, args: ["serve"], env: process.env }));
const { tools } = await client.listTools(); // from here on results are checked
if (tools.length < 9 || tools.some((t) => !t.outputSchema)) throw new Error("tools without output schemas");

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent;
}

for (const shell of shells) {
  const { session_id } = await call("create_window", { profile: shell });
  const ran = await call("run_command", { session_id, command: "echo hello; sh -c 'exit 3'" });
  const read = await call("read_terminal", { session_id });
  const started = await call("run_command", { session_id, command: "sleep 1; echo late", wait_for_completion: false });
  const waited = await call("wait_session", { run_id: started.run_id, timeout_seconds: 20 });
  const listed = await call("list_sessions", {});
  console.log(JSON.stringify({
    shell,
    exit: ran.exit_code,
    output: ran.output,
    screen: read.content.includes("hello"),
    submitted: started.status,
    late: waited.run.output,
    listed: listed.sessions.some((s) => s.session_id === session_id),
  }));
}
await client.close();
