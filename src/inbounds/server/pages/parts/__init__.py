"""Parts of pages: tables of answers, the form for questions, examples, the history of a contract."""
