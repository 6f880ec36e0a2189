"""Three reports about three datasets: how they are made, read back by other programs, and tampered with."""
