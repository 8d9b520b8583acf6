"""Parts of commands that are too long for their module, such as `competences merge`."""
