"""What is published: reports that custodians approve, and answers that their owners share."""
