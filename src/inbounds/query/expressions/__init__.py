"""One language of expressions: values of columns, of keys and of released measures, and conditions on them."""
