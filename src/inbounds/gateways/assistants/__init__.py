"""A gateway for assistants: language models ask by MCP, in the name of one person and with that person's API key.

`mcp_server.py` is the protocol's side, over standard input and output (`stdio.py`) or HTTP (`streamable_http.py`).
What a model can do are the tools of `looking.py`, `asking.py` and `reading.py`; nothing else is offered.
"""
