"""The server: it holds the data, the contracts and the ledger, knows who asks, and answers over the network.

inbounds serve custodian.toml

basics/     what every part uses: roles, limits, ticks, and what every refusal looks like
state/      what is open or stored: the custodian's file, datasets, ledger, claims and rates over all processes
people/     who is asking: API keys, sessions, the identity provider
service/    what routes and pages share: queries are answered, previewed, listed and derived here
api/        one module for each noun of /v1
pages/      the same for people, in a browser
run/        all of it together, and the processes that run it
"""
