"""What is on a server, and nowhere else: its reports, and answers that are shared."""
