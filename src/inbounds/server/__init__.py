"""The server: it holds the data, the contracts and the ledger, knows who asks, and answers over the network.

inbounds serve custodian.toml

custodian_file      what the custodian decides: contracts, ledger, people, where to listen, limits
person, key_ring    who may ask, and with which keys;  authentication  who does
holdings            the datasets and the ledger that a process has open
claims, rates       how much one person can have at once, over all processes
ticks               when an answer leaves, whatever it took
api/                one module for each noun of /v1;  problem  what every refusal looks like
pages/              the same for people, in a browser
app, process        all of it together, and the processes that run it
"""
