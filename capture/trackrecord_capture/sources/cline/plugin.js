// The session and the folder of this process, what is asked, and whether it was told what is known.
const here = { session_id: "", cwd: "" }
let asked = ""
let isTold = false

// What the person typed last, without what Cline puts around it.
function personsWords(messages) {
  const typed = messages.findLast((each) => each.role === "user" && each.metadata?.displayRole !== "system")
  const words = typed.content.map((part) => part.text ?? "").join("\n")
  return /^\s*<user_input[^>]*>([^]*)<\/user_input>/.exec(words)?.[1] ?? words
}

export default {
  name: "trackrecord",
  manifest: { capabilities: ["hooks", ...(MCP ? ["mcp"] : [])] },
  setup(api, context) {
    here.session_id = context?.session?.sessionId ?? ""
    here.cwd = context?.workspaceInfo?.rootPath ?? process.cwd()
    try {
      const transport = { type: "stdio", command: `${HOME}/agents/mcp`, args: [] }
      if (MCP) api.registerMcpServer({ name: "trackrecord", transport })
    } catch {}
  },
  hooks: {
    beforeRun: async ({ snapshot }) => {
      try {
        asked = personsWords(snapshot.messages).slice(0, 32768)
        if (isTold) return
        isTold = true
        const known = await ask(here.session_id, here.cwd, asked, "")
        if (known) return { appendContext: known }
      } catch {}
    },
    afterTool: async ({ toolCall, input, result }) => {
      try {
        const { toolName: tool, toolCallId: call } = toolCall
        if (tool !== "run_commands" || !Array.isArray(result?.output)) return
        let appendContext = ""
        const content = result.output.map((each) => ({ type: "text", text: each.result }))
        for (const [at, { text }] of content.entries()) {
          const command = input?.commands?.[at]
          const exit = Number(/^\[Command exited with code (\d+)\]/.exec(text)?.[1] ?? 0)
          appendContext ||= await hintAt({ ...here, tool, call, command, text, exit })
          await summarise({ tool, args: { command } }, { content: [content[at]] }, { ...here, prompt: asked })
        }
        const output = result.output.map((each, at) => ({ ...each, result: content[at].text }))
        const isShorter = output.some((each, at) => each.result !== result.output[at].result)
        return { appendContext, ...(isShorter ? { result: { ...result, output } } : {}) }
      } catch {}
    },
    afterRun: async () => note("run-ended", here.session_id, here.cwd),
  },
}
