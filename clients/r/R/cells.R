# Cells: from JSON to the types of R. What a column is, its server says; noise and intervals follow.
#
# Times are what a clock shows, and have no zone (a contract says whose clock it is). They are kept in UTC, in which
# every clock time exists and occurs once, whatever the zone of this session.

MOST_INTEGER <- .Machine$integer.max
MOST_EXACT <- 2^53

read_cells <- function(cells, kind) {
  missing <- vapply(cells, is.null, NA)
  present <- cells[!missing]
  values <- switch(kind,
    boolean = as.logical(unlist(present)),
    whole = read_whole(present),
    date = as.Date(as.character(unlist(present)), format = "%Y-%m-%d"),
    datetime = as.POSIXct(as.character(unlist(present)), format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC"),
    time = read_clock(as.character(unlist(present))),
    number = as.double(unlist(present)),
    as.character(unlist(present))
  )
  values[match(seq_along(cells), which(!missing))]
}

# Integers where all of them are, doubles where one is larger; beyond 2^53 those are the nearest.
read_whole <- function(cells) {
  numbers <- as.double(unlist(cells))
  if (all(abs(numbers) <= MOST_INTEGER) && all(numbers == trunc(numbers))) as.integer(numbers) else numbers
}

# Times of day are as those of the package hms, which shows them as 14:30:00 where it is installed.
read_clock <- function(texts) {
  requireNamespace("hms", quietly = TRUE)
  parts <- strsplit(texts, ":", fixed = TRUE)
  seconds <- vapply(parts, function(part) sum(as.double(part) * c(3600, 60, 1)[seq_along(part)]), 0)
  structure(seconds, units = "secs", class = c("hms", "difftime"))
}

# Whether whole numbers are too large for doubles, so that their last digits are lost.
is_rounded <- function(cells, kind) {
  kind == "whole" && any(abs(as.double(unlist(cells))) >= MOST_EXACT)
}
