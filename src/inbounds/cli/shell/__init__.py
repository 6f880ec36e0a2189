"""What all commands share: arguments, options, output, exit codes."""
