// trackrecord: reports the runs of opencode, and hands it what earlier runs taught.
// Written by `trackrecord install opencode`, removed by `trackrecord uninstall opencode`.
// Whatever goes wrong, opencode goes on as if this file were not there.
import * as fs from "node:fs"

const HOME = "@HOME@"
const MOST_WAITING = 2000
const ASKING_MS = 500
const MOST_SESSIONS = 200

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
    if (fs.readdirSync(waiting).length >= MOST_WAITING) return
    const at = Date.now()
    const name = `${String(at).padStart(14, "0")}000000-${process.pid}-${noted++}`
    const said = { agent: "opencode", event, session, transcript: "", folder, home: "", at: at / 1000 }
    fs.writeFileSync(`${waiting}/.${name}`, JSON.stringify(said), { mode: 0o600, flag: "wx" })
    fs.renameSync(`${waiting}/.${name}`, `${waiting}/${name}.json`)
  } catch {}
}

// Asks for what is known of the project, then of the task, all within one deadline.
async function ask(session, folder, prompt, promptId) {
  const told = []
  try {
    const [host, port, token] = fs.readFileSync(`${HOME}/agents/door`, "utf8").split("\n")
    const name = host.includes(":") ? `[${host}]` : host
    const headers = { "Content-Type": "application/json" }
    if (token) headers.Authorization = `Bearer ${token}`
    const signal = AbortSignal.timeout(ASKING_MS)
    const about = { session_id: session, cwd: folder }
    const task = { prompt: prompt.slice(0, 32768), prompt_id: promptId }
    for (const [event, more] of [["SessionStart", {}], ["UserPromptSubmit", task]]) {
      touch(event)
      const body = JSON.stringify({ hook_event_name: event, ...about, ...more })
      const url = `http://${name}:${port}/hooks/opencode`
      const answer = await fetch(url, { method: "POST", headers, body, signal })
      if (answer.status !== 200) continue
      const said = await answer.json()
      told.push(said?.hookSpecificOutput?.additionalContext ?? "")
    }
  } catch {}
  return told.filter(Boolean).join("\n\n")
}

export const Trackrecord = async ({ directory, worktree }) => {
  const folder = directory ?? worktree ?? ""
  const known = new Map() // what each session is told: the same text in each of its requests
  return {
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
        if (!session || known.has(session)) return
        if (known.size >= MOST_SESSIONS) known.delete(known.keys().next().value)
        const parts = output?.parts ?? []
        const prompt = parts.filter((part) => part.type === "text" && !part.synthetic)
        const text = prompt.map((part) => part.text ?? "").join("\n")
        known.set(session, ask(session, folder, text, output?.message?.id ?? input?.messageID ?? ""))
      } catch {}
    },
    "experimental.chat.system.transform": async (input, output) => {
      try {
        const text = await (known.get(input?.sessionID) ?? "")
        if (text) output.system.push(text)
      } catch {}
    },
  }
}
