"""Words of pages that tests look for, each in one place: labels, buttons, headings and what a page says."""

from __future__ import annotations

KEY = "API key"
"""Signing in."""

BOUNDS, CHANGE, RECOMMENDED, COMPARISON = (
    "Possible answers",
    "Largest change by one person",
    "Recommended",
    "Comparison of mechanisms",
)
COMPUTING = "Computing the plan"
WELCOME, PLAN = "Statistics that protect the people in them", "Plan a release"
"""Plan."""

SQL, EPSILON = "Query (SQL)", "Privacy cost (ε)"
PREVIEW, WRITE_SQL = "Preview cost and accuracy (free)", "Write SQL"
MEASURE, COLUMN, GROUP = "Measure", "Column", "Group by"
FREE, SHOW, AFFORDABLE_NO_MORE, PREVIEW_FAILED = (
    "Free.",
    "Show it (free)",
    "more than you have left",
    "The preview failed.",
)
REQUEST, AMOUNT, REASON, SEND = "Request more budget", "Additional ε", "Reason", "Send request"
"""The query page."""

AGAIN, PROGRAM, DERIVED, PROOF = (
    "Run again (free)",
    "A program sent this query",
    "an answer you already have",
    "Mechanism and proof",
)
PENDING = "Pending."
"""Answers."""

MANAGE, NOTE, PERSON, ISSUE, ISSUED = (
    "Manage",
    "Note (optional, kept on record)",
    "Person",
    "Issue key",
    "shown only once",
)
"""Manage."""

TRY, CONTRACT, CHECK, SERVED, DRAFT, DOWNLOAD = (
    "Try a contract",
    "Contract (TOML)",
    "Check the contract (free)",
    "Show the served contract",
    "Draft from the table",
    "Download as file",
)
READS, SAME, EYES_ONLY = "The contract reads without a fault.", "None: both promise the same", "eyes only"
"""Trying a contract."""

SAVED, VERIFY, CONTAINED, FIRST = (
    "Saved checkpoint",
    "Verify now",
    "contains your saved checkpoint",
    "Hash is correct; first entry",
)
OLDEST = "Oldest first"
"""Verify."""

SAVE_THIS, SAVE, NAME = "Save this query", "Save query", "Name"
TITLE, REPORT_NAME, PROPOSE = "Title", "Name (lower-case letters, digits and underscores)", "Propose report (free)"
WAITING, NEW_LINK, READERS, SHARE, REVOKE = (
    "Waiting for a custodian",
    "New link",
    "People who can read it, one name per line",
    "Create link",
    "Revoke",
)
CODE = "Use this query in code"
"""Reports, links and saved queries."""

SKIP = "Skip to main content"


def costs(epsilon: str) -> str:
    """Return how a preview says what a query costs."""
    return f"Costs ε {epsilon}"


def leaves(epsilon: str) -> str:
    """Return how a preview says what is left afterwards."""
    return f"leaves you {epsilon}."


def run(epsilon: str) -> str:
    """Return what the button says that runs a query."""
    return f"Run query (spends ε = {epsilon})"


def run_anyway(epsilon: str) -> str:
    """Return what the button says that runs a query whose answer tells nothing."""
    return f"Run anyway (spends ε = {epsilon})"


def used(spent: str, cap: str) -> str:
    """Return how a page says what is spent of a budget."""
    return f"ε {spent} of {cap} used"


def granted(amount: str) -> str:
    """Return how an analyst is told that a request was granted."""
    return f"Granted ε {amount}."


def grant(amount: str) -> str:
    """Return what the button says that grants a request."""
    return f"Grant ε {amount}"


def follows(entry: int) -> str:
    """Return what an entry of the ledger says of the one before it."""
    return f"Hash is correct; follows entry {entry}"


def revoke(prefix: str) -> str:
    """Return what the button says that revokes a key."""
    return f"Revoke now key {prefix}"


def approve(epsilon: str, analyst: str) -> str:
    """Return what the button says that publishes a report."""
    return f"Approve and publish (spends ε {epsilon} of {analyst})"
