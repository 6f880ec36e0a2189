# What is read from a real server: the clinic of the demonstration.

test_that("a query is charged once, and fetched by its id", {
  clinic <- real_server()
  spent <- function() inb_budget(clinic, "visits")$spent
  before <- spent()
  answer <- inb_ask(clinic, "visits", BY_CLINIC, 0.5, edition = "once")
  expect_equal(answer$clinic, c("north", "south", "east", "west"))
  expect_true(all(answer$mean_age >= 0 & answer$mean_age <= 110, na.rm = TRUE))
  expect_equal(spent() - before, c(0.5, 0.5))
  again <- inb_ask(clinic, "visits", BY_CLINIC, "0.50", edition = "once")
  expect_identical(again, answer)
  fetched <- inb_answer(clinic, attr(answer, "request_id"))
  expect_identical(as.data.frame(fetched), as.data.frame(answer))
  expect_equal(spent() - before, c(0.5, 0.5))
})

test_that("datasets and budgets are tibbles", {
  clinic <- real_server()
  expect_true("visits" %in% inb_datasets(clinic)$dataset)
  visits <- inb_describe(clinic, "visits")
  expect_equal(visits$type[match(c("age", "day", "clinic"), visits$column)], c("whole numbers", "dates", "categories"))
  expect_equal(visits$categories[[match("clinic", visits$column)]], c("north", "south", "east", "west"))
  expect_output(print(visits), "protects each patient, at most 4 rows each", fixed = TRUE)
  expect_equal(inb_budget(clinic, "visits")$account, c("own", "total"))
  expect_output(print(inb_budget(clinic, "visits")), "Privacy budget")
})

test_that("every example of a dataset can be previewed and practised, for free", {
  clinic <- real_server()
  before <- inb_budget(clinic, "visits")$spent
  for (sql in attr(inb_describe(clinic, "visits"), "examples")) {
    expect_equal(inb_explain(clinic, "visits", sql, 0.5)$epsilon, 0.5)
    expect_true(attr(inb_practise(clinic, "visits", sql, 0.5), "practice"))
  }
  expect_output(print(inb_explain(clinic, "visits", BY_CLINIC, 0.5)), "error of AVG(age)", fixed = TRUE)
  expect_equal(inb_budget(clinic, "visits")$spent, before)
})

test_that("an epsilon that was found has the error that was wanted, and can be asked with", {
  clinic <- real_server()
  found <- inb_epsilon_for(clinic, "visits", COUNT, 20)
  expect_output(print(found), "is the least for an error of 20", fixed = TRUE)
  expect_equal(attr(inb_ask(clinic, "visits", COUNT, found), "epsilon"), as.double(found))
  refused <- refused(inb_epsilon_for(clinic, "visits", "SELECT AVG(age) FROM visits", 2))
  expect_match(conditionMessage(refused), "rows")
  expect_lt(inb_epsilon_for(clinic, "visits", "SELECT AVG(age) FROM visits", 2, rows = 1e6), 0.1)
})

test_that("days are dates, also in intervals", {
  clinic <- real_server()
  answer <- inb_ask(clinic, "visits", "SELECT COUNT(day), QUANTILES(day, 0.4, 0.5, 0.6) FROM visits", 1)
  expect_s3_class(answer[["quantile_0.5_day"]], "Date")
  expect_s3_class(answer[["quantile_0.5_day_low"]], "Date")
})

test_that("public knowledge is free", {
  clinic <- real_server()
  answer <- inb_ask(clinic, "visits", "SELECT DISTINCT clinic FROM visits", 0.5)
  expect_equal(attr(answer, "epsilon"), 0)
  expect_equal(answer$clinic, c("north", "south", "east", "west"))
  expect_output(print(answer), "free: public knowledge", fixed = TRUE)
})

test_that("refusals are conditions with the words of the server, and cost nothing", {
  clinic <- real_server()
  before <- inb_budget(clinic, "visits")$spent
  wrong <- refused(inb_ask(clinic, "visits", "SELECT AVG(agee) FROM visits", 0.5))
  expect_s3_class(wrong, "inbounds_invalid_question")
  expect_match(conditionMessage(wrong), "did you mean age?", fixed = TRUE)
  dear <- refused(inb_ask(clinic, "visits", COUNT, 900))
  expect_s3_class(dear, "inbounds_budget_exceeded")
  expect_equal(dear$requested, 900)
  expect_equal(dear$left_analyst, inb_budget(clinic, "visits")$left[1])
  expect_s3_class(refused(inb_ask(clinic, "visits", COUNT, -1)), "inbounds_invalid_parameter")
  expect_s3_class(refused(inb_describe(clinic, "births")), "inbounds_not_found")
  expect_s3_class(refused(inb_answer(clinic, "never")), "inbounds_not_found")
  expect_s3_class(refused(inb_ask(real_server("carla"), "visits", COUNT, 1)), "inbounds_not_allowed")
  key <- paste0("inb_0123456789ab_", strrep("k", 43))
  stranger <- refused(inb_datasets(inb_connect(clinic$url, key)))
  expect_s3_class(stranger, "inbounds_not_authenticated")
  expect_false(grepl("kkkk", conditionMessage(stranger)))
  expect_equal(inb_budget(clinic, "visits")$spent, before)
})

test_that("verbose requests do not show the key", {
  clinic <- real_server()
  said <- utils::capture.output(httr2::with_verbosity(inb_ask(clinic, "visits", COUNT, 0.1), 3))
  said <- c(said, utils::capture.output(print(httr2::last_request()), type = "message"))
  expect_true(any(grepl("Authorization", said)))
  expect_false(any(grepl(Sys.getenv("INBOUNDS_TEST_KEY_ANA"), said, fixed = TRUE)))
})

test_that("a reused id is refused", {
  clinic <- real_server()
  inb_ask(clinic, "visits", COUNT, 0.1, id = "taken-by-r")
  expect_s3_class(refused(inb_ask(clinic, "visits", BY_CLINIC, 0.1, id = "taken-by-r")), "inbounds_request_reused")
})

test_that("intervals that were kept say so, when others are asked for", {
  clinic <- real_server()
  first <- inb_ask(clinic, "visits", COUNT, 0.2, edition = "intervals")
  again <- inb_ask(clinic, "visits", COUNT, 0.2, edition = "intervals", confidence = 0.8)
  expect_identical(unlist(first), unlist(again))
  expect_match(attr(again, "remarks"), "The intervals were kept with the answer")
})

test_that("a published report is read", {
  skip_if(Sys.getenv("INBOUNDS_TEST_REPORT") == "", "no report was published")
  reader <- real_server("rita")
  reports <- inb_reports(reader)
  expect_equal(reports$state[reports$id == Sys.getenv("INBOUNDS_TEST_REPORT")], "published")
  report <- inb_report(reader, Sys.getenv("INBOUNDS_TEST_REPORT"))
  expect_s3_class(report$tables$by_clinic, "inb_answer")
  expect_equal(report$tables$by_clinic$clinic, c("north", "south", "east", "west"))
  expect_output(print(report), "free to read", fixed = TRUE)
  expect_equal(report$digest, reports$digest[reports$id == Sys.getenv("INBOUNDS_TEST_REPORT")])
})
