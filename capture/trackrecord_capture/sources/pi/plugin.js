export default function (pi) {
  const known = new Set() // the sessions that were told what is known
  const asked = new Map() // what the person asked for last in each session
  const where = (ctx) => ({ session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd })
  try {
    // A server of this name that the person has stays.
    if (MCP) pi.registerMcpServer("trackrecord", { command: `${HOME}/agents/mcp`, args: [] })
  } catch {}
  pi.on("before_agent_start", async (event, ctx) => {
    try {
      const { session_id, cwd } = where(ctx)
      if (typeof event.prompt !== "string") return
      remember(asked, session_id, { prompt: event.prompt.slice(0, 32768) })
      if (known.has(session_id)) return
      known.add(session_id)
      const content = await ask(session_id, cwd, event.prompt, "")
      if (content) return { message: { customType: "trackrecord", content, display: false } }
    } catch {}
  })
  pi.on("tool_result", async (event, ctx) => {
    try {
      const about = where(ctx)
      const before = event.content.map((block) => block.text ?? "")
      const content = event.content.map((block) => ({ ...block }))
      const text = before.join("\n")
      // A command that failed ends so; no other tool has a status.
      const status = event.isError ? Number(/Command exited with code (\d+)\s*$/.exec(text)?.[1] ?? NaN) : 0
      const exit = event.toolName === "bash" && !Number.isNaN(status) ? status : undefined
      const command = event.input?.command
      const hint = await hintAt({ ...about, tool: event.toolName, call: event.toolCallId, command, text, exit })
      const said = { tool: event.toolName, args: event.input }
      await summarise(said, { content }, { ...about, ...asked.get(about.session_id) })
      if (hint) content.push({ type: "text", text: hint })
      // What structure an output has is lost with the text that replaces it.
      if (hint || content.some((block, at) => block.text !== before[at])) return { content }
    } catch {}
  })
  for (const event of ["agent_settled", "session_shutdown"])
    pi.on(event, async (_, ctx) => note(event, ctx.sessionManager.getSessionId(), ctx.cwd))
}
