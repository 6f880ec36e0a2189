# Datasets: which there are, what is in them, and what is left to spend.

inb_datasets <- function(connection) {
  check_connection(connection)
  found <- get_json(connection, path_of("datasets"))
  private <- function(dataset) Filter(function(table) !isTRUE(table$public), dataset$tables)
  tibble::tibble(
    dataset = texts(found, function(one) one$name),
    protects = texts(found, function(one) paste(unique(texts(private(one), function(table) table$unit)), collapse = ", ")),
    tables = texts(found, function(one) paste(texts(one$tables, function(table) table$name), collapse = ", ")),
    example = texts(found, function(one) if (length(one$examples)) one$examples[[1]])
  )
}

inb_describe <- function(connection, dataset) {
  check_connection(connection)
  check_text(dataset, "dataset", "\"visits\"; inb_datasets() lists them")
  found <- get_json(connection, path_of("datasets", dataset))
  columns <- unlist(lapply(found$tables, function(table) {
    lapply(table$columns, function(column) c(list(table = table$name), column))
  }), recursive = FALSE)
  tibble::new_tibble(
    list(
      table = texts(columns, function(one) one$table),
      column = texts(columns, function(one) one$name),
      type = texts(columns, function(one) one$type),
      values = texts(columns, describe_values),
      categories = lapply(columns, function(one) unlist(one$keys)),
      made_of = texts(columns, function(one) one$made_of),
      timezone = texts(columns, function(one) one$timezone),
      duration = texts(columns, function(one) one$duration),
      description = texts(columns, function(one) one$description)
    ),
    nrow = length(columns),
    class = "inb_description",
    dataset = found$name,
    tables = describe_tables(found$tables),
    examples = texts(found$examples, identity),
    tick = as.double(found$tick)
  )
}

describe_values <- function(column) {
  if (is.null(column$keys)) {
    return(column$bounds)
  }
  keys <- vapply(column$keys, as.character, "")
  if (length(keys) > 8) paste0(paste(keys[1:8], collapse = ", "), ", and ", length(keys) - 8, " more") else
    paste(keys, collapse = ", ")
}

describe_tables <- function(tables) {
  tibble::tibble(
    table = texts(tables, function(one) one$name),
    public = vapply(tables, function(one) isTRUE(one$public), NA),
    unit = texts(tables, function(one) one$unit),
    max_rows_per_unit = vapply(tables, function(one) as.integer(c(one$max_rows_per_unit, NA)[1]), 0L),
    key = texts(tables, function(one) one$key),
    description = texts(tables, function(one) one$description)
  )
}

# Returns a text of each, NA where there is none.
texts <- function(list, pick) {
  vapply(list, function(one) as.character(c(pick(one), NA)[[1]]), "", USE.NAMES = FALSE)
}

# Columns without a word in them are left out of what is shown, so that the others have room.
print.inb_description <- function(x, ...) {
  tables <- attr(x, "tables")
  whose <- ifelse(tables$unit == "row", "each row is protected",
                  sprintf("protects each %s, at most %s rows each", tables$unit, tables$max_rows_per_unit))
  writeLines(c(paste("# Dataset", attr(x, "dataset")),
               paste0("# Table ", tables$table, ": ", ifelse(tables$public, "public", whose))))
  shown <- vapply(x, function(column) is.character(column) && any(!is.na(column)), NA)
  print(tibble::as_tibble(as.list(x)[shown]), ...)
  examples <- attr(x, "examples")
  if (length(examples)) {
    writeLines(c("# For example:", paste0("#   ", examples)))
  }
  invisible(x)
}

inb_budget <- function(connection, dataset, analyst = NULL) {
  check_connection(connection)
  check_text(dataset, "dataset", "\"visits\"; inb_datasets() lists them")
  path <- path_of("datasets", dataset, "budget")
  if (!is.null(analyst)) {
    path <- paste0(path, "?analyst=", escape(check_text(analyst, "analyst", "\"ana\"")))
  }
  found <- get_json(connection, path)
  accounts <- Filter(Negate(is.null), list(own = found$own, total = found$total))
  amounts <- function(name) vapply(accounts, function(account) read_amount(account[[name]]), 0, USE.NAMES = FALSE)
  columns <- c("cap", "spent", "left", "rho_cap", "rho_spent", "rho_left")
  table <- tibble::as_tibble(c(list(account = names(accounts)), setNames(lapply(columns, amounts), columns)))
  if (all(is.na(table$rho_cap))) { # a budget in epsilon alone
    table <- table[c("account", "cap", "spent", "left")]
  }
  more <- found$more_like_the_last
  tibble::new_tibble(
    as.list(table),
    nrow = nrow(table),
    class = "inb_budget",
    dataset = found$dataset,
    analyst = found$analyst,
    asked = found$asked,
    more_like_the_last = if (!is.null(more)) list(count = more$count, epsilon = read_amount(more$epsilon))
  )
}

tbl_sum.inb_budget <- function(x, ...) {
  more <- attr(x, "more_like_the_last")
  c("Privacy budget" = paste0(attr(x, "dataset"), ", in ", EPSILON),
    "Queries charged" = as.character(attr(x, "asked")),
    if (!is.null(more)) {
      c("Left" = paste0(more$count, " more like the last, at ", epsilon_words(more$epsilon)))
    })
}
