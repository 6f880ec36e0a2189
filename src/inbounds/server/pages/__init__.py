"""The pages: an analyst asks, a custodian watches, an auditor verifies, in a browser.

An address is `/noun` or `/noun/name`; its module is `pages/noun.py`, its template `templates/noun.html` (of one of many
`templates/noun_one.html`).  Every page is a link, and works without script.

    page        how a page is made: the template, its headers, who looks
    visitor     who looks: a session, from a cookie; forms carry its token
    plan, sign_in, ask, answers, keep, verify      one noun each
"""
