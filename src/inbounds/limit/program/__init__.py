"""The linear program, solved by columns that are generated as they are needed."""
