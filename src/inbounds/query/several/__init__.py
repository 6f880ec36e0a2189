"""Several released SELECTs in one statement: asked for one charge, and put together for free."""
