"""How the server runs: the application, its processes and connections."""
