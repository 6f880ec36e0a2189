"""How a question is planned and answered: a module for each kind of measure."""
