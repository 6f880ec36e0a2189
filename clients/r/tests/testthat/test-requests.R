test_that("what is busy is tried again under the same id, no sooner than it says", {
  here <- local_here()
  sent <- answering(
    answer <- inb_ask(here, "visits", COUNT, 0.5, id = "one"),
    problem(409, "request-running", "Retry-After" = "1"), problem(429, "too-many", "Retry-After" = "10"),
    problem(503, "ledger-unavailable"), respond(200, answer_text())
  )
  expect_equal(nrow(answer), 2)
  expect_equal(unique(lapply(sent, function(request) request$headers$`Idempotency-Key`)), list("one"))
  expect_equal(here$memory$slept, c(1, 10, 0.8))
})

test_that("what would wait beyond its patience is given up at once", {
  here <- local_here(patience = 5)
  sent <- answering(error <- refused(inb_datasets(here)), problem(429, "too-many", "Retry-After" = "10"))
  expect_length(sent, 1)
  expect_s3_class(error, "inbounds_too_many")
  expect_equal(here$memory$slept, numeric())
})

test_that("what is refused for good is not tried again", {
  for (code in c("invalid-question", "budget-exceeded", "request-reused", "answer-failed", "statement-failed", "failed")) {
    here <- local_here()
    sent <- answering(error <- refused(inb_ask(here, "visits", COUNT, 0.5, id = "one")), problem(400, code))
    expect_length(sent, 1)
    expect_s3_class(error, c(paste0("inbounds_", gsub("-", "_", code)), "inbounds_refused", "inbounds_error"))
    expect_equal(conditionMessage(error), "in words")
    expect_equal(list(error$code, error$status, error$request_id), list(code, 400L, "one"))
  }
})

test_that("a refused budget says how much is left", {
  more <- ', "requested": "1", "left_total": "1/3", "left_analyst": null'
  answering(error <- refused(inb_ask(local_here(), "visits", COUNT, 1, id = "one")),
            problem(402, "budget-exceeded", more = more))
  expect_equal(error[c("requested", "left_total", "left_analyst")], list(requested = 1, left_total = 1 / 3, left_analyst = NA_real_))
})

test_that("a lost connection is tried again where somebody was, and told with its id", {
  here <- local_here()
  lost <- function() stop("Empty reply from server")
  sent <- answering(inb_ask(here, "visits", COUNT, 0.5, id = "one"), lost, lost, respond(200, answer_text()))
  expect_length(sent, 3)
  error <- NULL
  answering(error <- refused(inb_ask(local_here(patience = 0), "visits", COUNT, 0.5, id = "one")), lost)
  expect_s3_class(error, c("inbounds_unreachable", "inbounds_error"))
  expect_match(conditionMessage(error), 'id = "one"', fixed = TRUE)
  expect_equal(error$request_id, "one")
})

test_that("an interrupt is no lost connection", {
  for (said in c("Operation was aborted by an application callback", "Callback aborted")) {
    outcome <- NULL
    sent <- answering(
      outcome <- tryCatch(inb_ask(local_here(), "visits", COUNT, 0.5, id = "one"), interrupt = function(i) "interrupted"),
      function() stop(said)
    )
    expect_length(sent, 1)
    expect_equal(outcome, "interrupted")
  }
})

test_that("nobody there, and a stranger, are told at once", {
  for (said in c("Failed to connect to 127.0.0.1 port 1", "Could not resolve host: x", "SSL certificate problem")) {
    here <- local_here()
    sent <- answering(error <- refused(inb_datasets(here)), function() stop(said))
    expect_length(sent, 1)
    expect_s3_class(error, "inbounds_unreachable")
  }
  here <- local_here()
  here$memory$reached <- TRUE
  expect_length(answering(inb_datasets(here), function() stop("Failed to connect"), respond(200, "[]")), 2)
})

test_that("a page of somebody else is no answer", {
  for (response in list(respond(200, "<html>Sign in</html>"), respond(302, ""), respond(502, "<html>"), respond(500, "[]"),
                        respond(404, "{}"), respond(200, ""))) {
    answering(error <- refused(inb_datasets(local_here())), response)
    expect_s3_class(error, c("inbounds_unknown", "inbounds_refused"))
    expect_match(conditionMessage(error), "not from an inbounds server")
  }
})

test_that("the same question has the same id, and another one another", {
  id <- function(sql = COUNT, epsilon = 0.5, ..., described = DESCRIBED) {
    sent <- answering(inb_ask(local_here(), "visits", sql, epsilon, ...), respond(200, described), respond(200, answer_text()))
    sent[[2]]$headers$`Idempotency-Key`
  }
  expect_match(id(), "^r-[0-9a-f]{32}$")
  words <- gsub("all visits", "every visit", gsub('"tick": 1.0', '"tick": 2.5', DESCRIBED))
  same <- c(id(), id(epsilon = "5e-1"), id(sql = paste0(" ", COUNT, "\n")), id(confidence = 0.9), id(simultaneous = TRUE),
            id(force = TRUE), id(described = words))
  expect_length(unique(same), 1)
  others <- c(id(), id(epsilon = 0.4), id(sql = BY_CLINIC), id(edition = "2026"), id(edition = 2027), id(alone = TRUE),
              id(pooling = 1), id(weights = c(1, 2)), id(described = gsub("110", "120", DESCRIBED)))
  expect_equal(anyDuplicated(others), 0)
})

test_that("a question is sent with decimals as texts, and says no more than was chosen", {
  body <- function(...) {
    sent <- answering(inb_ask(local_here(), "visits", ..., id = "one"), respond(200, answer_text()))
    rawToChar(sent[[1]]$body$data)
  }
  expect_equal(body("SELECT 'z\u00fcrich'", 1e-7), enc2utf8('{"sql":"SELECT \'z\u00fcrich\'","epsilon":"0.0000001","confidence":"0.95"}'))
  expect_equal(body(COUNT, 1, weights = 2, force = TRUE),
               '{"sql":"SELECT COUNT(*) FROM visits","weights":["2"],"epsilon":"1","confidence":"0.95","force":true}')
})

test_that("a name cannot lead to another address", {
  urls <- vapply(answering({
    refused(inb_describe(local_here(), "../keys"))
    refused(inb_describe(local_here(), "a b%2F?x#\u00e9"))
  }, problem(404, "not-found")), function(request) request$url, "")
  expect_equal(urls, c("http://127.0.0.1:1/v1/datasets/..%2Fkeys", "http://127.0.0.1:1/v1/datasets/a%20b%252F%3Fx%23%C3%A9"))
})

test_that("the key is shown nowhere", {
  here <- inb_connect("http://127.0.0.1:1", SECRET, patience = 0)
  errors <- list()
  answering(errors[[1]] <- refused(inb_datasets(here)), problem(401, "not-authenticated"))
  answering(errors[[2]] <- refused(inb_datasets(here)), function() stop(SECRET))
  answering(errors[[3]] <- refused(inb_datasets(here)), respond(500, SECRET))
  file <- tempfile()
  on.exit(unlink(file))
  save(here, errors, file = file, ascii = TRUE, compress = FALSE)
  shown <- c(utils::capture.output(print(here), str(here), str(unclass(here)), dput(unclass(here)), print(errors), str(errors)),
             unlist(lapply(errors, conditionMessage)), format(here), readLines(file, warn = FALSE))
  expect_false(any(grepl("kkkk", shown, fixed = TRUE)))
})

test_that("a connection from another session asks for a new one", {
  here <- local_here()
  here$name <- paste(here$url, "another session 1")
  expect_error(inb_datasets(here), "call inb_connect() again", fixed = TRUE, class = "inbounds_invalid_parameter")
})
