# Questions: what is sent for them, and the request id under which each is paid once.

inb_ask <- function(connection, dataset, sql, epsilon, id = NULL, edition = NULL, confidence = 0.95,
                    simultaneous = FALSE, alone = FALSE, pooling = NULL, weights = NULL, force = FALSE) {
  check_connection(connection)
  asked <- c(write_question(dataset, sql, alone, pooling, weights), epsilon = write_decimal(epsilon, "epsilon"))
  body <- c(asked, write_intervals(confidence, simultaneous), if (check_switch(force, "force")) list(force = TRUE))
  id <- if (is.null(id)) make_id(connection, dataset, asked, edition) else check_id(id, edition)
  read_answer(post_once(connection, path_of("datasets", dataset, "answers"), body, id))
}

inb_practise <- function(connection, dataset, sql, epsilon, confidence = 0.95, simultaneous = FALSE, alone = FALSE,
                         pooling = NULL, weights = NULL) {
  check_connection(connection)
  asked <- c(write_question(dataset, sql, alone, pooling, weights), epsilon = write_decimal(epsilon, "epsilon"))
  body <- c(asked, write_intervals(confidence, simultaneous), practise = TRUE)
  id <- paste0("practise-", digest(asked))
  read_answer(post_once(connection, path_of("datasets", dataset, "answers"), body, id))
}

inb_answer <- function(connection, id) {
  check_connection(connection)
  read_answer(get_json(connection, path_of("answers", check_id(id))))
}

# Returns a question as it is sent, without its cost: an older server is told nothing of what was not chosen.
write_question <- function(dataset, sql, alone, pooling, weights) {
  check_text(dataset, "dataset", "\"visits\"; inb_datasets() lists them")
  body <- list(sql = trimws(check_text(sql, "sql", "\"SELECT COUNT(*) FROM visits\"")))
  if (check_switch(alone, "alone")) {
    body$alone <- TRUE
  }
  if (!is.null(pooling)) {
    body$pooling <- write_decimal(pooling, "pooling")
  }
  if (!is.null(weights)) {
    body$weights <- lapply(weights, write_decimal, name = "weights")
  }
  body
}

write_intervals <- function(confidence, simultaneous) {
  body <- list(confidence = write_decimal(confidence, "confidence"))
  if (check_switch(simultaneous, "simultaneous")) {
    body$simultaneous <- TRUE
  }
  body
}

# Returns the request id of a question: the same for the same question, of the same data as the contract describes them,
# at the same epsilon. To ask and pay again, for example when there are new rows, name an edition.
make_id <- function(connection, dataset, asked, edition) {
  edition <- if (is.null(edition)) "" else check_text(as.character(edition), "edition", "\"2026-06\"")
  described <- get_json(connection, path_of("datasets", dataset))
  paste0("r-", digest(list(dataset, public_facts(described), asked, edition)))
}

# Returns what a contract says of a dataset; words that describe it, and examples, are no part of a question.
public_facts <- function(described) {
  facts <- c("name", "bounds", "keys", "type", "made_of", "timezone", "duration")
  lapply(described$tables, function(table) {
    list(table[c("name", "public", "unit", "key", "max_rows_per_unit")], lapply(table$columns, `[`, facts))
  })
}

digest <- function(content) substr(as.character(openssl::sha256(enc2utf8(write_json(content)))), 1, 32)

check_id <- function(id, edition = NULL) {
  if (!is.null(edition)) {
    refuse("an edition is part of a request id that is made for you; give id or edition, and not both")
  }
  if (!is_text(id) || !grepl("^[A-Za-z0-9._~-]{1,80}$", id) || id %in% c(".", "..")) {
    refuse("a request id has 1 to 80 of the letters A to Z and a to z, the digits 0 to 9, and - . _ ~; choose another one")
  }
  id
}
