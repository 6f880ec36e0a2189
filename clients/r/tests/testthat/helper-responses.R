# Responses of a server that is not there, and the real one, where the environment names it.

SECRET <- paste0("inb_0123456789ab_", strrep("k", 43))

local_here <- function(patience = 60, key = SECRET) {
  here <- inb_connect("http://127.0.0.1:1", key, patience)
  here$memory$slept <- numeric()
  here$memory$sleep <- function(seconds) here$memory$slept <- c(here$memory$slept, seconds)
  here
}

respond <- function(status, body, ...) {
  headers <- list("Content-Type" = "application/json", ...)
  httr2::response(status_code = status, headers = headers, body = charToRaw(enc2utf8(body)))
}

problem <- function(status, code, detail = "in words", ..., more = "") {
  respond(status, sprintf('{"code": "%s", "detail": "%s"%s}', code, detail, more), ...)
}

# Runs code while requests are answered one after the other by what is given, the last one again and again; a function
# is called. Returns the requests.
answering <- function(code, ...) {
  responses <- list(...)
  sent <- list()
  old <- options(httr2_mock = function(request) {
    sent[[length(sent) + 1]] <<- request
    response <- responses[[min(length(sent), length(responses))]]
    if (is.function(response)) response() else response
  })
  on.exit(options(old))
  force(code)
  sent
}

COUNT <- "SELECT COUNT(*) FROM visits"
BY_CLINIC <- "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"

DESCRIBED <- '{"name": "visits", "tables": [{"name": "visits", "public": false, "unit": "patient",
  "max_rows_per_unit": 4, "description": "all visits", "columns": [
    {"name": "age", "bounds": "[0, 110] step 1", "keys": null, "type": "whole numbers"},
    {"name": "clinic", "bounds": null, "keys": ["north", "south"], "type": "categories"}]}],
  "examples": ["SELECT COUNT(*) FROM visits"], "tick": 1.0}'

# An answer as a server sends it; `...` replaces what is otherwise.
answer_text <- function(...) {
  data <- list(
    id = "one", dataset = "visits", question = COUNT, epsilon = "0.5",
    columns = list(list(name = "clinic", kind = "text", is_key = TRUE), list(name = "n", kind = "whole", is_key = FALSE)),
    rows = list(list("north", 12), list(NULL, 2147483648)),
    expected_noise = list(list(1.5), list(2)),
    intervals = list(list(list(10, 14)), list(NULL)),
    learnt = list(list(TRUE), list(TRUE)),
    confidence = 0.95, simultaneous = FALSE, caveat = NULL, row_limit = NULL, warnings = list(), remarks = list(),
    note = NULL, practice = FALSE, public = list(), parts = list()
  )
  data[names(list(...))] <- list(...)
  as.character(jsonlite::toJSON(data, auto_unbox = TRUE, null = "null", digits = NA))
}

refused <- function(code) tryCatch({
  code
  NULL
}, inbounds_error = identity)

real_server <- function(person = "ana", url = Sys.getenv("INBOUNDS_TEST_URL")) {
  skip_if(url == "", "no server: INBOUNDS_TEST_URL and INBOUNDS_TEST_KEY_ANA name one")
  inb_connect(url, Sys.getenv(paste0("INBOUNDS_TEST_KEY_", toupper(person))))
}
