# What a server refuses, as conditions: their class is made of the code, their message is the server's words.

# After these a question may have been charged, and whoever asks again needs its request id.
MAY_BE_PAID <- c("request-running", "ledger-unavailable", "no-table", "unknown")

# Stops with a refusal of our own: nothing was sent.
refuse <- function(message, code = "invalid-parameter", ...) {
  stop(refusal(message, code, status = NULL, request_id = NULL, ...))
}

# Returns a condition. It has no call: the words of one could hold a key.
refusal <- function(message, code, status, request_id, ..., family = "inbounds_refused") {
  class <- c(paste0("inbounds_", gsub("[^a-z]", "_", tolower(code))), family, "inbounds_error")
  errorCondition(message, class = unique(class), call = NULL, code = code, status = status, request_id = request_id, ...)
}

unreachable <- function(failure, request_id) {
  remedy <- if (failure$nobody || failure$stranger) {
    "check the address"
  } else if (is.null(request_id)) {
    "try again"
  } else {
    paste0("the query may have been charged. Send it again as it is, or with id = \"", request_id,
           "\": that costs nothing more")
  }
  words <- paste0("no response from the server (", failure$words, "); ", remedy)
  refusal(words, "unreachable", NULL, request_id, family = NULL)
}

# Reads a response of a server: its content, or the condition that it is refused with. A page of somebody else, such as
# a proxy, is refused whatever its status.
read_response <- function(status, body, request_id) {
  content <- tryCatch(read_json(body), error = function(e) NULL)
  if (status >= 200 && status < 300 && !is.null(content)) {
    return(content)
  }
  code <- content$code
  detail <- content$detail
  if (!is_text(code) || !is_text(detail)) {
    code <- "unknown"
    detail <- "the response is not from an inbounds server; check the address"
  }
  if (!is.null(request_id) && code %in% MAY_BE_PAID) {
    detail <- paste0(detail, " (the request id is \"", request_id, "\")")
  }
  amounts <- if (code == "budget-exceeded") lapply(content[c("requested", "left_total", "left_analyst")], read_amount)
  do.call(refusal, c(list(detail, code, status, request_id), amounts))
}

# Whole numbers that a double does not hold stay as texts until a column decides what they are.
read_json <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE, bigint_as_char = TRUE)

write_json <- function(body) as.character(jsonlite::toJSON(body, auto_unbox = TRUE))
