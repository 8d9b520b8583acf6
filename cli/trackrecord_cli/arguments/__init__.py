"""Input of commands: options, arguments, texts and files, and how a shell completes them."""
