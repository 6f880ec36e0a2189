"""What every part of the server uses: the clock, limits, roles, problems, secrets."""
