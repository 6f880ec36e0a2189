test_that("cells have the types of R", {
  expect_identical(read_cells(list("a", NULL), "text"), c("a", NA))
  expect_identical(read_cells(list(TRUE, NULL, FALSE), "boolean"), c(TRUE, NA, FALSE))
  expect_identical(read_cells(list(1L, NULL), "whole"), c(1L, NA))
  expect_identical(read_cells(list(1L, 2147483648, -2147483649), "whole"), c(1, 2147483648, -2147483649))
  expect_identical(read_cells(list(2147483647L), "whole"), 2147483647L)
  expect_identical(read_cells(list(1L, 2.5), "number"), c(1, 2.5))
  expect_identical(read_cells(list(NULL, NULL), "number"), c(NA_real_, NA_real_))
  expect_identical(read_cells(list(), "text"), character())
  expect_identical(read_cells(list("2026-03-01", NULL), "date"), as.Date(c("2026-03-01", NA)))
})

test_that("a time is what the clock shows, whatever the zone of the session", {
  old <- Sys.getenv("TZ", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("TZ") else Sys.setenv(TZ = old))
  for (zone in c("America/New_York", "Europe/Zurich", "UTC")) {
    Sys.setenv(TZ = zone)
    # An hour that Europe leaves out in spring, one that it has twice in autumn, and microseconds.
    times <- read_cells(list("2026-03-29T02:30:00", "2026-10-25T02:30:00", NULL, "1999-12-31T23:59:59.250000"), "datetime")
    expect_equal(attr(times, "tzone"), "UTC")
    expect_equal(format(times), c("2026-03-29 02:30:00", "2026-10-25 02:30:00", NA, "1999-12-31 23:59:59"))
    expect_equal(as.double(times[4]) %% 1, 0.25)
    expect_identical(read_cells(list("2026-03-29"), "date"), as.Date("2026-03-29"))
  }
})

test_that("a time of day is a difftime in seconds", {
  times <- read_cells(list("14:30:00", NULL, "00:00:00.500000"), "time")
  expect_s3_class(times, c("hms", "difftime"), exact = TRUE)
  expect_equal(as.double(times, units = "hours"), c(14.5, NA, 0.5 / 3600))
})

test_that("whole numbers that a double does not hold are known", {
  cells <- read_json("[1, 9007199254740993, 12345678901234567890]")
  expect_equal(read_cells(cells, "whole"), c(1, 2^53, 12345678901234567890))
  expect_true(is_rounded(cells, "whole"))
  expect_false(is_rounded(read_json("[1, 9007199254740991]"), "whole"))
})
