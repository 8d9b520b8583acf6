export const Trackrecord = async ({ directory, worktree }) => {
  const folder = directory ?? worktree ?? ""
  const known = new Map() // what each session is told: the same text in each of its requests
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
        remember(asked, session, { prompt: text.slice(0, 32768), prompt_id: id })
        if (!known.has(session)) remember(known, session, ask(session, folder, text, id))
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      const session = input?.sessionID ?? ""
      const about = { session_id: session, cwd: folder }
      const ended = { command: input?.args?.command, text: output?.output, exit: output?.metadata?.exit }
      const hint = await hintAt({ ...about, tool: input?.tool, call: input?.callID, ...ended })
      if (hint) output.output = `${output.output}\n${hint}`
      await summarise(input, output, { ...about, ...asked.get(session) })
    },
    "experimental.chat.system.transform": async (input, output) => {
      try {
        const text = await (known.get(input?.sessionID) ?? "")
        if (text) output.system.push(text)
      } catch {}
    },
  }
}
