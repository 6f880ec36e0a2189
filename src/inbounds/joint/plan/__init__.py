"""What will be measured, at which epsilon, and how accurate that is; and what is public already."""
