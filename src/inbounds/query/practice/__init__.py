"""Practice data: made-up rows that fit a contract, so that questions can be tried before anything is paid."""
