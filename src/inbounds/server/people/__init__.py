"""Who asks: API keys, tokens, sessions, sign-ins."""
