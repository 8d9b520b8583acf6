"""The adapters: one package for each source, each reading its logs as `AgentRun`."""
