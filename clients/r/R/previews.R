# Previews: what a question would cost and tell, for free.

inb_explain <- function(connection, dataset, sql, epsilon, simultaneous = FALSE, alone = FALSE, pooling = NULL,
                        weights = NULL) {
  check_connection(connection)
  body <- c(write_question(dataset, sql, alone, pooling, weights), epsilon = write_decimal(epsilon, "epsilon"))
  if (check_switch(simultaneous, "simultaneous")) {
    body$simultaneous <- TRUE
  }
  read_explanation(consult(connection, path_of("datasets", dataset, "explain"), body))
}

inb_epsilon_for <- function(connection, dataset, sql, error, rows = NULL, alone = FALSE, pooling = NULL,
                            weights = NULL) {
  check_connection(connection)
  body <- c(write_question(dataset, sql, alone, pooling, weights), error = write_error(error))
  if (!is.null(rows)) {
    body$rows <- write_decimal(rows, "rows")
  }
  found <- read_explanation(consult(connection, path_of("datasets", dataset, "explain"), body))
  structure(found$epsilon, words = found$wanted, class = "inb_epsilon")
}

# A wanted error is a number in the unit of the answer, or a percentage.
write_error <- function(error) {
  if (is_text(error) && grepl("%", error, fixed = TRUE)) trimws(error) else write_decimal(error, "error")
}

read_explanation <- function(data) {
  data$epsilon <- read_amount(data$epsilon)
  data$left_afterwards <- read_amount(data$left_afterwards)
  structure(data, class = "inb_explanation")
}

print.inb_explanation <- function(x, ...) {
  facts <- list(
    query = x$question,
    cost = paste0(epsilon_words(x$epsilon),
                  if (!isTRUE(x$fits)) ", which is more than is left",
                  if (!is.na(x$left_afterwards)) paste0("; leaves you ", write_decimal(x$left_afterwards, "left"))),
    `wanted error` = x$wanted,
    public = x$public,
    `earlier answers` = x$owned,
    `tells nothing` = x$useless
  )
  for (part in x$parts) {
    facts <- c(facts, setNames(list(part$expected_noise), paste("error of", part$measures)), list(
      mechanism = part$mechanism, `possible answers` = part$bounds))
  }
  facts <- c(facts, list(rows = x$row_limit, intervals = x$intervals, shown = x$shown),
             setNames(x$warnings, rep("warning", length(x$warnings))))
  print_facts(facts)
  invisible(x)
}

# Prints names and what is known of each, in lines that fit.
print_facts <- function(facts) {
  facts <- Filter(function(fact) length(fact) && nzchar(fact[[1]]), facts)
  for (at in seq_along(facts)) {
    lines <- strwrap(paste0(names(facts)[at], ": ", facts[[at]]), width = getOption("width") - 1, exdent = 2)
    writeLines(lines)
  }
}

print.inb_epsilon <- function(x, ...) {
  cat(epsilon_words(unclass(x)), "\n", sep = "")
  if (is_text(attr(x, "words"))) {
    writeLines(strwrap(attr(x, "words"), width = getOption("width") - 1))
  }
  invisible(x)
}
