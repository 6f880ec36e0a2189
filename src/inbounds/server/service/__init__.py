"""What routes and pages share: asking, explaining, stored answers, budgets."""
