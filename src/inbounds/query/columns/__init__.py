"""What a value can be: columns, conditions on them, and columns derived from columns."""
