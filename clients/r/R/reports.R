# Published reports: paid for once, and free to read for everybody with a role.

inb_reports <- function(connection) {
  check_connection(connection)
  found <- get_json(connection, path_of("reports"))
  pick <- function(name) texts(found, function(one) one[[name]])
  tibble::tibble(
    id = pick("id"),
    name = pick("name"),
    title = pick("title"),
    edition = pick("edition"),
    state = pick("state"),
    dataset = pick("dataset"),
    analyst = pick("analyst"),
    epsilon = vapply(found, function(one) read_amount(one$epsilon), 0),
    proposed = pick("proposed"),
    digest = pick("digest")
  )
}

inb_report <- function(connection, id) {
  check_connection(connection)
  check_text(id, "id", "one of inb_reports()$id")
  found <- get_json(connection, path_of("reports", id))
  tables <- lapply(found$tables, function(table) {
    read_answer(c(table$answer, list(dataset = found$dataset, question = table$sql)))
  })
  names(tables) <- texts(found$tables, function(table) table$name)
  titles <- texts(found$tables, function(table) table$title)
  facts <- found[setdiff(names(found), "tables")]
  facts$epsilon <- read_amount(facts$epsilon)
  structure(c(facts, list(titles = titles, tables = tables)), class = "inb_report")
}

print.inb_report <- function(x, ...) {
  if (isTRUE(x$practice)) {
    cat(PRACTICE, "\n", sep = "")
  }
  print_facts(list(
    report = x$title,
    edition = x$edition,
    published = x$published,
    cost = paste0(epsilon_words(x$epsilon), " in all; free to read"),
    protects = if (identical(x$unit, "row")) "each row" else paste("each", x$unit),
    digest = x$digest
  ))
  for (at in seq_along(x$tables)) {
    cat("\n", x$titles[at], " ($tables$", names(x$tables)[at], ")\n", sep = "")
    print(x$tables[[at]])
  }
  invisible(x)
}
