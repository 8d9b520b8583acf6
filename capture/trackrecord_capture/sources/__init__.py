"""The adapters: one package for each source, each turning what it finds into `AgentRun`."""
