// trackrecord: reports the runs of @LABEL@, and hands it what earlier runs taught.
// Written by `trackrecord install @AGENT@`, removed by `trackrecord uninstall @AGENT@`.
// Whatever goes wrong, @LABEL@ goes on as if this file were not there.
import * as fs from "node:fs"
import * as http from "node:http"

const HOME = "@HOME@"
const AGENT = "@AGENT@"
const MOST_WAITING = 2000
const MCP = "@MCP@" === "yes"
const SUMMARISES = "@SUMMARISES@" === "yes"
const ASKING_MS = 500
const MOST_SESSIONS = 200
const MOST_OUTPUT = 10485760
// What these tools say is asked for word by word, or is short.
const LEFT_ALONE = new Set([
  "read", "edit", "write", "multiedit", "patch", "apply_patch", "task", "todowrite", "todoread", "skill", "question",
])

let noted = 0

function touch(name) {
  fs.mkdirSync(`${HOME}/agents/fired`, { recursive: true, mode: 0o700 })
  fs.writeFileSync(`${HOME}/agents/fired/${AGENT}.${name}`, "", { mode: 0o600 })
}

// Says what ended; what happened is read from the agent's own log.
function note(event, session, folder) {
  try {
    if (!fs.existsSync(`${HOME}/agents`)) return
    touch(event)
    const waiting = `${HOME}/hooks`
    fs.mkdirSync(waiting, { recursive: true, mode: 0o700 })
    const at = Date.now()
    if (fs.readdirSync(waiting).length >= MOST_WAITING) {
      const says = `${MOST_WAITING} notes wait, no more are taken: start \`trackrecord up\``
      fs.mkdirSync(`${HOME}/agents/errors`, { recursive: true, mode: 0o700 })
      fs.writeFileSync(`${HOME}/agents/errors/${AGENT}`, `${at / 1000}\n${says}\n`, { mode: 0o600 })
      return
    }
    const name = `${String(at).padStart(14, "0")}000000-${process.pid}-${noted++}`
    const said = { agent: AGENT, event, session, transcript: "", folder, home: "", at: at / 1000 }
    fs.writeFileSync(`${waiting}/.${name}`, JSON.stringify(said), { mode: 0o600, flag: "wx" })
    fs.renameSync(`${waiting}/.${name}`, `${waiting}/${name}.json`)
  } catch {}
}

// Posts an event to the front door, and returns what it answers. Over its socket: on a port anybody
// could listen after it was killed. The deadline is kept here: in Bun, in which opencode runs, a
// request over a socket that is aborted by its signal ends without an event, and is waited for forever.
function post(said, signal) {
  const body = JSON.stringify(said)
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }
  const place = { socketPath: `${HOME}/http.sock`, path: `/hooks/${AGENT}`, method: "POST", headers }
  return new Promise((resolve, reject) => {
    const request = http.request(place, (answer) => {
      const parts = []
      answer.on("data", (part) => parts.push(part))
      answer.on("error", reject)
      answer.on("end", () => {
        try {
          const text = Buffer.concat(parts).toString("utf8")
          resolve(answer.statusCode === 200 ? JSON.parse(text)?.hookSpecificOutput : undefined)
        } catch (error) {
          reject(error)
        }
      })
    })
    const giveUp = () => {
      reject(signal.reason)
      request.destroy()
    }
    request.on("error", reject)
    signal.addEventListener("abort", giveUp, { once: true })
    if (signal.aborted) return giveUp()
    request.end(body)
  })
}

// From how many characters on an output is oversized; 0 for never.
function largestOutput() {
  return Number(fs.readFileSync(`${HOME}/agents/door`, "utf8").split("\n")[3])
}

// Has oversized texts of an output stored, and puts their summaries in their place.
async function summarise(input, output, about) {
  try {
    if (!SUMMARISES || LEFT_ALONE.has(input?.tool)) return
    const blocks = Array.isArray(output?.content) ? output.content : []
    const texts = blocks.filter((block) => block?.type === "text").map((block) => [block, "text"])
    const places = [[output, "output"], ...texts].filter(([holder, name]) => typeof holder?.[name] === "string")
    const most = largestOutput()
    if (!(most > 0)) return
    const signal = AbortSignal.timeout(ASKING_MS)
    for (const [holder, name] of places) {
      const text = holder[name]
      if (text.length <= most || text.length > MOST_OUTPUT) continue
      const said = { ...about, tool_name: input.tool, command: input.args?.command, output: text }
      const summary = (await post({ hook_event_name: "PostToolUse", ...said }, signal))?.updatedToolOutput
      if (typeof summary === "string" && summary.length < text.length) holder[name] = summary
    }
  } catch {}
}

// The commands of each session that have succeeded since its last failure: what ran is not told.
const succeeded = new Map()

function remember(known, session, value) {
  if (!known.has(session) && known.size >= MOST_SESSIONS) known.delete(known.keys().next().value)
  known.set(session, value)
}

// Returns what the front door knows of a command that has failed, and "" of one that has not.
async function hintAt({ tool, call, command, text, exit, ...where }) {
  try {
    if (typeof exit !== "number" || typeof command !== "string" || typeof text !== "string") return ""
    if (!succeeded.has(where.session_id)) remember(succeeded, where.session_id, [])
    const ran = succeeded.get(where.session_id)
    if (exit === 0) {
      if (command.length <= 300 && ran.length < 50) ran.push(command)
      return ""
    }
    if (!fs.existsSync(`${HOME}/agents/door`)) return ""
    touch("PostToolUseFailure")
    const error = text.length > 65536 ? `${text.slice(0, 32768)}\n${text.slice(-32768)}` : text
    const about = { tool_name: tool, tool_use_id: call, tool_input: { command: command.slice(0, 32768) } }
    const said = { hook_event_name: "PostToolUseFailure", ...where, ...about, exit_code: exit, error, ran: ran.splice(0) }
    const hint = (await post(said, AbortSignal.timeout(ASKING_MS)))?.additionalContext
    return typeof hint === "string" ? hint : ""
  } catch {
    return ""
  }
}

// Asks for what is known of the project, then of the task, all within one deadline.
async function ask(session, folder, prompt, promptId) {
  const told = []
  try {
    if (!fs.existsSync(`${HOME}/agents/door`)) return ""
    const signal = AbortSignal.timeout(ASKING_MS)
    const about = { session_id: session, cwd: folder }
    const task = { prompt: prompt.slice(0, 32768), prompt_id: promptId }
    for (const [event, more] of [["SessionStart", {}], ["UserPromptSubmit", task]]) {
      touch(event)
      const said = await post({ hook_event_name: event, ...about, ...more }, signal)
      told.push(said?.additionalContext ?? "")
    }
  } catch {}
  return told.filter(Boolean).join("\n\n")
}
