"""What somebody who asks has in hand, in plain Python: answers and their intervals, and how exact they are wanted."""
