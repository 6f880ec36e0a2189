test_that("a decimal is written in one way, however it was given", {
  same <- list(0.5, "0.5", "0.50", " .5", "5e-1", "+0.5", "0.05E1")
  expect_equal(unique(vapply(same, write_decimal, "", "epsilon")), "0.5")
  written <- vapply(list(0.1, 1e-7, 2, 1e5, 2147483648, 1e22, -0.25, 0, "1e-50"), write_decimal, "", "epsilon")
  expect_equal(written, c("0.1", "0.0000001", "2", "100000", "2147483648", "1e22", "-0.25", "0", "1e-50"))
  expect_equal(as.double(write_decimal(1 / 3, "epsilon")), 1 / 3)
})

test_that("what is no decimal is refused by name", {
  for (given in list("", ".", "e5", "1,5", "abc", NA, Inf, "1e99999", TRUE, c(1, 2), NULL, "0x10", "1_0", "\u0661")) {
    expect_error(write_decimal(given, "epsilon"), "epsilon must be a finite decimal", class = "inbounds_invalid_parameter")
  }
})

test_that("an amount is read, also one that does not end as a decimal", {
  expect_equal(read_amount("1/3"), 1 / 3)
  expect_equal(read_amount("0.25"), 0.25)
  expect_true(is.na(read_amount(NULL)))
})

test_that("only this machine is asked in the clear", {
  for (url in c("http://inbounds.hospital.example", "http://10.0.0.7:8750", "http://localhost.evil.example",
                "http://127.0.0.1.evil.example", "http://0.0.0.0:1", "http://127.1", "http://127.0.0.256",
                "http://2130706433")) {
    expect_error(inb_connect(url, SECRET), "must not be sent unencrypted", class = "inbounds_invalid_parameter")
  }
  for (url in c("http://127.0.0.1:1", "http://127.3.2.1", "http://localhost:1/", "http://[::1]:1", "https://a.example/x/")) {
    expect_s3_class(inb_connect(url, SECRET), "inb_connection")
  }
})

test_that("an address is an address, and what was given is not repeated", {
  for (url in list("", "hospital.example", "ftp://hospital.example", "https://", NULL, NA, 3, c("https://a", "https://b"),
                   "https://ana:pw@hospital.example", "https://hospital.example?key=1", "https://hospital.example#x",
                   "http://127.0.0.1\\@evil.example", "https://a.example/ b", "https://a.example/\nX: pw")) {
    error <- refused(inb_connect(url, SECRET))
    expect_match(conditionMessage(error), "a server address must be a URL")
    expect_no_match(conditionMessage(error), "pw")
  }
})

test_that("a key is one line, and found in the environment", {
  for (key in list("", "  ", "a\nb", "schl\u00fcssel", "a\r\nX-Remote-User: carla", NA, NULL, 3, c("a", "b"))) {
    error <- refused(inb_connect("https://hospital.example", key))
    expect_match(conditionMessage(error), "give one as key, or set INBOUNDS_KEY")
  }
  old <- Sys.getenv("INBOUNDS_KEY", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("INBOUNDS_KEY") else Sys.setenv(INBOUNDS_KEY = old))
  Sys.setenv(INBOUNDS_KEY = paste0(SECRET, "\n"))
  expect_equal(key_of(inb_connect("https://hospital.example")), SECRET)
  Sys.unsetenv("INBOUNDS_KEY")
  expect_error(inb_connect("https://hospital.example"), class = "inbounds_invalid_parameter")
})

test_that("a request id is what a server takes", {
  expect_equal(check_id("ages-1_~.x"), "ages-1_~.x")
  for (id in list("", ".", "..", "a/b", "a b", strrep("a", 81), NA, 3, c("a", "b"), "\u00e9")) {
    expect_error(check_id(id), "1 to 80 of the letters", class = "inbounds_invalid_parameter")
  }
  expect_error(check_id("one", "2026"), "give id or edition, and not both")
})

test_that("what is no connection, query or switch is refused before anything is sent", {
  here <- local_here()
  sent <- answering({
    expect_error(inb_ask("visits", COUNT, 0.5, 1), "make one with inb_connect()", fixed = TRUE)
    expect_error(inb_ask(here, "visits", "", 0.5), "sql must be a text")
    expect_error(inb_ask(here, NULL, COUNT, 0.5), "dataset must be a text")
    expect_error(inb_ask(here, "visits", COUNT, 0.5, alone = NA), "alone must be TRUE or FALSE")
    expect_error(inb_ask(here, "visits", COUNT, 0.5, force = "yes"), "force must be TRUE or FALSE")
    expect_error(inb_ask(here, "visits", COUNT, 0.5, weights = c(1, NA)), "weights must be a finite decimal")
    expect_error(inb_epsilon_for(here, "visits", COUNT, "far"), "error must be a finite decimal")
  }, respond(200, answer_text()))
  expect_length(sent, 0)
})
