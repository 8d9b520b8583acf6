// trackrecord: reports the runs of opencode, and hands it what earlier runs taught.
// Written by `trackrecord install opencode`, removed by `trackrecord uninstall opencode`.
// Whatever goes wrong, opencode goes on as if this file were not there.
import * as fs from "node:fs"
import * as http from "node:http"

const HOME = "@HOME@"
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
  fs.writeFileSync(`${HOME}/agents/fired/opencode.${name}`, "", { mode: 0o600 })
}

// Says what ended; what happened is read from opencode's own database.
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
      fs.writeFileSync(`${HOME}/agents/errors/opencode`, `${at / 1000}\n${says}\n`, { mode: 0o600 })
      return
    }
    const name = `${String(at).padStart(14, "0")}000000-${process.pid}-${noted++}`
    const said = { agent: "opencode", event, session, transcript: "", folder, home: "", at: at / 1000 }
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
  const place = { socketPath: `${HOME}/http.sock`, path: "/hooks/opencode", method: "POST", headers }
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

// Has the front door say what is known of a command that has failed, and puts that behind its output.
// Commands that succeed are remembered until then: what ran already is not told.
async function tell(input, output, about, ran) {
  try {
    const exit = output?.metadata?.exit
    const command = input?.args?.command
    if (typeof exit !== "number" || typeof command !== "string" || typeof output.output !== "string") return
    if (exit === 0) {
      if (command.length <= 300 && ran.length < 50) ran.push(command)
      return
    }
    if (!fs.existsSync(`${HOME}/agents/door`)) return
    touch("PostToolUseFailure")
    const text = output.output
    const error = text.length > 65536 ? `${text.slice(0, 32768)}\n${text.slice(-32768)}` : text
    const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: { command: command.slice(0, 32768) } }
    const said = { hook_event_name: "PostToolUseFailure", ...about, ...call, exit_code: exit, error, ran: ran.splice(0) }
    const hint = (await post(said, AbortSignal.timeout(ASKING_MS)))?.additionalContext
    if (typeof hint === "string" && hint) output.output = `${text}\n${hint}`
  } catch {}
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

export const Trackrecord = async ({ directory, worktree }) => {
  const folder = directory ?? worktree ?? ""
  const known = new Map() // what each session is told: the same text in each of its requests
  const succeeded = new Map() // the commands of each session since its last failure
  const asked = new Map() // what the person asked for last in each session
  return {
    config: async (config) => {
      try {
        // A server of this name that the person has stays.
        const ours = { type: "local", command: [`${HOME}/agents/mcp`] }
        if (MCP) config.mcp = { trackrecord: ours, ...config.mcp }
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const session = event?.properties?.sessionID ?? ""
        if (event?.type === "session.idle") note("session-idle", session, folder)
        if (event?.type === "session.error") note("session-error", session, folder)
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const session = input?.sessionID ?? output?.message?.sessionID
        if (!session) return
        const parts = output?.parts ?? []
        const prompt = parts.filter((part) => part.type === "text" && !part.synthetic)
        const text = prompt.map((part) => part.text ?? "").join("\n")
        const id = output?.message?.id ?? input?.messageID ?? ""
        if (asked.size >= MOST_SESSIONS) asked.delete(asked.keys().next().value)
        asked.set(session, { prompt: text.slice(0, 32768), prompt_id: id })
        if (known.has(session)) return
        if (known.size >= MOST_SESSIONS) known.delete(known.keys().next().value)
        known.set(session, ask(session, folder, text, id))
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      const session = input?.sessionID ?? ""
      if (!succeeded.has(session)) {
        if (succeeded.size >= MOST_SESSIONS) succeeded.delete(succeeded.keys().next().value)
        succeeded.set(session, [])
      }
      await tell(input, output, { session_id: session, cwd: folder }, succeeded.get(session))
      await summarise(input, output, { session_id: session, cwd: folder, ...asked.get(session) })
    },
    "experimental.chat.system.transform": async (input, output) => {
      try {
        const text = await (known.get(input?.sessionID) ?? "")
        if (text) output.system.push(text)
      } catch {}
    },
  }
}
