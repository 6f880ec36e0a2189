"""Gateways: other ways to a server, for programs that do not speak its own interface.

A gateway is a client among others.  It holds no data, no contract and no ledger: what it is asked goes to `/v1`
with the API key of whoever asks, and comes back at its tick.

* `assistants/` speaks MCP, for language models.

`paid_once.py` gives a question its request id, so that the same question is paid once, and `allowance.py` caps what is
spent through a gateway, before anything is sent.
"""
