"""Tables of counts and sums that add up."""
