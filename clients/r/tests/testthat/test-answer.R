read <- function(...) read_answer(read_json(answer_text(...)))

printed <- function(answer) paste(utils::capture.output(print(answer)), collapse = "\n")

test_that("each measure stands before its interval and its noise", {
  answer <- read()
  expect_s3_class(answer, c("inb_answer", "tbl_df"))
  expect_identical(as.list(answer)[1:5], list(
    clinic = c("north", NA), n = c(12, 2147483648), n_low = c(10L, NA), n_high = c(14L, NA), n_noise = c(1.5, 2)))
  expect_equal(attr(answer, "epsilon"), 0.5)
  expect_equal(attr(answer, "request_id"), "one")
  expect_false(attr(answer, "practice"))
})

test_that("an answer says what it cost and what its intervals leave out", {
  text <- printed(read(caveat = "Noise only: and so on.", row_limit = "at most 4 rows", warnings = list("age never exceeds")))
  for (part in c("0.5, charged once", "one", "95 % intervals from _low to _high. Noise only: and so on.",
                 "at most 4 rows", "age never exceeds")) {
    expect_match(text, part, fixed = TRUE)
  }
  expect_match(printed(read(epsilon = "0")), "free: public knowledge", fixed = TRUE)
  expect_match(printed(read(simultaneous = TRUE)), "95 % simultaneous intervals", fixed = TRUE)
  expect_no_match(printed(read(intervals = list(list(NULL), list(NULL)))), "intervals")
})

test_that("practice data cannot be overlooked, also in a part of the answer", {
  answer <- read(practice = TRUE)
  expect_equal(answer$practice, rep(PRACTICE, 2))
  for (part in list(answer, answer["n"], answer[1, ], utils::head(answer, 1))) {
    expect_match(printed(part), paste0("^", PRACTICE))
    expect_match(printed(part), "free, on practice data", fixed = TRUE)
  }
  expect_true(all(as.data.frame(answer)$practice == PRACTICE))
})

test_that("where nothing was learnt there is no number", {
  answer <- read(learnt = list(list(FALSE), list(TRUE)), intervals = list(list(list(0, 110)), list(list(1, 2))))
  expect_identical(answer$n, c(NA, 2147483648))
  expect_identical(answer$n_noise, c(NA, 2))
  expect_identical(answer$n_low, c(0L, 1L))
  expect_identical(answer$n_nothing_learnt, c(TRUE, FALSE))
  expect_match(printed(answer), "too few rows for", fixed = TRUE)
})

test_that("no column has the name of another", {
  answer <- read(columns = list(list(name = "n_low", kind = "text", is_key = TRUE), list(name = "n", kind = "whole", is_key = FALSE)))
  expect_named(answer, c("n_low", "n", "n_low_", "n_high", "n_noise"))
})

test_that("an answer without rows keeps its columns", {
  answer <- read(rows = list(), expected_noise = list(), intervals = list(), learnt = list())
  expect_equal(dim(answer), c(0, 5))
  expect_match(printed(answer), "0 x 5", fixed = TRUE)
})

test_that("what an older server leaves out is not missed", {
  answer <- read(learnt = NULL, remarks = NULL, simultaneous = NULL, practice = NULL, public = NULL, intervals = list())
  expect_identical(answer$n, c(12, 2147483648))
  expect_true(all(is.na(answer$n_low)))
  expect_false(attr(answer, "practice"))
})

test_that("rounded whole numbers are told", {
  answer <- read(rows = list(list("north", 2^60), list("south", 1)))
  expect_match(printed(answer), "beyond 2^53 are rounded", fixed = TRUE)
})
