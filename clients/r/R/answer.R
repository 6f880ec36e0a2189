# Answers: a tibble with a row for each group; each measure stands before its interval and its expected noise.

PRACTICE <- "PRACTICE DATA: made-up rows, tells nothing about anybody"

read_answer <- function(data) {
  columns <- list()
  place <- 0
  for (at in seq_along(data$columns)) {
    column <- data$columns[[at]]
    cells <- lapply(data$rows, `[[`, at)
    if (isTRUE(column$is_key)) {
      columns <- add_column(columns, column$name, read_cells(cells, column$kind))
    } else {
      place <- place + 1
      columns <- add_measure(columns, column, cells, data, place)
    }
  }
  if (isTRUE(data$practice)) {
    columns <- add_column(columns, "practice", rep(PRACTICE, length(data$rows)))
  }
  new_answer(columns, data)
}

# Where nothing was learnt there is no number: its interval is the whole possible range, and a column says so.
add_measure <- function(columns, column, cells, data, place) {
  pick <- function(rows) lapply(rows, `[[`, place)
  learnt <- vapply(pick(data$learnt), isTRUE, NA)
  learnt <- if (length(learnt) == 0) rep(TRUE, length(cells)) else learnt
  intervals <- if (length(data$intervals)) pick(data$intervals) else lapply(cells, function(cell) NULL)
  end <- function(which) lapply(intervals, function(ends) if (!is.null(ends)) ends[[which]])
  noise <- read_cells(pick(data$expected_noise), "number")

  values <- read_cells(cells, column$kind)
  values[!learnt] <- NA
  noise[!learnt] <- NA
  name <- column$name
  columns <- add_column(columns, name, values)
  columns <- add_column(columns, paste0(name, "_low"), read_cells(end(1), column$kind))
  columns <- add_column(columns, paste0(name, "_high"), read_cells(end(2), column$kind))
  columns <- add_column(columns, paste0(name, "_noise"), noise)
  if (!all(learnt)) {
    columns <- add_column(columns, paste0(name, "_nothing_learnt"), !learnt)
  }
  columns
}

# Adds a column under a name that no other has.
add_column <- function(columns, name, values) {
  while (name %in% names(columns)) {
    name <- paste0(name, "_")
  }
  columns[[name]] <- values
  columns
}

new_answer <- function(columns, data) {
  whole <- vapply(seq_along(data$columns), function(at) {
    is_rounded(lapply(data$rows, `[[`, at), data$columns[[at]]$kind)
  }, NA)
  tibble::new_tibble(
    columns,
    nrow = length(data$rows),
    class = "inb_answer",
    epsilon = read_amount(data$epsilon),
    request_id = data$id,
    dataset = data$dataset,
    sql = data$question,
    practice = isTRUE(data$practice),
    confidence = data$confidence,
    simultaneous = isTRUE(data$simultaneous),
    caveat = data$caveat,
    row_limit = data$row_limit,
    warnings = as.character(unlist(data$warnings)),
    remarks = c(as.character(unlist(data$remarks)), if (any(whole)) ROUNDED),
    note = data$note,
    public = as.character(unlist(data$public)),
    parts = data$parts
  )
}

ROUNDED <- "Whole numbers beyond 2^53 are rounded to the nearest number that R can hold."

TOO_FEW_ROWS <- paste(
  "Where nothing was learnt, a number is NA and its interval is the whole possible range: there are too few rows for",
  "this epsilon. Ask for fewer groups or a larger epsilon."
)

# What it cost, in a line: of practice data and of public knowledge, nothing.
cost_words <- function(answer) {
  epsilon <- attr(answer, "epsilon")
  if (attr(answer, "practice")) {
    "free, on practice data"
  } else if (!isTRUE(epsilon > 0)) {
    "free: public knowledge, or derived from answers you have"
  } else {
    paste0(epsilon_words(epsilon), ", charged once")
  }
}

epsilon_words <- function(amount) paste(EPSILON, "=", write_decimal(amount, "epsilon"))

EPSILON <- "\u03b5"

# What to know about the numbers, each in a line.
notes_of <- function(answer) {
  has <- function(end) any(!is.na(unlist(lapply(answer[grepl(end, names(answer))], as.double))))
  intervals <- paste0(format(100 * attr(answer, "confidence"), digits = 10), " %",
                      if (attr(answer, "simultaneous")) " simultaneous", " intervals from _low to _high.")
  c(
    if (has("_low_*$")) paste(c(intervals, attr(answer, "caveat")), collapse = " "),
    if (any(grepl("_nothing_learnt_*$", names(answer)))) TOO_FEW_ROWS,
    attr(answer, "row_limit"),
    attr(answer, "warnings"),
    attr(answer, "remarks"),
    attr(answer, "note")
  )
}

tbl_sum.inb_answer <- function(x, ...) {
  id <- attr(x, "request_id")
  kept <- !attr(x, "practice") && is_text(id) && isTRUE(attr(x, "epsilon") > 0)
  c("Private answer" = paste(nrow(x), "x", ncol(x)), "Cost" = cost_words(x), "Request id" = if (kept) id)
}

# The mark of practice data stands first and the notes last, so that neither is overlooked.
print.inb_answer <- function(x, ...) {
  if (attr(x, "practice")) {
    cat(PRACTICE, "\n", sep = "")
  }
  NextMethod()
  for (note in notes_of(x)) {
    writeLines(strwrap(note, width = getOption("width") - 1, initial = "# ", prefix = "#   "))
  }
  invisible(x)
}
