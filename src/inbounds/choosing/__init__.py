"""Which mechanism to take: the catalogue of all of them, a comparison and a recommendation."""
