// An agent in JavaScript: `node examples/node/agent.mjs URL TOKEN`. It needs Node 18 or newer, and no
// package. `trackrecord token show` prints your own token.

const [url = "http://127.0.0.1:4318", token] = process.argv.slice(2);
const project = process.env.TRACKRECORD_PROJECT ?? "default";

async function call(path, body) {
  const answer = await fetch(`${url}/api/v1${path}?project=${encodeURIComponent(project)}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    // An agent waits for advice no longer than it is worth.
    signal: AbortSignal.timeout(2000),
  });
  const document = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${document.detail}`);
  return document;
}

// What earlier tasks taught; nothing if trackrecord cannot be reached.
async function advice(task, taskId) {
  try {
    return (await call("/rankings", { task, task_id: taskId, budget: 800 })).prompt;
  } catch (error) {
    console.error(`no advice this time: ${error.message}`);
    return "";
  }
}

async function report(outcome) {
  try {
    await call("/outcomes", outcome);
  } catch (error) {
    console.error(`not reported: ${error.message}`);
  }
}

const task = "Mend the nightly build";
const taskId = "build-4713";
const started = Date.now();
const prompt = `${await advice(task, taskId)}\n\n## Your task\n\n${task}`.trim();
console.log(prompt); // your model and its tools come here
await report({
  task_id: taskId,
  instruction: task,
  success: true,
  strategy: "Split by component",
  duration_ms: Date.now() - started,
  tool_graph: [{ tool: "edit_file", ok: true }, { tool: "run_tests", ok: true }],
});
