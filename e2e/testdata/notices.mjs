// Listens for an agent by the official TypeScript SDK: launch, approve, result.
//
// usage: notices.mjs BINARY CLAUDE LOG ; it only ever waits for notices and
// prints one JSON object.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.TERMPILOT_TEST_NODE_MODULES + "/");
const load = (path) => import(pathToFileURL(require.resolve(path)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { ResourceUpdatedNotificationSchema, ResourceListChangedNotificationSchema, LoggingMessageNotificationSchema } =
  await load("@modelcontextprotocol/sdk/types.js");

const [binary, claude, log] = process.argv.slice(2);
const client = new Client({ name: "e2e", version: "1" });
let wake = () => {};
let told = 0;
const kinds = new Set();
for (const schema of [ResourceUpdatedNotificationSchema, ResourceListChangedNotificationSchema, LoggingMessageNotificationSchema]) {
  client.setNotificationHandler(schema, (n) => {
    kinds.add(n.method.split("/").at(-1));
    told++;
    wake();
  });
}
await client.connect(new StdioClientTransport({ command: binary, args: ["serve"], env: process.env }));

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent;
}

// until reads after every notice, and at first: what changes later is told.
async function until(uri, found) {
  for (;;) {
    const seenSo = told;
    const one = JSON.parse((await client.readResource({ uri })).contents[0].text);
    if (found(one)) return one;
    if (told === seenSo) {
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("nothing was told: " + JSON.stringify(one))), 60_000);
        wake = () => (clearTimeout(timer), resolve());
      });
    }
  }
}

await client.setLoggingLevel("info");
const { session_id } = await call("claude_agent", { env: { TERMPILOT_CLAUDE_BIN: claude, STANDIN_LOG: log } });
const uri = `termpilot://agents/${session_id}`;
const { resources } = await client.listResources();
await client.subscribeResource({ uri });
await call("agent_turn", { session_id, action: "send", text: "RUN:touch x\nSAY:the answer" });
const asks = await until(uri, (one) => one.waits_for_approval);
const question = await call("agent_approval", { session_id, action: "inspect" });
await call("agent_approval", { session_id, action: "respond", digest: question.digest, choice: "yes" });
const done = await until(uri, (one) => one.outcome === "done");
const result = await call("agent_turn", { session_id, action: "result" });
await call("close_session", { session_id, force: true });
const gone = await until(uri, (one) => one.state === "ended");
console.log(JSON.stringify({
  asks, asked: question.asks, done, text: result.text, listed: resources.some((r) => r.uri === uri), gone,
  kinds: [...kinds].sort(), notices: told,
}));
await client.close();
