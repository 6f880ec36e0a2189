"""The pages: an analyst asks, a custodian manages, an auditor verifies, a reader reads, in a browser.

An address begins with a noun, and its module is `pages/noun.py`; those below `/keep`, which the menu calls Manage, are
in the room `manage`.  What follows says which template shows it:

    /noun                 templates/noun.html; / is home.html, in `sign_in`
    /noun/{one}           templates/noun_one.html: one of many
    /noun/word            templates/noun_word.html: a word of ours
    /noun/word/{one}      templates/noun_word_one.html
    /noun/{one}/word      templates/noun_word.html

A hyphen is an underscore there: `/sign-in` has `sign_in.html`, also for who comes back from a provider.  An answer that
is still to come has `answers_waiting.html`, and what is refused `refusal.html`.  Any other template is a part of pages.
Every page is a link, and works without script.

    console     which pages there are, and which are in the menu
    page        how a page is made: the template, its headers, who looks
    visitor     who looks: a session, from a cookie; forms carry its token
    plan, sign_in, ask, answers, shared, reports, verify      one noun each
    manage      what a custodian watches and decides: datasets, contracts, keys
"""
