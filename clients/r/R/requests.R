# Requests: the key goes with each, what can be tried again is, and nothing is paid twice.

# What is worth asking again, by status and code: nothing of it was charged, or it is charged once only.
AGAIN <- list(
  "409" = "request-running",
  "429" = c("too-many", "too-many-statements"),
  "503" = c("ledger-unavailable", "server-unavailable")
)

FIRST_PAUSE <- 0.2
LONGEST_PAUSE <- 5

get_json <- function(connection, path) send(connection, "GET", path)

# Sends a POST that changes nothing, and so may be repeated.
consult <- function(connection, path, body) send(connection, "POST", path, body)

# Sends a question under its request id; the server charges for it once, however often it is sent.
post_once <- function(connection, path, body, request_id) send(connection, "POST", path, body, request_id)

send <- function(connection, method, path, body = NULL, request_id = NULL) {
  request <- build_request(connection, method, path, body, request_id)
  until <- Sys.time() + connection$patience
  pause <- FIRST_PAUSE
  repeat {
    outcome <- perform(request, connection, request_id)
    if (!inherits(outcome$content, "condition")) {
      return(outcome$content)
    }
    wait <- max(pause, outcome$wait)
    if (!outcome$again || Sys.time() + wait > until) {
      stop(outcome$content)
    }
    connection$memory$sleep(wait)
    pause <- min(LONGEST_PAUSE, 2 * pause)
  }
}

# Redirects are not followed, since the key is for one address, and no proxy stands before this machine.
build_request <- function(connection, method, path, body, request_id) {
  request <- httr2::request(paste0(connection$url, path))
  request <- httr2::req_method(request, method)
  request <- httr2::req_user_agent(request, "inbounds-r")
  request <- httr2::req_headers(request, Accept = "application/json", `Idempotency-Key` = request_id)
  request <- httr2::req_auth_bearer_token(request, key_of(connection))
  request <- httr2::req_timeout(request, 120)
  request <- httr2::req_options(request, connecttimeout = 5, followlocation = 0L, path_as_is = 1L)
  if (startsWith(connection$url, "http:")) {
    request <- httr2::req_options(request, proxy = "", noproxy = "*")
  }
  if (!is.null(body)) {
    request <- httr2::req_body_raw(request, charToRaw(enc2utf8(write_json(body))), "application/json")
  }
  httr2::req_error(send_once(request), is_error = function(response) FALSE)
}

# What is tried again, and when, is decided in send(). httr2 would wait after some refusals, before it tells of them.
send_once <- function(request) {
  never <- function(response) FALSE
  at_once <- function(tries) 0
  tryCatch(httr2::req_retry(request, max_tries = 1, is_transient = never, backoff = at_once), error = function(e) request)
}

# Sends a request once. Returns its content or its condition, whether trying again is of use, and how long to wait.
perform <- function(request, connection, request_id) {
  response <- tryCatch(httr2::req_perform(request), error = identity)
  if (inherits(response, "error")) {
    failure <- why_failed(response)
    if (failure$interrupted) {
      interrupt()
    }
    again <- !failure$stranger && (connection$memory$reached || !failure$nobody)
    return(list(content = unreachable(failure, request_id), again = again, wait = 0))
  }
  connection$memory$reached <- TRUE
  status <- httr2::resp_status(response)
  content <- read_response(status, body_text(response), request_id)
  again <- inherits(content, "condition") && content$code %in% AGAIN[[as.character(status)]]
  list(content = content, again = again, wait = asked_to_wait(response))
}

# Tells what became of a connection. What libcurl says is not repeated: the address in it may hold what was asked.
why_failed <- function(error) {
  said <- paste(conditionMessage(error), if (inherits(error$parent, "condition")) conditionMessage(error$parent))
  interrupted <- grepl("aborted by an application callback|Callback aborted", said)
  stranger <- grepl("certificate|SSL|TLS", said)
  nobody <- grepl("resolve host|Failed to connect|Connection refused|Couldn't connect", said)
  words <- if (stranger) "its certificate is not trusted" else if (nobody) "nobody listens there" else
    if (grepl("[Tt]imeout|timed out", said)) "it took too long" else "the connection was lost"
  list(stranger = stranger, nobody = nobody, interrupted = interrupted, words = words)
}

# libcurl makes an error of Ctrl-C. It is an interrupt again here: it must not be taken for a lost connection.
interrupt <- function() {
  signalCondition(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
  invokeRestart("abort")
}

body_text <- function(response) {
  tryCatch(httr2::resp_body_string(response, "UTF-8"), error = function(e) "")
}

asked_to_wait <- function(response) {
  text <- httr2::resp_header(response, "Retry-After")
  seconds <- if (is_text(text)) suppressWarnings(as.double(text)) else 0
  if (is.na(seconds)) 0 else seconds
}

# Returns a path whose parts are names, whatever is in them.
path_of <- function(...) {
  parts <- vapply(c(...), function(part) escape(part), "", USE.NAMES = FALSE)
  paste0("/v1/", paste(parts, collapse = "/"))
}

escape <- function(text) utils::URLencode(enc2utf8(text), reserved = TRUE, repeated = TRUE)
