"""What tests share: brute force, oracles, scripted randomness, places and children."""
